"""Reads the tree that git has kept in an index when it last wrote one: all directories, without a process."""

from __future__ import annotations

from typing import Final

import msgspec

_SIGNATURE: Final = b"TREE"
_HASH_BYTES: Final = 20
_HEADER_BYTES: Final = 8
"""The name and the size of an extension, of 4 bytes each."""
_REFUSED: Final = frozenset({b"", b".", b"..", b".git"})


class CachedTree(msgspec.Struct, frozen=True):
    """The tree of all files in an index; `directories` are relative to the top, without that itself."""

    oid: str
    directories: list[bytes]


def cached_tree(data: bytes) -> CachedTree | None:
    """Return the tree that an index (its bytes) has kept; None if files were added since, or removed, or changed."""
    end = len(data) - _HASH_BYTES
    start = data.rfind(_SIGNATURE)
    while start >= 0 and not _are_extensions(data, start, end):  # a name, or a part of an id
        start = data.rfind(_SIGNATURE, 0, start)
    if start < 0:
        return None
    size = int.from_bytes(data[start + 4 : start + _HEADER_BYTES], "big")
    try:
        found, count = _parse(data[start + _HEADER_BYTES : start + _HEADER_BYTES + size])
    except ValueError:
        return None
    return found if count == int.from_bytes(data[8:12], "big") else None


def _are_extensions(data: bytes, at: int, end: int) -> bool:
    """Return whether there is nothing but extensions that may be ignored, up to the hash of the index."""
    while at + _HEADER_BYTES <= end:
        if not data[at : at + 1].isupper():
            return False
        at += _HEADER_BYTES + int.from_bytes(data[at + 4 : at + _HEADER_BYTES], "big")
    return at == end


def _parse(data: bytes) -> tuple[CachedTree, int]:
    """Return the tree and its number of files: for each directory its name, two numbers and an id, then those in it.

    Raises `ValueError`, also if one is not valid any more.
    """
    oid, total, at = "", 0, 0
    names: list[bytes] = []
    above: list[tuple[bytes, int]] = []  # directories with the number of those in them that are still to come
    while not oid or above:
        name_end = data.index(b"\0", at)
        line_end = data.index(b"\n", name_end)
        count, inner = map(int, data[name_end + 1 : line_end].split(b" "))
        if count < 0 or inner < 0:
            raise ValueError("a directory that has changed")
        name, below = data[at:name_end], b""
        at = line_end + 1 + _HASH_BYTES
        if not oid:
            oid, total = data[line_end + 1 : at].hex(), count
        else:
            place, left = above.pop()
            if name in _REFUSED or b"/" in name:
                raise ValueError("a name that git refuses")
            if left > 1:
                above.append((place, left - 1))
            names.append(place + name)
            below = names[-1] + b"/"
        if inner:
            above.append((below, inner))
    if at != len(data):
        raise ValueError("more than a tree")
    return CachedTree(oid, names), total
