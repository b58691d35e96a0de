"""Beyond a limit there is no snapshot, and it says why; files that are too large are left out."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import anyio
import pytest

from acp_nvim.snapshots import found_files, shadow, work_tree, workspace_scanner
from acp_nvim.snapshots.snapshot import Blob, GoneError, LimitError, SnapshotError
from tests.core.snapshots.workspaces import repository, shadow_of, told, write
from tests.core.workspace.as_nobody import give, nobodys_directory

pytestmark = pytest.mark.anyio

LEFT_OUT = Blob("", 0o160000)


@pytest.mark.parametrize("names", [["1", "2", "3", "4"], ["1", "2", "inner/3", "inner/4"], ["1", "2", "3", "inner/4"]])
async def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]) -> None:
    monkeypatch.setattr(workspace_scanner, "SNAPSHOT_FILES", 3)
    root = tmp_path / "w"
    for name in names:
        write(root / name, name)
    if (root / "inner").exists():
        repository(root / "inner")
    async with shadow_of(root) as taking:
        with pytest.raises(LimitError, match="more than 300000 files"):
            await taking.take()
    for name in names[-2:]:
        (root / name).unlink()
    async with shadow_of(root) as taking:
        await taking.take()


async def test_too_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_tree, "SNAPSHOT_BYTES", 3 << 20)
    root = repository(tmp_path / "w")
    write(root / "large", b"x" * (2 << 20))
    async with shadow_of(root) as taking:
        await taking.take()
        write(root / "larger", b"x" * (4 << 20))
        with pytest.raises(LimitError, match="more than 3 MB"):
            await taking.take()


async def test_too_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "w", file="text")
    async with shadow_of(root) as taking:
        with monkeypatch.context() as context:
            context.setattr(shadow, "SNAPSHOT_SECONDS", 0.0)
            with pytest.raises(LimitError, match="longer than 0 s"):
                await taking.take()


async def test_who_is_beyond_a_limit_is_not_tried_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow, "SNAPSHOT_RETRY_SECONDS", 100.0)
    now = anyio.current_time()
    monkeypatch.setattr(shadow.anyio, "current_time", lambda: now)
    root = repository(tmp_path / "w", file="text")
    async with shadow_of(root) as taking:
        with monkeypatch.context() as context:
            context.setattr(workspace_scanner, "SNAPSHOT_FILES", 0)
            with pytest.raises(LimitError):
                await taking.take()
        now += 99.0
        with pytest.raises(LimitError, match="more than"):
            await taking.take()
        now += 2.0
        await taking.take()


@pytest.mark.parametrize("fold", [0, 100])
async def test_large_files_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fold: int) -> None:
    monkeypatch.setattr(work_tree, "FOLD_FILES", fold)
    monkeypatch.setattr(found_files, "SNAPSHOT_FILE_BYTES", 10)
    root = repository(tmp_path / "w", **{"large": "x" * 11, "grows": "x", "shrinks": "x" * 12, "same": "x" * 13})
    async with shadow_of(root) as taking:
        first = await taking.take()
        left_out = [name for name in os.listdir(root) if await taking.find(first, str(root / name)) == LEFT_OUT]
        assert sorted(left_out) == ["large", "same", "shrinks"]
        write(root / "large", "y" * 11)
        write(root / "grows", "x" * 14)
        write(root / "shrinks", "x")
        write(root / "new", "x" * 15)
        second = await taking.take()
        found = await taking.changes(first, second)
        assert told(root, found) == ["M grows", "M large", "A new", "M shrinks"]
        grows, large, new, shrinks = found
        assert grows.before is not None
        assert (grows.before.mode, grows.after) == (0o100644, LEFT_OUT)
        assert (large.before, large.after) == (LEFT_OUT, LEFT_OUT)
        assert new.after == shrinks.before == LEFT_OUT
        assert await taking.counts([(one.before, one.after) for one in found]) == [None] * 4
        with pytest.raises(GoneError, match="without an id"):
            await taking.read([new.after.oid])
        (root / "large").unlink()
        assert told(root, await taking.changes(second, await taking.take())) == ["D large"]
        await taking.hold("all", [one.after.oid for one in found if one.after is not None], [first, second])


async def test_files_that_cannot_be_read_are_left_out() -> None:
    with nobodys_directory() as place:
        root = place / "w"
        for name in ("readable", "secret", "closed/file"):
            write(root / name, name)
        (root / "secret").chmod(0)
        for path in [root, *root.rglob("*")]:
            give(path)
        (root / "closed").chmod(0)
        try:
            command = [sys.executable, "-m", "tests.core.snapshots.take", str(place / "git"), str(root), "as-nobody"]
            done = await anyio.run_process(command, check=False)
        finally:
            (root / "closed").chmod(stat.S_IRWXU)
        assert done.returncode == 0, done.stderr.decode()
        assert json.loads(done.stdout) == {"files": ["readable", "secret"], "left_out": ["secret"]}


async def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "w", file="text")
    monkeypatch.setenv("PATH", str(tmp_path))
    async with shadow_of(root) as taking:
        with pytest.raises(SnapshotError, match="git is not installed or not in PATH"):
            await taking.take()
        [oid] = await taking.store([b"bytes"])
        assert await taking.read([oid]) == [b"bytes"]


async def test_a_workspace_that_is_gone(tmp_path: Path) -> None:
    async with shadow_of(Path("/nowhere"), tmp_path / "git") as taking:  # not below the repository of somebody
        with pytest.raises(SnapshotError, match="nowhere is not there"):
            await taking.take()


async def test_a_place_that_cannot_be_made(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text")
    write(tmp_path / "file", "x")
    async with shadow_of(root, tmp_path / "file" / "git") as taking:
        with pytest.raises(SnapshotError, match="file/git: Not a directory"):
            await taking.take()


async def test_no_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git reports a full disk."""
    root = repository(tmp_path / "w", file="text")
    words = "error: file write error: No space left on device"
    write(tmp_path / "bin" / "git", f"#!{sys.executable}\nimport sys\nsys.exit('{words}')\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    async with shadow_of(root) as taking:
        with pytest.raises(SnapshotError, match="no space is left"):
            await taking.take()
