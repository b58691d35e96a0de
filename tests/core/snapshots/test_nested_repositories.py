"""Repositories inside of a workspace, and workspaces inside of repositories: all their files are in a snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_nvim.snapshots import work_tree
from tests.core.snapshots.workspaces import git, repository, shadow_of, told, write

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[0, 100], autouse=True)
def fold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use both ways in which a changed file is kept."""
    monkeypatch.setattr(work_tree, "FOLD_FILES", request.param)


async def test_submodules_clones_and_work_trees(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", file="text", deep__file="text 2")
    root = repository(tmp_path / "w", file="text 3", **{".gitignore": "ignored/\n"})
    git(root, "submodule", "add", "-q", str(other), "parts/sub module")
    git(root, "commit", "-q", "-m", "a submodule")
    git(root, "clone", "-q", str(other), "clone")
    git(root, "clone", "-q", str(other), "ignored/clone")
    git(other, "worktree", "add", "-q", str(root / "linked"))
    write(root / "clone" / ".gitignore", "local\n")
    repository(root / "clone" / "inside", file="text 4")
    git(root, "init", "-q", "empty")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        for name in ("parts/sub module", "clone", "clone/inside", "ignored/clone", "linked", "empty"):
            write(root / name / "file", f"changed in {name}")
        write(root / "parts/sub module/new", "something new")
        write(root / "clone" / "local", "ignored")
        (root / "linked" / "deep" / "file").unlink()
        second = await shadow.take()
        assert told(root, await shadow.changes(first, second)) == [
            "M clone/file",
            "M clone/inside/file",
            "A empty/file",
            "D linked/deep/file",
            "M linked/file",
            "M parts/sub module/file",
            "A parts/sub module/new",
        ]
        git(root / "parts" / "sub module", "checkout", "-q", "--", "file")
        assert "M parts/sub module/file" in told(root, await shadow.changes(second, await shadow.take()))


async def test_rules_of_submodules(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", file="text")
    root = repository(tmp_path / "w", **{".gitignore": "*.o\n"})
    git(root, "submodule", "add", "-q", str(other), "sub")
    write(root / ".git" / "modules" / "sub" / "info" / "exclude", "secret\n")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "sub" / "secret", "1")
        write(root / "sub" / "a.o", "2")
        write(root / "a.o", "3")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["A sub/a.o"]


async def test_a_submodule_in_an_ignored_directory(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", file="text")
    root = repository(tmp_path / "w")
    git(root, "submodule", "add", "-q", str(other), "deps/sub")
    git(root, "submodule", "add", "-q", str(other), "deps/not there")
    git(root, "submodule", "deinit", "-q", "-f", "deps/not there")
    write(root / ".gitignore", "deps/\n")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "deps" / "sub" / "file", "other")
        write(root / "deps" / "more", "x")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M deps/sub/file"]


async def test_a_directory_of_a_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "w", outside="x", **{":!some [dir]__file": "text", "some d__file": "text"})
    root = top / ":!some [dir]"
    repository(root / "inner", file="text")
    async with shadow_of(root, tmp_path / "git") as shadow:
        first = await shadow.take()
        write(top / "outside", "other")
        write(top / "some d" / "file", "other")
        write(root / "file", "other")
        write(root / "inner" / "file", "others")
        second = await shadow.take()
        found = await shadow.changes(first, second)
        assert [one.path for one in found] == [str(root / "file"), str(root / "inner" / "file")]


async def test_a_directory_that_becomes_a_repository_is_the_same(tmp_path: Path) -> None:
    root = tmp_path / "above" / "w"
    write(root / "file", "text")
    write(root / "sub" / "file", "text 2")
    async with shadow_of(root, tmp_path / "git") as shadow:
        first = await shadow.take()
        git(root / "sub", "init", "-q")
        assert (await shadow.take()).id == first.id
        git(root, "init", "-q")
        assert (await shadow.take()).id == first.id
        (root / ".git").rename(root / "not git")
        git(tmp_path / "above", "init", "-q")
        write(tmp_path / "above" / ".gitignore", "not git\n")
        assert (await shadow.take()).id == first.id
        repository(root / "sub2", file="text 3")
        second = await shadow.take()
        assert told(root, await shadow.changes(first, second)) == ["A sub2/file"]
        (root / "sub2" / ".git").rename(tmp_path / "gone")
        assert (await shadow.take()).id == second.id


async def test_what_only_looks_like_a_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "w")
    write(root / "sub" / ".git", "gitdir: ../nowhere\n")
    write(root / "sub" / "file", "text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        write(root / "sub" / "file", "other")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M sub/file"]
    async with shadow_of(root / "sub", tmp_path / "git") as shadow:
        first = await shadow.take()
        write(root / "sub" / "file", "third")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M sub/file"]
