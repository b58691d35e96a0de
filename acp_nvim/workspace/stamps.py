"""Stamps of files: two that are equal say that nobody wrote the file in between."""

from __future__ import annotations

import os

_NANOSECONDS = 10**9


def stamp_of(status: os.stat_result) -> str:
    """`device:inode:size:seconds.nanoseconds` of the last change; Lua makes the same string of `vim.uv.fs_stat`.

    The numbers are decimal, without padding; device and inode as `("%d"):format(...)` gives them in Lua.
    """
    seconds, nanoseconds = divmod(status.st_mtime_ns, _NANOSECONDS)
    return f"{_in_lua(status.st_dev)}:{_in_lua(status.st_ino)}:{status.st_size}:{seconds}.{nanoseconds}"


def _in_lua(number: int) -> int:
    """A 64-bit number as Lua knows it: signed, and with the 53 bits of a double; some file systems use all 64."""
    return int(float(number - (1 << 64) if number >= 1 << 63 else number))
