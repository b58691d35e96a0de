"""FIFOs and devices where git expects files of its own: no snapshot waits for them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import anyio
import pytest

from acp_nvim.snapshots import blocking, work_tree
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.snapshots.users_repository import repository_at
from tests.core.snapshots.test_ignored import files
from tests.core.snapshots.workspaces import git, repository, shadow_of, told, write
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

HARMLESS = (
    ".git/commondir",
    ".git/index",
    ".git/config",
    ".git/info/exclude",
    ".git/packed-refs",
    ".git/objects/info/alternates",
    ".git/objects/pack/pack-1.idx",
    ".git/HEAD",
)
"""git does not read them in the work tree's own repository, or we look at what they are before."""

WAITED_FOR = (".gitignore", "sub/.gitignore", ".gitattributes", "clone/.git/HEAD", "clone/.git/commondir")


def replace_by_fifo(path: Path) -> None:
    """Make it, and what is above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a clone inside."""
    root = repository(tmp_path / "w", file="text", sub__file="text")
    repository(root / "clone", inner="text")
    return root


@pytest.mark.parametrize("name", HARMLESS)
async def test_what_is_not_read_does_not_matter(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "BLOCKED_SECONDS", 60.0)  # a busy machine would look for what git waits for
    replace_by_fifo(root / name)
    async with shadow_of(root) as shadow:
        assert await files(shadow) >= {"file", "sub/file", "clone/inner"}


@pytest.mark.parametrize("name", ["core.excludesFile", "core.attributesFile", "include.path"])
async def test_fifos_that_the_configuration_names(root: Path, name: str) -> None:
    os.mkfifo(root / "fifo")
    git(root, "config", name, str(root / "fifo"))
    async with shadow_of(root) as shadow:
        assert await files(shadow) == {"file", "sub/file", "clone/inner"}


async def test_a_configuration_of_the_user_s_that_includes_a_fifo(root: Path, home: Path) -> None:
    os.mkfifo(home / "fifo")
    (home / ".gitconfig").write_text(f"[include]\npath = {home}/fifo\n")
    async with shadow_of(root) as shadow:
        assert await files(shadow) == {"file", "sub/file", "clone/inner"}


async def test_a_git_file_that_is_a_fifo_or_names_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert repository_at(str(tmp_path)) is None
    (tmp_path / ".git").unlink()
    (tmp_path / ".git").symlink_to("/dev/zero")
    assert repository_at(str(tmp_path)) is None


@pytest.mark.parametrize("name", WAITED_FOR)
async def test_git_is_not_waited_for(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_tree, "FOLD_FILES", 0)  # attributes are read when files go into the index
    replace_by_fifo(root / name)
    write(root / "new", "")  # git may know the other files by their times, and need not read their attributes then
    async with shadow_of(root) as shadow:
        with anyio.fail_after(LIMIT), pytest.raises(SnapshotError, match=name):
            await shadow.take()
        monkeypatch.setattr(blocking, "BLOCKED_SECONDS", 10 * LIMIT)  # there is no time for one that waits
        with anyio.fail_after(LIMIT):
            for _ in range(3):
                with pytest.raises(SnapshotError, match=r"git cannot read .* which is a FIFO or a device: remove it"):
                    await shadow.take()
        (root / name).unlink()
        before = await shadow.take()
        write(root / "file", "other")
        assert told(root, await shadow.changes(before, await shadow.take())) == ["M file"]


async def test_all_that_there_are_are_found_at_once(root: Path) -> None:
    for number in range(5):
        replace_by_fifo(root / f"d{number}" / ".gitignore")
    async with shadow_of(root) as shadow:
        with anyio.fail_after(LIMIT), pytest.raises(SnapshotError):
            await shadow.take()
        assert len(shadow._blocking._found) == 5


async def test_a_file_that_is_made_after_the_first_look_is_found(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "BLOCKED_SECONDS", 0.001)
    watcher, looks = blocking.Blocking(str(root)), 0
    find = watcher._find

    def look(top: str, stop: threading.Event) -> list[str]:
        nonlocal looks
        looks += 1
        if looks == 2:
            os.mkfifo(root / ".gitignore")
        return find(top, stop)

    monkeypatch.setattr(watcher, "_find", look)
    with anyio.fail_after(LIMIT), anyio.CancelScope() as scope:
        await watcher.watch(scope, str(root))
    with pytest.raises(SnapshotError, match="gitignore"):
        watcher.check()


async def test_rules_above_the_workspace(root: Path, tmp_path: Path) -> None:
    os.mkfifo(root / ".gitignore")
    async with shadow_of(root / "sub", tmp_path / "git") as shadow:
        with anyio.fail_after(LIMIT), pytest.raises(SnapshotError, match=r"w/\.gitignore"):
            await shadow.take()
