"""Several hosts use one shadow repository; a host, or a git, may be killed at any moment."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from acp_nvim.snapshots import index as index_module
from acp_nvim.snapshots import work_tree
from acp_nvim.snapshots.index import Index
from acp_nvim.snapshots.places import Places
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Snapshot, SnapshotError
from acp_nvim.snapshots.store import Store
from tests.core.snapshots.workspaces import fsck, repository, shadow_of, told, untracked, write
from tests.support.processes import look_at
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every snapshot that finds a change write an index."""
    monkeypatch.setattr(work_tree, "FOLD_FILES", 0)


def indexes(place: Path) -> list[str]:
    return sorted(path.name for path in (place / "indexes").iterdir())


async def test_two_at_once(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", **{f"file{number}": str(number) for number in range(50)})
    async with shadow_of(root, tmp_path / "git") as one, shadow_of(root, tmp_path / "git") as other:
        for turn in range(5):
            taken: dict[Shadow, Snapshot] = {}

            async def take(shadow: Shadow, into: dict[Shadow, Snapshot]) -> None:
                into[shadow] = await shadow.take()

            async with anyio.create_task_group() as group:
                group.start_soon(take, one, taken)
                group.start_soon(take, other, taken)
            assert taken[one].id == taken[other].id
            write(root / f"file{turn}", f"other {turn}")
    assert all(name.startswith("saved-") for name in indexes(tmp_path / "git"))


async def test_two_snapshots_at_once_of_one_host(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text")
    taken: list[str] = []

    async def take(shadow: Shadow) -> None:
        taken.append((await shadow.take()).id)

    async with shadow_of(root) as shadow:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(take, shadow)
        assert taken == [(await shadow.take()).id] * 3


async def test_the_next_host_begins_with_the_index_that_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = untracked(tmp_path / "w", a="1", b="2")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
    added: list[bytes] = []
    update = Index.update

    async def watched(index: Index, paths: list[bytes], gone: list[bytes]) -> None:
        added.extend(paths)
        await update(index, paths, gone)

    monkeypatch.setattr(Index, "update", watched)
    write(root / "a", "3")
    async with shadow_of(root) as shadow:
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M a"]
    assert added == [b"a"]


async def test_what_killed_hosts_left_is_removed_when_nobody_uses_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text")
    place = tmp_path / "git"
    async with shadow_of(root, place) as shadow:
        await shadow.take()
        write(place / "indexes" / "1-left-name", "x")
        async with shadow_of(root, place) as other:
            await other.take()
            assert "1-left-name" in indexes(place)
    async with shadow_of(root, place) as shadow:
        await shadow.take()
        assert "1-left-name" not in indexes(place)


async def test_a_lock_that_was_left_does_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Index, "forget")  # nor is anything begun anew
    root = untracked(tmp_path / "w", file="text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        [own] = [
            path
            for path in (tmp_path / "w.shadow/git/indexes").iterdir()
            if path.name.startswith(f"{os.getpid()}") and path.suffix == ""
        ]
        write(own.with_name(f"{own.name}.lock"), "half an index")
        write(root / "file", "other")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M file"]


@pytest.mark.parametrize("damage", [b"", b"DIRC\0\0\0\2\0\0\0\1 and no more"])
async def test_a_damaged_index_is_made_again(tmp_path: Path, damage: bytes) -> None:
    root = untracked(tmp_path / "w", file="text", other="text 2")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
    [saved] = (tmp_path / "w.shadow" / "git" / "indexes").iterdir()
    saved.unlink()
    write(saved, damage)
    async with shadow_of(root) as shadow:
        assert (await shadow.take()).id == first.id


async def test_objects_that_are_gone_are_made_again(tmp_path: Path) -> None:
    root = untracked(tmp_path / "w", **{f"d/file{number}": str(number) for number in range(9)})
    place = tmp_path / "git"
    async with shadow_of(root, place) as shadow:
        first = await shadow.take()
    shutil.rmtree(place / "objects")
    async with shadow_of(root, place) as shadow:
        write(root / "d" / "file1", "other")
        write(root / "new", "n")
        second = await shadow.take()
        third = await shadow.take()
        assert second.id == third.id != first.id
        fsck(root, place, third.id)


def killed_after(command: list[str], lines: int) -> None:
    """Start it, and kill it when it has said that much."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        for _ in range(lines):
            assert "file" in json.loads(child.stdout.readline())["files"]
        child.kill()


async def test_hosts_that_are_killed(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text")
    place = tmp_path / "git"
    for number in range(6):
        command = [sys.executable, "-m", "tests.core.snapshots.take", str(place), str(root), "forever"]
        await anyio.to_thread.run_sync(killed_after, command, number)
        async with shadow_of(root, place) as shadow:
            first = await shadow.take()
            write(root / "file", f"text {number}")
            assert "M file" in told(root, await shadow.changes(first, await shadow.take()))
            fsck(root, place, first.id)


@pytest.mark.parametrize("command", ["update-index", "ls-files", "write-tree"])
async def test_who_is_cancelled_leaves_no_process_and_nothing_that_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    root = untracked(tmp_path / "w", file="text")
    real, pid = shutil.which("git"), tmp_path / "pid"
    tell = f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600"
    hangs = f'case "$*" in *{command}*) : > "$GIT_INDEX_FILE.lock"; {tell};; esac'
    write(tmp_path / "bin" / "git", f'#!/bin/sh\n{hangs}\nexec {real} "$@"\n').chmod(0o755)
    async with shadow_of(root) as shadow:
        with monkeypatch.context() as context:
            context.setenv("PATH", str(tmp_path / "bin"), prepend=":")
            async with anyio.create_task_group() as group:
                group.start_soon(shadow.take)
                await anyio.to_thread.run_sync(wait_until, pid.exists)
                group.cancel_scope.cancel()
        assert look_at(int(pid.read_text())) is None
        first = await shadow.take()
        write(root / "file", "other")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["M file"]


async def test_files_that_vanish_or_change_between_two_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = untracked(tmp_path / "w", vanishes="1", pipe="2", stays="3")
    update = Index.update

    async def late(index: Index, paths: list[bytes], gone: list[bytes]) -> None:
        if not stat.S_ISFIFO(os.stat(root / "pipe").st_mode):
            (root / "vanishes").unlink()
            (root / "pipe").unlink()
            os.mkfifo(root / "pipe")
        await update(index, paths, gone)

    monkeypatch.setattr(Index, "update", late)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        assert (await shadow.take()).id == first.id
        write(root / "vanishes", "4")
        assert told(root, await shadow.changes(first, await shadow.take())) == ["A vanishes"]


def test_many_threads_begin_at_once(tmp_path: Path) -> None:
    """No thread waits for the lock of another one of the same host."""
    for number in range(30):
        places, at_once, done = Places(tmp_path / str(number)), threading.Barrier(4), []

        def begin(places: Places = places, at_once: threading.Barrier = at_once, done: list[int] = done) -> None:
            at_once.wait(60)
            places.prepare()
            done.append(1)

        threads = [threading.Thread(target=begin, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(done) == 4
        assert places.alone()
        places.close()


async def test_who_is_stopped_goes_on_where_that_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first snapshot of many new files: those that are in the index stay there, also for the next host."""
    monkeypatch.setattr(index_module, "ADDED_FILES", 5)
    root = untracked(tmp_path / "w", **{f"file{number:02}": str(number) for number in range(20)})
    place, added = tmp_path / "git", []
    add = Store.add

    async def stop(store: Store, words: list[str], top: str, env: dict[str, str], stdin: bytes) -> None:
        added.append(stdin.count(b"\0"))
        if len(added) == 3:
            raise SnapshotError("stopped")
        await add(store, words, top, env, stdin)

    monkeypatch.setattr(Store, "add", stop)
    async with shadow_of(root, place) as shadow:
        with pytest.raises(SnapshotError, match="stopped"):
            await shadow.take()
    assert added == [5, 5, 5]
    assert not list(place.glob("incoming/*"))
    async with shadow_of(root, place) as shadow:
        fsck(root, place, (await shadow.take()).id)
    assert added == [5, 5, 5, 5, 5]


async def test_what_a_killed_git_left_is_removed_when_nobody_uses_it(tmp_path: Path) -> None:
    root = untracked(tmp_path / "w", file="text")
    place = tmp_path / "git"
    left = [
        place / "objects" / "pack" / "tmp_pack_1",
        place / "objects" / "00" / "tmp_obj_1",
        place / "incoming" / "1" / "x",
    ]
    for path in left:
        write(path, "half")
    async with shadow_of(root, place) as shadow:
        await shadow.take()
        assert not any(path.exists() for path in left)
        write(left[0], "half")
        async with shadow_of(root, place) as other:
            await other.take()
            assert left[0].exists()


async def test_the_last_host_leaves_no_half_made_pack(tmp_path: Path) -> None:
    places = Places(tmp_path / "git")
    other = Places(tmp_path / "git")
    places.prepare()
    other.prepare()
    half = [places.objects / "pack" / "tmp_pack_x", places.new_incoming() / "pack" / "tmp_pack_y"]
    for path in half:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")
    places.close()
    assert all(path.exists() for path in half)
    other.close()
    assert not any(path.exists() for path in half)
