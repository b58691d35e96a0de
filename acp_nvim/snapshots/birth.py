"""Reads when a file was created: a file that is older than its name has been moved there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

_NO_DIRECTORY: Final = -100
_NO_FOLLOW: Final = 0x100
_BIRTH: Final = 0x800
_BYTES: Final = 256
_MASK: Final = slice(0, 4)
_SECONDS: Final = slice(80, 88)
_NANOSECONDS: Final = slice(88, 92)
"""Fields of the kernel's `struct statx`; Python has no name for the call before 3.15."""

_SECOND: Final = 1_000_000_000


def born(path: bytes) -> int | None:
    """Return when the file at that path was created, not later than that (nanoseconds since 1970), without following
    links.

    None if the file is gone, or its file system does not know. Blocks.
    """
    found = _born_by_statx(path) if sys.platform == "linux" else _born_by_stat(path)
    if found is not None and found % _SECOND == 0:
        return found + _SECOND  # a file system that counts seconds rounds down
    return found


def is_older(path: bytes, than: int) -> bool:
    """Return whether the file is known to have been created before `than` (nanoseconds since 1970). Blocks."""
    found = born(path)
    return found is not None and found < than


def _born_by_stat(path: bytes) -> int | None:
    try:
        seconds = getattr(os.lstat(path), "st_birthtime", None)
    except OSError:
        return None
    return None if seconds is None else int(seconds * _SECOND)


def _born_by_statx(path: bytes) -> int | None:
    call = _statx()
    answer = bytearray(_BYTES)
    if call is None or not call(path, answer):
        return None
    if not int.from_bytes(answer[_MASK], sys.byteorder) & _BIRTH:
        return None
    seconds = int.from_bytes(answer[_SECONDS], sys.byteorder, signed=True)
    return seconds * _SECOND + int.from_bytes(answer[_NANOSECONDS], sys.byteorder)


@cache
def _statx() -> Callable[[bytes, bytearray], bool] | None:
    """Return a function that fills the buffer with the status of a path, and returns whether it could."""
    import ctypes  # here: the host starts without it

    try:
        function = ctypes.CDLL(None).statx
    except (OSError, AttributeError):  # an old C library
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)
    kind = ctypes.c_char * _BYTES

    def call(path: bytes, answer: bytearray) -> bool:
        return bool(function(_NO_DIRECTORY, path, _NO_FOLLOW, _BIRTH, kind.from_buffer(answer)) == 0)

    return call
