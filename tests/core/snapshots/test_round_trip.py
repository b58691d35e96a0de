"""For any two states of a directory, snapshots tell exactly what a plain comparison of its files tells."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.snapshots import work_tree
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob, Changed
from tests.core.snapshots.workspaces import KIND, look, repository, shadow_of
from tests.support.examples import examples

NAMES = ["a", "b", "a b", "-c", "new\nline", "\udcff", "ä", "[x]*", ":(top)", '"']
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
SHORT = st.sampled_from([b"", b"1", b"2", b"one\ntwo\n", b"one\r\ntwo", b"\0\1", b"\xff\xfe\n"])
LONG = st.sampled_from([b"line\n" * 40, b"line\n" * 39 + b"other\n", bytes(range(256)) * 10])
FILES = st.dictionaries(PATHS, st.tuples(st.sampled_from(["file", "executable", "link"]), SHORT | LONG), max_size=8)

Files = dict[str, tuple[str, bytes]]


def put(root: Path, files: Files) -> Files:
    """Bring the directory to these files, leaving alone what is the same; returns what is there then.

    Of a path and one below it only the first can be.
    """
    wanted = {
        path: files[path]
        for path in sorted(files)
        if not any(f"{path}/".startswith(f"{o}/") for o in files if o != path)
    }
    wanted = {path: (kind, data) for path, (kind, data) in wanted.items() if kind != "link" or is_target(data)}
    there = look(root)
    for path in there:
        if there[path] != wanted.get(path) and not path.startswith(".git/"):
            (root / path).unlink()
    for directory, _, _ in os.walk(root, topdown=False):
        if not os.listdir(directory) and directory != str(root) and ".git" not in directory:
            os.rmdir(directory)
    for path, (kind, data) in wanted.items():
        if there.get(path) != (kind, data):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            make(root / path, kind, data)
    return {path: what for path, what in look(root).items() if not path.startswith(".git/")}


def is_target(data: bytes) -> bool:
    return b"\0" not in data and 0 < len(data) < 100


def make(path: Path, kind: str, data: bytes) -> None:
    if kind == "link":
        os.symlink(data, os.fsencode(path))
    else:
        path.write_bytes(data)
        path.chmod(0o755 if kind == "executable" else 0o644)


async def check(shadow: Shadow, before: Files, after: Files, found: list[Changed]) -> None:
    """Each path that differs is told once, with its kind and its bytes; of renames both."""
    start = len(shadow.root) + 1
    blobs: list[tuple[Blob, tuple[str, bytes]]] = []
    told = set()
    for one in found:
        path, old = one.path[start:], (one.old_path or one.path)[start:]
        assert (one.before is None) == (old not in before)
        assert (one.after is None) == (path not in after)
        assert one.old_path is None or (old not in after and path not in before)
        blobs += [(one.before, before[old])] if one.before else []
        blobs += [(one.after, after[path])] if one.after else []
        assert not told & {path, old}
        told |= {path, old}
    assert told == {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert [blob.mode for blob, _ in blobs] == [KIND[kind] for _, (kind, _) in blobs]
    assert await shadow.read([blob.oid for blob, _ in blobs]) == [data for _, (_, data) in blobs]


@pytest.mark.parametrize("fold", [0, 3, 100])
@given(states=st.lists(FILES, min_size=2, max_size=4), is_repository=st.booleans())
@settings(max_examples=examples(12))
def test_snapshots_tell_what_differs(fold: int, states: list[Files], is_repository: bool) -> None:
    async def run(place: Path) -> None:
        root = place / "w"
        root.mkdir()
        if is_repository:
            repository(root)
        async with shadow_of(root) as shadow:
            taken = []
            for state in states:
                taken.append((put(root, state), await shadow.take()))
                assert (await shadow.take()).id == taken[-1][1].id
            for before, old in taken:
                for after, new in taken:
                    await check(shadow, before, after, await shadow.changes(old, new))

    place = Path(tempfile.mkdtemp(prefix="acp-snapshots-")).resolve()
    usual, work_tree.FOLD_FILES = work_tree.FOLD_FILES, fold
    try:
        anyio.run(run, place)
    finally:
        work_tree.FOLD_FILES = usual
        shutil.rmtree(place)
