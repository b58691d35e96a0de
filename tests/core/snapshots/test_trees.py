"""Trees are git's own, and a change of one is what a plain dictionary of paths says."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.snapshots.objects import (
    BLOB,
    DIRECTORY,
    EMPTY,
    FILE,
    TREE,
    LooseObjects,
    TreeEditor,
    TreeEntry,
    differing,
    format_tree,
    object_id,
    parse_tree,
)
from acp_nvim.snapshots.store import COMPARED_BYTES, Store
from tests.core.snapshots.workspaces import git, repository

NAMES = [b"a", b"a.b", b"a-", b"a0", b"b", b"\xff\n", b"a b"]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(b"/".join)
ENTRIES = st.integers(1, 3).map(lambda number: TreeEntry(FILE, f"{number:040x}"))
CHANGES = st.dictionaries(PATHS, st.none() | ENTRIES, max_size=8)


class Memory:
    """An object store in memory."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.editor = TreeEditor(self.objects.__getitem__, self._write)

    def _write(self, data: bytes) -> str:
        oid = object_id(TREE, data)
        self.objects[oid] = data
        return oid

    def files(self, tree: str | None) -> dict[bytes, TreeEntry]:
        """Return all files of a tree, by path."""
        found: dict[bytes, TreeEntry] = {}
        for name, entry in parse_tree(self.objects[tree]).items() if tree else ():
            if entry.mode == DIRECTORY:
                below = self.files(entry.oid)
                assert below, "an empty directory"
                found |= {name + b"/" + path: one for path, one in below.items()}
            else:
                found[name] = entry
        return found


def changed(files: dict[bytes, TreeEntry], changes: dict[bytes, TreeEntry | None]) -> dict[bytes, TreeEntry]:
    """What is a file has nothing below it: what is one now had everything below it removed."""
    files = dict(files)
    for path in sorted(changes, key=lambda path: path.count(b"/")):
        if any(changes.get(above) for above in parents(path)):
            continue
        entry = changes[path]
        for old in [old for old in files if old == path or (entry is not None and old.startswith(path + b"/"))]:
            del files[old]
        if entry is not None:
            for above in parents(path):
                files.pop(above, None)
            files[path] = entry
    return files


def parents(path: bytes) -> list[bytes]:
    names = path.split(b"/")
    return [b"/".join(names[:number]) for number in range(1, len(names))]


@given(CHANGES, CHANGES)
def test_a_change_is_that_of_a_dictionary(
    base: dict[bytes, TreeEntry | None], changes: dict[bytes, TreeEntry | None]
) -> None:
    memory = Memory()
    first = memory.editor.change(None, base)
    assert memory.files(first) == changed({}, base)
    second = memory.editor.change(first, changes)
    expected = changed(changed({}, base), changes)
    assert memory.files(second) == expected
    assert memory.editor.change(None, expected) == second  # one way to write a tree
    for path in {*base, *changes} if second is not None else ():
        found = memory.editor.find(second, path)
        assert (found if found is None or found.mode != DIRECTORY else None) == expected.get(path)


@given(CHANGES, CHANGES)
def test_the_files_that_differ_are_those_of_two_dictionaries(
    base: dict[bytes, TreeEntry | None], changes: dict[bytes, TreeEntry | None]
) -> None:
    memory = Memory()
    memory.objects[EMPTY] = b""
    first = memory.editor.change(None, base)
    second = memory.editor.change(first, changes)
    found = list(differing(memory.objects.__getitem__, first or EMPTY, second or EMPTY))
    old, new = memory.files(first), memory.files(second)
    expected = {path: (old.get(path), new.get(path)) for path in old.keys() | new.keys()}
    assert dict(found) == {path: pair for path, pair in expected.items() if pair[0] != pair[1]}
    assert len(dict(found)) == len(found)


def test_small_trees_are_compared_without_git_and_large_ones_are_not(tmp_path: Path) -> None:
    store = Store(tmp_path / "shadow")
    entry = TreeEntry(FILE, store.loose.write(BLOB, b"text"))
    few = {b"d%d/f" % number: entry for number in range(1000)}
    small = store.trees.change(None, few)
    large = store.trees.change(None, {b"d/%040d" % number: entry for number in range(COMPARED_BYTES // 60)})
    assert small is not None
    assert large is not None
    assert sorted(store.differing(EMPTY, small) or ()) == sorted((path, (None, entry)) for path in few)
    assert store.differing(small, large) is None
    assert store.differing(EMPTY, "0" * 39 + "1") is None  # the store does not have it


def test_git_reads_what_we_write(tmp_path: Path) -> None:
    root = repository(tmp_path / "w")
    loose = LooseObjects(root / ".git" / "objects")
    blob = loose.write(BLOB, b"text")
    deep = loose.write(TREE, format_tree({b"z": TreeEntry(FILE, blob)}))
    tree = loose.write(
        TREE,
        format_tree({b"a": TreeEntry(DIRECTORY, deep), b"a.b": TreeEntry(FILE, blob), b"a0": TreeEntry(FILE, blob)}),
    )
    git(root, "fsck", "--strict", tree)
    assert git(root, "ls-tree", "-r", "--name-only", tree).split() == ["a.b", "a/z", "a0"]
    assert git(root, "write-tree").strip() == object_id(TREE, b"") == EMPTY
    read = loose.read(tree)
    assert read is not None
    assert list(parse_tree(read)) == [b"a.b", b"a", b"a0"]
