"""What is held survives any cleaning; the rest goes when it is too much, and nobody else is there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from acp_nvim.snapshots import found_files, pins, work_tree
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import GoneError, SnapshotError
from acp_nvim.snapshots.users_repository import main_directory
from tests.core.snapshots.workspaces import fsck, git, repository, shadow_of, told, write
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio

NOWHERE = "0123456789" * 4


@pytest.fixture(params=[0, 100], autouse=True)
def fold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use both ways in which a changed file is kept."""
    monkeypatch.setattr(work_tree, "FOLD_FILES", request.param)


async def is_there(shadow: Shadow, oid: str) -> bool:
    try:
        await shadow.read([oid])
    except GoneError:
        return False
    return True


async def test_what_is_held_stays(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text 1", d__other="text")
    async with shadow_of(root) as shadow:
        held, loose, freed = await shadow.store([b"held", b"loose", b"freed"])
        first = await shadow.take()
        await shadow.hold("turn-1", [held], [first])
        await shadow.hold("turn-2", [freed, loose], [])
        await shadow.hold("turn-2", [freed], [])
        await shadow.release(["turn-2", "unknown"])
        write(root / "file", "text 2")
    async with shadow_of(root) as shadow:
        assert await shadow.clean(0) is False
        assert await is_there(shadow, held)
        assert not await is_there(shadow, loose)
        assert not await is_there(shadow, freed)
        second = await shadow.take()
        found = await shadow.changes(first, second)
        assert told(root, found) == ["M file"]
        assert await shadow.read([one.before.oid for one in found if one.before is not None]) == [b"text 1"]
        fsck(root, tmp_path / "w.shadow" / "git", second.id)
        await shadow.release(["turn-1"])
    async with shadow_of(root) as shadow:
        await shadow.clean(0)
        assert not await is_there(shadow, held)
        with pytest.raises(GoneError):
            await shadow.changes(first, second)
        assert not await is_there(shadow, found[0].before.oid if found[0].before else "")


async def test_after_cleaning_everything_is_taken_anew(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{f"d/file{number}": f"text {number}" for number in range(5)})
    async with shadow_of(root) as shadow:
        first = await shadow.take()
    async with shadow_of(root) as shadow:
        await shadow.clean(0)
        assert (await shadow.take()).id == first.id
        fsck(root, tmp_path / "w.shadow" / "git", first.id)


async def test_what_nobody_has_had_the_time_to_hold_stays(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text 1")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        [oid] = await shadow.store([b"new"])
        write(root / "file", "text 2")
        await shadow.clean(0)
        assert await is_there(shadow, oid)
        second = await shadow.take()
        assert told(root, await shadow.changes(first, second)) == ["M file"]
        await shadow.hold("a", [oid], [first, second])
        await shadow.release(["a"])
        await shadow.clean(0)
        assert not await is_there(shadow, oid)
        assert (await shadow.take()).id == second.id


async def test_gits_own_cleaning_keeps_what_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "w", file="text 1")
    async with shadow_of(root) as shadow:
        held, gone = await shadow.store([b"held", b"gone"])
        first = await shadow.take()
        await shadow.hold("name", [held], [first])
        monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(root / ".git" / "objects"))
        git(root, f"--git-dir={tmp_path}/w.shadow/git", "gc", "-q", "--prune=now")
        assert await is_there(shadow, held)
        assert not await is_there(shadow, gone)
        write(root / "file", "text 2")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M file"]


async def test_little_is_not_cleaned(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text 1")
    async with shadow_of(root) as shadow:
        [oid] = await shadow.store([b"x"])
    async with shadow_of(root) as shadow:
        assert await shadow.clean(1 << 20) is True
        assert await is_there(shadow, oid)
        size = pins.size(tmp_path / "w.shadow" / "git" / "objects")
        assert await shadow.clean(size) is True
        assert await is_there(shadow, oid)
        await shadow.clean(size - 1)
        assert not await is_there(shadow, oid)


async def test_nothing_goes_while_another_host_is_there(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text 1")
    place = tmp_path / "git"
    async with shadow_of(root, place) as shadow:
        async with shadow_of(root, place) as other:
            [oid] = await other.store([b"x"])
            assert await shadow.clean(0) is False
            assert await is_there(shadow, oid)
            assert await other.clean(0) is False
            assert await is_there(shadow, oid)
        await shadow.clean(0)
        assert not await is_there(shadow, oid)
        async with shadow_of(root, place) as other:
            await other.take()


async def test_contents_that_went_are_kept_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "w", file="text 1")
    later = (root / "file").stat().st_ctime_ns + 10**10
    monkeypatch.setattr(found_files.time, "time_ns", lambda: later)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        await shadow.hold("name", [], [first])
        await shadow.release(["name"])
        await shadow.clean(0)
        assert (await shadow.take()).id == first.id
        fsck(root, tmp_path / "w.shadow" / "git", first.id)


async def test_nothing_is_stored_while_it_is_cleaned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or it might be removed before anybody knows of it."""
    said: list[str] = []
    clean, go_on = pins.clean, anyio.Event()

    async def slowly(*given: Any) -> None:
        said.append("cleaning")
        await go_on.wait()
        await clean(*given)
        said.append("cleaned")

    async def store(shadow: Shadow) -> None:
        await shadow.store([b"new"])
        said.append("stored")

    monkeypatch.setattr(pins, "clean", slowly)
    async with shadow_of(repository(tmp_path / "w")) as shadow:
        await shadow.store([b"text"])
        async with anyio.create_task_group() as group:
            group.start_soon(shadow.clean, 0)
            await anyio.wait_all_tasks_blocked()
            await anyio.to_thread.run_sync(wait_until, lambda: said == ["cleaning"])
            group.start_soon(store, shadow)
            await anyio.wait_all_tasks_blocked()
            go_on.set()
        assert said == ["cleaning", "cleaned", "stored"]


async def test_cleaning_waits_for_a_snapshot_and_holds_up_the_next(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{f"file{number}": str(number) for number in range(200)})
    async with shadow_of(root) as shadow:
        async with anyio.create_task_group() as group:
            for number in range(4):
                write(root / "file1", f"other {number}")
                group.start_soon(shadow.take)
                group.start_soon(shadow.clean, 0)
                group.start_soon(shadow.store, [b"%d" % number])
        last = await shadow.take()
        fsck(root, tmp_path / "w.shadow" / "git", last.id)


async def test_what_killed_programs_left_goes_too(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text 1")
    async with shadow_of(root) as shadow:
        await shadow.store([b"x"])
        objects = tmp_path / "w.shadow" / "git" / "objects"
        write(objects / "pack" / "tmp_pack_abc", b"x" * 1000)
        write(objects / "00" / "tmp_obj_abc", b"x" * 1000)
        await shadow.clean(0)
        assert not any(name.startswith("tmp_") for _, _, names in os.walk(objects) for name in names)


async def test_what_is_not_there_cannot_be_held(tmp_path: Path) -> None:
    async with shadow_of(repository(tmp_path / "w")) as shadow:
        [oid] = await shadow.store([b"x"])
        with pytest.raises(GoneError, match=NOWHERE):
            await shadow.hold("name", [oid, NOWHERE], [])
        assert not list((tmp_path / "w.shadow" / "git" / "refs" / "held").iterdir())


@pytest.mark.parametrize("name", ["", "a/b", "..", "a.lock", "a b"])
async def test_names(tmp_path: Path, name: str) -> None:
    async with shadow_of(repository(tmp_path / "w")) as shadow:
        with pytest.raises(ValueError, match="is no name"):
            await shadow.hold(name, [], [])
        with pytest.raises(ValueError, match="is no name"):
            await shadow.release([name])


async def test_too_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "CLEAN_SECONDS", 0.0)
    root = repository(tmp_path / "w", file="text 1")
    async with shadow_of(root) as shadow:
        await shadow.store([b"x"])
        with pytest.raises(SnapshotError, match="longer than 0 s"):
            await shadow.clean(0)
        async with shadow_of(root) as other:
            await other.take()
        await shadow.take()


async def test_linked_work_trees_share_what_is_kept(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text 1")
    git(root, "worktree", "add", "-q", "../linked")
    linked = tmp_path / "linked"
    assert main_directory(str(linked)) == main_directory(str(root)) == str(root)
    assert main_directory(str(linked / "sub")) == str(linked / "sub")
    place = tmp_path / "git"
    async with shadow_of(root, place) as one, shadow_of(linked, place) as other:
        first, second = await one.take(), await other.take()
        assert first.id == second.id
        [oid] = await one.store([b"in one"])
        assert await other.read([oid]) == [b"in one"]
        await one.hold("one", [oid], [first])
        assert await one.clean(0) is False
        write(linked / "file", "text 2")
        assert told(linked, await other.changes(second, await other.take())) == ["M file"]
        assert (await one.take()).id == first.id
