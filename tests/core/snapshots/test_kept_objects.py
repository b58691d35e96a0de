"""Copies of the user's objects: what a snapshot needs stays readable when the user's repository is gone."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from acp_nvim.snapshots import kept_objects
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import GoneError, Snapshot, SnapshotError
from tests.core.snapshots.workspaces import git, look, repository, shadow_of, told, write

pytestmark = pytest.mark.anyio

ROOM = 10**9


async def before(shadow: Shadow, root: Path, first: Snapshot) -> dict[str, bytes]:
    """Return the earlier contents of the changed files."""
    found = [one for one in await shadow.changes(first, await shadow.take()) if one.before is not None]
    data = await shadow.read([one.before.oid for one in found if one.before is not None])
    return {one.path[len(str(root)) + 1 :]: text for one, text in zip(found, data, strict=True)}


@pytest.mark.parametrize("packed", [False, True])
async def test_the_repository_goes(tmp_path: Path, packed: bool) -> None:
    root = repository(tmp_path / "w", file="text 1", d__other="text 2", d__e__third="text 3")
    if packed:
        git(root, "gc", "-q")
    write(root / "new", "text 4")
    seen = look(root / ".git")
    times = {path: (path.stat().st_ctime_ns, path.stat().st_mtime_ns) for path in sorted((root / ".git").rglob("*"))}
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        assert await shadow.keep_objects(ROOM)
        assert look(root / ".git") == seen
        assert {path: (path.stat().st_ctime_ns, path.stat().st_mtime_ns) for path in times} == times
        shutil.rmtree(root / ".git")
        for name in ("file", "d/e/third", "new"):
            write(root / name, "other")
        assert await before(shadow, root, first) == {
            "d/e/third": b"text 3",
            "file": b"text 1",
            "new": b"text 4",
        }


async def test_later_commits_are_kept_too_and_another_host_goes_on(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text 1", other="text")
    async with shadow_of(root) as shadow:
        await shadow.take()
        assert await shadow.keep_objects(ROOM)
        packs = len(list((tmp_path / "w.shadow").rglob("kept/objects/pack/*.pack")))
    async with shadow_of(root) as shadow:
        await shadow.take()
        assert await shadow.keep_objects(ROOM)
        assert len(list((tmp_path / "w.shadow").rglob("kept/objects/pack/*.pack"))) == packs == 1
        write(root / "file", "text 2")
        git(root, "commit", "-qam", "second")
        write(root / "staged", "text 3")
        git(root, "add", "staged")
        second = await shadow.take()
        assert await shadow.keep_objects(ROOM)
        shutil.rmtree(root / ".git")
        (root / "file").unlink()
        (root / "other").unlink()
        write(root / "staged", "other")
        assert await before(shadow, root, second) == {"file": b"text 2", "other": b"text", "staged": b"text 3"}


async def test_what_has_no_room_is_not_copied(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text 1\n" * 9, other="text 2\n" * 9)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        assert not await shadow.keep_objects(10)
        assert not list((tmp_path / "w.shadow").rglob("kept/objects/pack/*.pack"))
        shutil.rmtree(root / ".git")
        write(root / "file", "text 1\n" * 9 + "more")
        (root / "other").rename(root / "moved")
        found = await shadow.changes(first, await shadow.take())
        assert told(root, found) == ["M file", "R other -> moved"]  # the trees are copied in any case
        with pytest.raises(GoneError):
            await shadow.read([one.before.oid for one in found if one.before is not None])


async def test_too_many_old_copies_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_objects, "GROWN_BYTES", 0)
    monkeypatch.setattr(kept_objects, "GROWN_TIMES", 1)
    root = repository(tmp_path / "w", file="text 1")
    async with shadow_of(root) as shadow:
        await shadow.take()
        assert await shadow.keep_objects(ROOM)
        write(root / "file", "text 2")
        git(root, "commit", "-qam", "second")
        last = await shadow.take()
        assert await shadow.keep_objects(ROOM)
        assert len(list((tmp_path / "w.shadow").rglob("kept/objects/pack/*.pack"))) == 2
        async with shadow_of(root) as other:  # uses the repository: nothing is removed
            await other.take()
            await shadow.clean(ROOM)
            assert len(list((tmp_path / "w.shadow").rglob("kept/objects/pack/*.pack"))) == 2
        await shadow.clean(ROOM)
        assert not list((tmp_path / "w.shadow").rglob("kept/objects/pack/*.pack"))
        assert await shadow.keep_objects(ROOM)
        shutil.rmtree(root / ".git")
        write(root / "file", "other")
        assert await before(shadow, root, last) == {"file": b"text 2"}


async def test_secrets_are_not_copied(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{".env": "password", "file": "text"})
    async with shadow_of(root) as shadow:
        await shadow.take()
        assert await shadow.keep_objects(ROOM)
        oids = git(root, "rev-parse", "HEAD:.env", "HEAD:file").split()
        shutil.rmtree(root / ".git")
    async with shadow_of(root) as shadow:  # knows no secret
        assert await shadow.read(oids[1:]) == [b"text"]
        with pytest.raises(GoneError):
            await shadow.read(oids)


@pytest.mark.parametrize("kind", [errno.ENOSPC, errno.EDQUOT, errno.ENOENT])
async def test_no_place_for_new_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: int) -> None:
    """The disk is full, or another host has begun to clean after this one was taken for dead."""

    def refuse(path: Path, *args: object, **kwargs: object) -> None:
        if "incoming" in str(path):
            raise OSError(kind, os.strerror(kind))
        make(path, *args, **kwargs)

    make = os.makedirs
    root = repository(tmp_path / "w", file="text 1")
    async with shadow_of(root) as shadow:
        await shadow.take()
        with monkeypatch.context() as full:
            full.setattr(os, "makedirs", refuse)
            with pytest.raises(SnapshotError):
                await shadow.keep_objects(ROOM)
        assert await shadow.keep_objects(ROOM)
