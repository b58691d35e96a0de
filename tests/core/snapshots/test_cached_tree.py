"""The tree that an index has kept is the one that git would write, or it is not used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.process import git as git_process
from acp_nvim.snapshots.cached_tree import CachedTree, cached_tree
from acp_nvim.snapshots.shadow import Shadow
from tests.core.snapshots.workspaces import git, repository, write

FILES = ("file", "a/file", "a/b/c/file", "a/b.d/file", "a/TREE/file", "zz/y/TREE")


def said(root: Path, *words: str) -> str:
    return git(root, *words).strip()


def kept(root: Path) -> CachedTree | None:
    return cached_tree((root / ".git" / "index").read_bytes())


def written(root: Path) -> tuple[str, set[str]]:
    """What git says of the same."""
    return said(root, "write-tree"), {*said(root, "ls-tree", "-r", "-d", "--name-only", "HEAD").splitlines()}


def commit(root: Path, *names: str) -> None:
    for name in names:
        write(root / name, name.encode())
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")


def test_it_is_the_tree_of_all_files(tmp_path: Path) -> None:
    root = repository(tmp_path / "work")
    commit(root, *FILES)
    found = kept(root)
    assert found is not None
    assert (found.oid, {name.decode() for name in found.directories}) == written(root)
    assert len(found.directories) == len(set(found.directories))


CHANGES: dict[str, Callable[[Path], object]] = {
    "staged": lambda root: git(root, "add", "a/b/c/file"),
    "removed": lambda root: git(root, "rm", "-q", "-f", "--cached", "a/b/c/file"),
    "to be added": lambda root: git(root, "add", "-N", "new/file"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_tree_that_has_changed_is_not_used(tmp_path: Path, change: Callable[[Path], object]) -> None:
    root = repository(tmp_path / "work")
    commit(root, *FILES)
    write(root / "a/b/c/file", b"other")
    write(root / "new/file", b"new")
    assert kept(root) is not None
    change(root)
    assert kept(root) is None


def test_bytes_that_git_would_not_write_are_not_used(tmp_path: Path) -> None:
    root = repository(tmp_path / "work")
    commit(root, *FILES)
    data = (root / ".git" / "index").read_bytes()
    assert cached_tree(data) is not None
    at = data.rfind(b"TREE\0\0")
    for other in (
        data[:-20],
        data[:-1],
        data[:at] + data[-20:],
        data[:at] + b"tree" + data[at + 4 :],
        data[:-20] + b"link\0\0\0\0" + data[-20:],
        data[:at] + data[at:].replace(b"b.d\0", b"b/d\0"),
        data[:at] + data[at:].replace(b"zz\0", b"..\0"),
        data[:8] + (len(FILES) - 1).to_bytes(4, "big") + data[12:],
    ):
        assert other != data
        assert cached_tree(other) is None


@pytest.mark.anyio
async def test_a_first_snapshot_asks_git_for_nothing_that_the_index_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path / "work")
    commit(root, *FILES)
    asked: list[str] = []
    run = git_process.run

    async def noted(arguments: list[str], *others: object, **options: object) -> object:
        asked.extend(arguments)
        return await run(arguments, *others, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(git_process, "run", noted)
    shadow = Shadow(tmp_path / "state" / "git", str(root))
    try:
        snapshot = await shadow.take()
        known = shadow.directories(snapshot)
    finally:
        shadow.close()
    assert snapshot.id == said(root, "write-tree")
    assert known is not None
    assert {name.decode() for name in known.inodes} == {"", *written(root)[1]}
    assert "diff-files" in asked
    assert {"diff-index", "ls-tree", "diff-tree"}.isdisjoint(asked)
