"""Looks whether an index is plain by its bytes: to have git list 100,000 entries takes three times as long.

The format: https://git-scm.com/docs/index-format. Of version 4, whose names are shortened, nothing is said.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from acp_nvim.snapshots.found_files import is_too_large
from acp_nvim.snapshots.secret_files import may_name_secrets
from acp_nvim.snapshots.trees import EXECUTABLE, FILE, SYMLINK

_ENTRY: Final = struct.Struct(">24xI8xI20xH")
"""Mode, size and flags of an entry, between times and the name."""

_OID: Final = 40
_HEADER_BYTES: Final = 12
_FIXED_BYTES: Final = 62
_LONG_NAME: Final = 0xFFF
_MARKED: Final = 0xF000
"""The flags for `assume-unchanged`, for conflicts, and that there are more flags (`skip-worktree`)."""

_MODES: Final = frozenset({FILE, EXECUTABLE, SYMLINK})
_REFUSED: Final = (b".git/", b"/.git\0", b"../", b"/./", b"/..\0", b".acp_nvim-", b"\0/")


class Files(NamedTuple):
    """Those in an index."""

    names: list[bytes]
    oids: list[bytes]
    """What they are stored as; 20 bytes each."""
    sizes: list[int]
    """Those that they have on the disk; modulo 2 ** 32."""


def plain_files(data: bytes, private: Sequence[bytes]) -> Files | None:
    """The entries when each of them is a file that git checks, not large, without secrets, outside of `private`.

    None says nothing: then git must be asked. Blocks.
    """
    files = _files(data) if int.from_bytes(data[4:8], "big") in (2, 3) else None
    if files is None:
        return None
    names = b"\0%s\0" % b"\0".join(files.names).lower()
    odd = (*_REFUSED, *(b"\0%s/" % path.lower() for path in private))
    return None if any(name in names for name in odd) or may_name_secrets(names) else files


def has_attributes(data: bytes) -> bool:
    """Whether a `.gitattributes` file is in the index. It may say so wrongly."""
    return re.search(rb"\.gitattributes\0", data) is not None


def _files(data: bytes) -> Files | None:
    at = _HEADER_BYTES
    found = Files([], [], [])
    unpack = _ENTRY.unpack_from
    try:
        for _ in range(int.from_bytes(data[8:12], "big")):
            mode, size, flags = unpack(data, at)
            if flags & _MARKED or mode not in _MODES or is_too_large(size):
                return None
            found.oids.append(data[at + _OID : at + _OID + 20])
            found.sizes.append(size)
            length = flags & _LONG_NAME
            if length == _LONG_NAME:
                length = data.index(b"\0", at + _FIXED_BYTES) - at - _FIXED_BYTES
            found.names.append(data[at + _FIXED_BYTES : at + _FIXED_BYTES + length])
            at += (_FIXED_BYTES + length + 8) & ~7
    except (struct.error, ValueError):
        return None  # cut off: git will say so
    return found
