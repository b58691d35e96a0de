"""Reads and writes git's loose objects and trees without a git process."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

ObjectType = bytes
BLOB: Final = b"blob"
TREE: Final = b"tree"


def object_id(kind: ObjectType, data: bytes) -> str:
    """Return the id that git gives to an object, in hexadecimal."""
    digest = hashlib.sha1(b"%s %d\0" % (kind, len(data)), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


class LooseObjects:
    """The loose objects below git's `objects` directory. All methods block: call them in a thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = str(directory)

    def has(self, oid: str) -> bool:
        """Whether the object exists and is not an empty file that a crash left."""
        try:
            return os.stat(self._path(oid)).st_size > 0
        except OSError:
            return False

    def write(self, kind: ObjectType, data: bytes) -> str:
        """Store an object unless it exists; return its id. Raises `OSError`."""
        oid = object_id(kind, data)
        if not self.has(oid):
            self._replace(self._path(oid), zlib.compress(b"%s %d\0" % (kind, len(data)) + data, 1))
        return oid

    def read(self, oid: str) -> bytes | None:
        """Return an object's data; None when it is missing. Removes a damaged one, which can be stored again then."""
        path = self._path(oid)
        try:
            with open(path, "rb") as file:
                raw = zlib.decompress(file.read())
        except FileNotFoundError:
            return None
        except (OSError, zlib.error):
            raw = b""
        if hashlib.sha1(raw, usedforsecurity=False).hexdigest() != oid:
            with suppress(OSError):
                os.unlink(path)
            return None
        return raw.partition(b"\0")[2]

    def _path(self, oid: str) -> str:
        return f"{self._directory}/{oid[:2]}/{oid[2:]}"

    def _replace(self, path: str, data: bytes) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{os.path.dirname(path)}/tmp_obj_{os.urandom(6).hex()}"  # `git prune` knows that name
        try:
            with open(temporary, "xb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


DIRECTORY: Final = 0o040000
FILE: Final = 0o100644
EXECUTABLE: Final = 0o100755
SYMLINK: Final = 0o120000
LEFT_OUT: Final = 0o160000
"""git's mode of a submodule commit, which need not exist. Ours: a file whose content is not kept; its id is a hash of
the file's status."""


class TreeEntry(msgspec.Struct, frozen=True):
    """An entry of a tree object: a git mode (`0o100644`), and the id of the object in hexadecimal."""

    mode: int
    oid: str


Tree = dict[bytes, TreeEntry]

EMPTY: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The empty tree, which git knows without storing it."""


def parse_tree(data: bytes) -> Tree:
    """Return the entries of a tree object by name. Raises `ValueError`."""
    tree: Tree = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        tree[name] = TreeEntry(int(mode, 8), data[end + 1 : end + 21].hex())
        at = end + 21
    return tree


def format_tree(tree: Mapping[bytes, TreeEntry]) -> bytes:
    """Return the content of a tree object with these names, in git's order."""

    def place(item: tuple[bytes, TreeEntry]) -> bytes:
        return item[0] + b"/" if item[1].mode == DIRECTORY else item[0]

    lines = sorted(tree.items(), key=place)
    return b"".join(b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.oid)) for name, entry in lines)


class TreeEditor:
    """Derives new trees from old ones; `read` returns a tree object or raises `LookupError`, `write` stores one."""

    def __init__(self, read: Callable[[str], bytes], write: Callable[[bytes], str]) -> None:
        self._read = read
        self._write = write

    def write(self, tree: Mapping[bytes, TreeEntry]) -> str:
        """Store a tree with these entries; return its id."""
        return self._write(format_tree(tree))

    def find(self, base: str, path: bytes) -> TreeEntry | None:
        """Return the entry of `path` in a tree; b"" is the tree itself."""
        entry: TreeEntry | None = TreeEntry(DIRECTORY, base)
        for name in path.split(b"/") if path else []:
            if entry is None or entry.mode != DIRECTORY:
                return None
            entry = parse_tree(self._read(entry.oid)).get(name)
        return entry

    def change(self, base: str | None, changes: Mapping[bytes, TreeEntry | None]) -> str | None:
        """Return the id of `base` with these paths changed; None removes a file. A tree without files is None."""
        tree = parse_tree(self._read(base)) if base else {}
        own, below = _by_name(changes)
        for name, entry in own.items():
            if entry is not None:
                tree[name] = entry
            elif name in tree and tree[name].mode != DIRECTORY:  # else the file that was there has become one
                del tree[name]
        for name, deeper in below.items():
            if own.get(name) is None:  # a file has nothing below it
                self._edit_below(tree, name, deeper)
        return self.write(tree) if tree else None

    def _edit_below(self, tree: Tree, name: bytes, changes: Mapping[bytes, TreeEntry | None]) -> None:
        old = tree.get(name)
        was_directory = old is not None and old.mode == DIRECTORY
        child = self.change(old.oid if old is not None and was_directory else None, changes)
        if child is not None:
            tree[name] = TreeEntry(DIRECTORY, child)
        elif was_directory:
            del tree[name]


Pair = tuple[TreeEntry | None, TreeEntry | None]


def differing(read: Callable[[str], bytes], old: str, new: str, above: bytes = b"") -> Iterator[tuple[bytes, Pair]]:
    """Yield the path of each file that differs between two trees, and its entries in them; renames are two files.

    `read` returns a tree object; what it raises is raised.
    """
    before, after = parse_tree(read(old)), parse_tree(read(new))
    for name in before.keys() | after.keys():
        entries = before.get(name), after.get(name)
        if entries[0] == entries[1]:
            continue
        inner = [one.oid if one is not None and one.mode == DIRECTORY else EMPTY for one in entries]
        if inner[0] != inner[1]:
            yield from differing(read, inner[0], inner[1], above + name + b"/")
        was, now = (None if one is None or one.mode == DIRECTORY else one for one in entries)
        if was is not None or now is not None:
            yield above + name, (was, now)


def _by_name(
    changes: Mapping[bytes, TreeEntry | None],
) -> tuple[dict[bytes, TreeEntry | None], dict[bytes, dict[bytes, TreeEntry | None]]]:
    """Group the changes by the name in this directory: its own entries, and those in its directories."""
    own: dict[bytes, TreeEntry | None] = {}
    below: dict[bytes, dict[bytes, TreeEntry | None]] = {}
    for path, entry in changes.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = entry
        else:
            own[name] = entry
    return own, below
