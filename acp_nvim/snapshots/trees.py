"""git's tree objects: what a directory holds, and how one tree becomes another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

DIRECTORY: Final = 0o040000
FILE: Final = 0o100644
EXECUTABLE: Final = 0o100755
SYMLINK: Final = 0o120000
LEFT_OUT: Final = 0o160000
"""git's mode for a commit of another repository, which need not be there. Ours: a file whose content is not kept; its
id is made of what the system says about the file."""


class Entry(NamedTuple):
    """What a name stands for."""

    mode: int
    oid: str


Tree = dict[bytes, Entry]

EMPTY: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree without files: git knows it without having it."""


def parse_tree(data: bytes) -> Tree:
    """The names in a tree object. Raises `ValueError`."""
    tree: Tree = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        tree[name] = Entry(int(mode, 8), data[end + 1 : end + 21].hex())
        at = end + 21
    return tree


def format_tree(tree: Mapping[bytes, Entry]) -> bytes:
    """The tree object with these names."""

    def place(item: tuple[bytes, Entry]) -> bytes:
        return item[0] + b"/" if item[1].mode == DIRECTORY else item[0]

    lines = sorted(tree.items(), key=place)
    return b"".join(b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.oid)) for name, entry in lines)


class TreeEditor:
    """Makes new trees of old ones. `read` gives a tree object and raises `LookupError`; `write` stores one."""

    def __init__(self, read: Callable[[str], bytes], write: Callable[[bytes], str]) -> None:
        self._read = read
        self._write = write

    def write(self, tree: Mapping[bytes, Entry]) -> str:
        """Store it as it is; returns its id."""
        return self._write(format_tree(tree))

    def find(self, base: str, path: bytes) -> Entry | None:
        """What `path` is in that tree; b"" is the tree itself."""
        entry: Entry | None = Entry(DIRECTORY, base)
        for name in path.split(b"/") if path else []:
            if entry is None or entry.mode != DIRECTORY:
                return None
            entry = parse_tree(self._read(entry.oid)).get(name)
        return entry

    def change(self, base: str | None, changes: Mapping[bytes, Entry | None]) -> str | None:
        """The id of `base` with these paths changed: None removes. A tree without files is None, also as `base`."""
        tree = parse_tree(self._read(base)) if base else {}
        own, below = _by_name(changes)
        for name, entry in own.items():
            if entry is None:
                tree.pop(name, None)
            else:
                tree[name] = entry
        for name, deeper in below.items():
            if own.get(name) is None:  # what is a file has nothing below it
                self._edit_below(tree, name, deeper)
        return self.write(tree) if tree else None

    def _edit_below(self, tree: Tree, name: bytes, changes: Mapping[bytes, Entry | None]) -> None:
        old = tree.get(name)
        was_directory = old is not None and old.mode == DIRECTORY
        child = self.change(old.oid if old is not None and was_directory else None, changes)
        if child is not None:
            tree[name] = Entry(DIRECTORY, child)
        elif was_directory:
            del tree[name]


def _by_name(
    changes: Mapping[bytes, Entry | None],
) -> tuple[dict[bytes, Entry | None], dict[bytes, dict[bytes, Entry | None]]]:
    """The changes of names in this directory, and those below each of its directories."""
    own: dict[bytes, Entry | None] = {}
    below: dict[bytes, dict[bytes, Entry | None]] = {}
    for path, entry in changes.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = entry
        else:
            own[name] = entry
    return own, below
