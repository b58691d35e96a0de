"""The state directory stays within its limit, and nothing goes that somebody uses or has not looked at."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.state.cleanup import (
    GONE_SECONDS,
    TEMPORARY_SECONDS,
    UNUSED_SECONDS,
    StateUsage,
    WorkspaceLease,
    clean_state,
    read_marker,
)

pytestmark = pytest.mark.anyio

DAY = 24 * 3600.0
MUCH = 10**12
REJECTED = '{"kind":"turn","changes":[]}\n{"kind":"reject","changes":[]}\n'


class State:
    """A state directory with workspaces that were used some time ago."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "state"
        self.projects = directory / "projects"
        self.workspaces = self.directory / "workspaces"
        self.workspaces.mkdir(parents=True)
        self.projects.mkdir()

    def add(self, name: str, days: float, size: int = 1000, gone: bool = False, **files: str) -> Path:
        """A workspace, used so many days ago, with some bytes and other files (`__` for a slash, `_` for a dot)."""
        root, directory = self.projects / name, self.workspaces / name
        root.mkdir()
        mark = WorkspaceLease(directory, str(root))
        mark.begin()
        mark.close()
        (directory / "git" / "objects" / "pack").mkdir(parents=True)
        (directory / "git" / "objects" / "blob").write_bytes(b"x" * size)
        for file, text in files.items():
            path = directory / file.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        if gone:
            root.rmdir()
        self.age(directory, days * DAY)
        return directory

    def age(self, directory: Path, seconds: float) -> None:
        """Set the times of all files back by so many seconds."""
        then = time.time() - seconds
        for path in (*sorted(directory.rglob("*"), reverse=True), directory):
            os.utime(path, (then, then))

    async def clean_state(self, max_bytes: int = MUCH) -> StateUsage:
        swept = await clean_state(self.directory, max_bytes)
        assert swept is not None
        assert {*swept.workspaces} == self.left()
        return swept

    def left(self) -> set[str]:
        return {path.name for path in self.workspaces.iterdir() if path.is_dir()}


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path)


async def test_a_workspace_that_nobody_has_used_for_long_goes(state: State) -> None:
    month = UNUSED_SECONDS / DAY
    state.add("old", month + 1)
    state.add("younger", month - 1)
    state.add("new", 0)
    await state.clean_state()
    assert state.left() == {"younger", "new"}


async def test_one_without_a_mark_goes_by_what_was_changed_in_it_last(state: State) -> None:
    for name, days in (("old", 31), ("young", 3)):
        (state.add(name, days) / "root").unlink()
        state.age(state.workspaces / name, days * DAY)
    await state.clean_state()
    assert state.left() == {"young"}


async def test_one_that_is_gone_goes_sooner(state: State) -> None:
    week = GONE_SECONDS / DAY
    state.add("gone", week + 1, gone=True)
    state.add("just gone", week - 1, gone=True)
    state.add("there", week + 1)
    await state.clean_state()
    assert state.left() == {"just gone", "there"}


async def test_a_disk_that_is_not_mounted_is_not_gone(state: State) -> None:
    above = state.projects / "disk"
    above.mkdir()
    directory = state.add("disk/p", 10, gone=True)
    above.rmdir()
    other = state.add("elsewhere", 10, gone=True)
    (other / "root").write_bytes(b"1 " + os.fsencode(state.projects / "elsewhere"))  # it was on another file system
    state.age(other, 10 * DAY)
    blocked = state.add("blocked", 10, gone=True)
    (blocked / "root").write_bytes(b"%d /dev/null/p" % os.stat("/dev").st_dev)
    state.age(blocked, 10 * DAY)
    await clean_state(state.directory, MUCH)
    assert all(path.is_dir() for path in (directory, other, blocked))


@pytest.mark.parametrize(
    ("file", "text", "stays"),
    [
        ("review__1_json", json.dumps({"entries": [1], "turns": []}), True),
        ("review__1_json", json.dumps({"version": 1, "entries": [], "turns": [{}]}), True),
        ("review__1_json", json.dumps({"version": 1, "entries": [], "turns": []}), False),
        ("review__1_json", '{"entries": [', True),
        ("review__1_json", "[]", True),
        ("review__1_lock", "", False),
        ("checkpoints_jsonl", REJECTED, True),
        ("checkpoints_jsonl", REJECTED.splitlines()[0], False),
    ],
)
async def test_what_nobody_has_looked_at_stays_until_it_is_old(state: State, file: str, text: str, stays: bool) -> None:
    more: Any = {file: text}
    state.add("gone", 10, gone=True, **more)
    state.add("there", 10, **more)
    state.add("old", 31, **more)
    await state.clean_state(0)
    assert state.left() == ({"gone", "there"} if stays else set())


async def test_what_is_too_much_goes_the_longest_unused_first(state: State) -> None:
    for name, days in (("c", 3), ("a", 9), ("b", 6)):
        state.add(name, days, size=100_000)
    (state.directory / "transcripts").mkdir()
    (state.directory / "transcripts" / "t").write_bytes(b"x" * 100_000)
    worktree = state.directory / "worktrees" / "mine"
    worktree.mkdir(parents=True)
    (worktree / "f").write_bytes(b"x" * 1_000_000)
    swept = await state.clean_state(350_000)
    assert state.left() == {"b", "c"}
    assert 300_000 < swept.total < 310_000
    assert 100_000 < swept.room("c", 350_000) - (350_000 - swept.total) < 101_000
    swept = await state.clean_state(50_000)
    assert (state.left(), swept.total) == (set(), 100_000)
    assert swept.room("new", 50_000) == 5_000
    assert (worktree / "f").exists()


async def test_one_that_a_host_uses_stays(state: State) -> None:
    used = state.add("used", 40)
    mark = WorkspaceLease(used, str(state.projects / "used"))
    mark.begin()
    state.age(used, 40 * DAY)
    old_version = state.add("old version", 40, git__users="")
    with (old_version / "git" / "users").open() as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        await state.clean_state(0)
        assert state.left() == {"used", "old version"}
    mark.close()
    await state.clean_state()
    assert state.left() == {"used"}  # it was used until now
    assert time.time() - (used / "root").stat().st_mtime < DAY
    state.age(used, 40 * DAY)
    await state.clean_state()
    assert state.left() == set()


async def test_only_one_host_sweeps_at_a_time(state: State) -> None:
    state.add("old", 40)
    with (state.workspaces / ".sweeping").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert await clean_state(state.directory, 0) is None
    assert state.left() == {"old"}


async def test_what_a_killed_git_or_sweep_has_left_goes(state: State) -> None:
    objects = state.add("p", 0) / "git" / "objects"
    left = [objects / "pack" / "tmp_pack_1", objects / "pack" / ".tmp-1-pack-2.pack", objects / "ab" / "tmp_obj_1"]
    kept = [objects / "pack" / "tmp_idx_new", objects / "pack" / "pack-1.pack", objects.parent / "tmp_other"]
    (objects / "ab").mkdir()
    for path in (*left, *kept):
        path.write_text("x")
    then = time.time() - TEMPORARY_SECONDS - 60
    for path in (*left, *kept[1:]):
        os.utime(path, (then, then))
    half_removed = state.workspaces / ".removed-12345678"
    half_removed.mkdir()
    await state.clean_state()
    assert [path.exists() for path in (*left, *kept, half_removed)] == [False] * 3 + [True] * 3 + [False]


async def test_what_is_used_while_it_is_removed_is_made_anew(state: State) -> None:
    directory, root = state.workspaces / "p", state.projects / "p"
    root.mkdir()
    stop = threading.Event()

    def remove() -> None:
        while not stop.is_set():
            shutil.rmtree(directory, ignore_errors=True)

    remover = threading.Thread(target=remove)
    remover.start()
    marks = [WorkspaceLease(directory, str(root)) for _ in range(20)]
    try:
        for mark in marks:
            mark.begin()
    finally:
        stop.set()
        remover.join()
    marks.append(WorkspaceLease(directory, str(root)))
    marks[-1].begin()
    assert read_marker(directory) is not None
    for mark in marks:
        mark.close()


async def test_a_name_that_is_no_text_is_a_mark_all_the_same(state: State) -> None:
    root = os.fsencode(state.projects) + b"/caf\xe9"
    os.mkdir(root)
    mark = WorkspaceLease(state.workspaces / "p", os.fsdecode(root))
    mark.begin()
    mark.close()
    found = read_marker(state.workspaces / "p")
    assert found is not None
    assert os.fsencode(found.root) == root


async def test_without_a_state_directory_nothing_is_done(tmp_path: Path) -> None:
    assert await clean_state(tmp_path / "none", 0) is None
