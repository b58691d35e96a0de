"""The directories of a first snapshot are known, whether or not the last commit has them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from acp_nvim.file_time import now
from acp_nvim.snapshots.directories import CLOCK_NS, Directories, FirstDirectories
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.store import Store
from tests.support.waiting import wait_until


def _git(top: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *words], cwd=top, check=True, stdout=subprocess.DEVNULL)


def _write(top: Path, *names: str) -> None:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)


@pytest.mark.anyio
@pytest.mark.parametrize("inside", ["", "part"])
@pytest.mark.parametrize("has_commit", [True, False])
async def test_all_directories_are_known(tmp_path: Path, inside: str, has_commit: bool) -> None:
    """Committed, staged, new, and without those whose files are gone."""
    top = tmp_path / "work"
    root = top / inside
    _write(root, "committed/deep/file", "removed/file")
    _git(top, "init", "-q")
    if has_commit:
        _git(top, "add", "-A")
        _git(top, "commit", "-q", "-m", "all")
    _write(root, "staged/deep/file")
    _git(top, "add", "-A")
    _write(root, "new/deep/file")
    (root / "removed" / "file").unlink()
    (root / "removed").rmdir()
    shadow = Shadow(tmp_path / "state" / "git", str(root))
    try:
        known = shadow.directories(await shadow.take())
        assert known is not None
        names = {b"", *(os.fsencode(one.relative_to(root)) for one in root.rglob("*") if one.is_dir())}
        assert {name for name in known.inodes} == {name for name in names if not name.startswith(b".git")}
    finally:
        shadow.close()


@pytest.mark.anyio
async def test_a_directory_that_was_away_for_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were not touched are listed when it is exchanged for another."""
    root = tmp_path / "work"
    _write(root, "one/in/file", "other/file")
    shadow = Shadow(tmp_path / "state" / "git", str(root))
    complete = FirstDirectories.complete

    async def late(first: FirstDirectories, store: Store, tree: str) -> Directories:
        (root / "one").rename(root / "away")
        try:
            return await complete(first, store, tree)
        finally:
            (root / "away").rename(root / "one")

    monkeypatch.setattr(FirstDirectories, "complete", late)
    later = now() + CLOCK_NS
    wait_until(lambda: now() > later)
    try:
        first = await shadow.take()
        (root / "one").rename(root / "away")
        (root / "other").rename(root / "one")
        (root / "away").rename(root / "other")
        found = await shadow.changes(first, await shadow.take())
    finally:
        shadow.close()
    assert {one.path.removeprefix(f"{root}/") for one in found} >= {"one/file", "other/in/file"}
