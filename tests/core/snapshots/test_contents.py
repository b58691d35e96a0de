"""Contents are kept and given back, wherever they are; damage is noticed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_nvim.snapshots.objects import LooseObjects
from acp_nvim.snapshots.snapshot import GoneError, SnapshotError
from tests.core.snapshots.workspaces import git, repository, shadow_of

pytestmark = pytest.mark.anyio

DATA = [b"", b"text\n", bytes(range(256)) * 1000, b"\xff\0", b"text\n"]


async def test_contents_come_back(tmp_path: Path) -> None:
    root = repository(tmp_path / "w")
    async with shadow_of(root) as shadow:
        oids = await shadow.store(DATA)
        assert await shadow.read(oids) == DATA
        assert oids[1] == oids[4]
        place = f"--git-dir={tmp_path}/w.shadow/git"
        assert git(root, place, "cat-file", "blob", oids[1]) == "text\n"
        await shadow.hold("packed", oids, [])
        git(root, place, "repack", "-a", "-d", "-q")
        git(root, place, "prune-packed")
        assert not shadow._store.loose.has(oids[1])
        assert await shadow.read([*oids, *oids]) == DATA * 2
        [new] = await shadow.store([b"new"])
        assert await shadow.read([oids[2], new]) == [DATA[2], b"new"]
        assert await shadow.read([]) == []


@pytest.mark.parametrize("damage", [b"", b"not zlib", "other"])
async def test_damaged_objects_are_gone_and_can_be_stored_again(tmp_path: Path, damage: bytes | str) -> None:
    async with shadow_of(repository(tmp_path / "w")) as shadow:
        oid, other = await shadow.store([b"text", b"other"])
        objects = tmp_path / "w.shadow" / "git" / "objects"
        path = objects / oid[:2] / oid[2:]
        left = (objects / other[:2] / other[2:]).read_bytes() if isinstance(damage, str) else damage
        path.unlink()
        path.write_bytes(left)
        if damage:  # what is empty is noticed without being read
            with pytest.raises(GoneError, match=oid):
                await shadow.read([other, oid])
        assert await shadow.store([b"text"]) == [oid]
        assert await shadow.read([oid]) == [b"text"]


async def test_nobody_else_may_look(tmp_path: Path) -> None:
    async with shadow_of(repository(tmp_path / "w"), tmp_path / "state" / "of a workspace" / "git") as shadow:
        await shadow.store([b"secret"])
    assert os.stat(tmp_path / "state" / "of a workspace" / "git").st_mode & 0o77 == 0


async def test_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: LooseObjects, path: str, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LooseObjects, "_replace", full)
    async with shadow_of(repository(tmp_path / "w")) as shadow:
        with pytest.raises(SnapshotError, match="no space is left"):
            await shadow.store([b"x"])
