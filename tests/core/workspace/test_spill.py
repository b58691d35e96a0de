"""Texts on disk: bounded, never a wrong one, and nothing is left behind."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import time
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.workspace.last_seen import SPILL_LEFT_SECONDS, Spill, digest, encode

pytestmark = pytest.mark.anyio


async def put(spill: Spill, text: str) -> int | None:
    """Store a text."""
    data = encode(text)
    return await spill.put(data, digest(data))


def files(directory: Path) -> list[Path]:
    """All the files below it."""
    return sorted(path for path in directory.rglob("*") if path.is_file())


@given(st.text(st.characters(exclude_categories=())))
def test_every_text_has_bytes_of_its_own(text: str) -> None:
    assert encode(text).decode("utf-8", "surrogatepass") == text


@pytest.mark.parametrize("text", ["", "one\r\n", "\udc80", chr(0xD800), "\ud83d\ude00", "\U0001f600", "\0\ufeff"])
async def test_what_is_put_there_is_there(tmp_path: Path, text: str) -> None:
    spill = Spill(tmp_path / "s", 100)
    assert await spill.get(await put(spill, text)) == text


async def test_files_are_for_the_user_only(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "state" / "seen", 100)
    await put(spill, "secret")
    (file,) = files(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file.parent, file.parent.parent)] == [0o700, 0o700]


async def test_the_oldest_make_room_before_a_new_one_is_written(tmp_path: Path) -> None:
    spill = Spill(tmp_path, 10)
    one, two = await put(spill, "1111"), await put(spill, "2222")
    assert spill.touch(one)
    three = await put(spill, "3333")
    assert [await spill.get(key) for key in (one, two, three)] == ["1111", None, "3333"]
    assert [file.read_text() for file in files(tmp_path)] == ["1111", "3333"]
    assert not spill.touch(two)


async def test_a_text_over_the_limit_drives_nothing_out(tmp_path: Path) -> None:
    spill = Spill(tmp_path, 4)
    key = await put(spill, "1111")
    assert await put(spill, "12345") is None
    assert await spill.get(key) == "1111"


async def test_what_was_dropped_is_gone_with_the_next(tmp_path: Path) -> None:
    spill = Spill(tmp_path, 100)
    key = await put(spill, "one")
    spill.drop(key)
    spill.drop(key)
    assert await spill.get(key) is None
    await put(spill, "two")
    assert [file.read_text() for file in files(tmp_path)] == ["two"]


@pytest.mark.parametrize("data", [b"", b"onE", b"longer", None])
async def test_a_damaged_text_is_none(tmp_path: Path, data: bytes | None) -> None:
    spill = Spill(tmp_path, 100)
    key = await put(spill, "one")
    (file,) = files(tmp_path)
    file.unlink()
    if data is not None:
        file.write_bytes(data)
    assert await spill.get(key) is None
    assert repr(spill) == "<Spill 0 texts, 0 bytes>"


async def test_a_file_of_another_size_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spill = Spill(tmp_path, 100)
    key = await put(spill, "one")
    files(tmp_path)[0].write_text("longer")
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    assert await spill.get(key) is None


async def test_a_dropped_text_may_be_gone_already(tmp_path: Path) -> None:
    spill = Spill(tmp_path, 100)
    spill.drop(await put(spill, "one"))
    files(tmp_path)[0].unlink()
    assert await spill.get(await put(spill, "two")) == "two"


async def test_a_directory_that_somebody_removed_is_made_again(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "s", 100)
    await put(spill, "one")
    (file,) = files(tmp_path)
    file.unlink()
    file.parent.rmdir()
    assert await spill.get(await put(spill, "two")) == "two"


async def test_nowhere_to_put_it_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    spill = Spill(tmp_path / "file" / "below", 100)
    assert await put(spill, "one") is None
    assert await put(spill, "two") is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "Not a directory" in caplog.text
    assert repr(spill) == "<Spill 0 texts, 0 bytes>"


async def test_no_directory_keeps_nothing(caplog: pytest.LogCaptureFixture) -> None:
    spill = Spill(None, 100)
    await spill.remove_left_overs()
    assert await put(spill, "one") is None
    assert caplog.records == []


async def test_closing_removes_all_of_it_and_nothing_else(tmp_path: Path) -> None:
    spill, other = Spill(tmp_path, 100), Spill(tmp_path, 100)
    key, others = await put(spill, "one"), await put(other, "two")
    spill.close()
    spill.close()
    assert await spill.get(key) is None
    assert await put(spill, "three") is None
    assert await other.get(others) == "two"
    assert len(os.listdir(tmp_path)) == 1


async def test_a_text_that_comes_while_it_is_closed_is_not_left_behind(tmp_path: Path) -> None:
    spill = Spill(tmp_path, 100)
    kept = []

    async def keep() -> None:
        kept.append(await put(spill, "one"))

    async with anyio.create_task_group() as group:
        group.start_soon(keep)
        await anyio.lowlevel.checkpoint()
        spill.close()
    assert kept == [None]
    assert os.listdir(tmp_path) == []


def left_over(directory: Path, pid: int, seconds_ago: float = 0) -> Path:
    """Make the directory that a dead process has left."""
    path = directory / f"{pid}-0123456789abcdef"
    path.mkdir()
    (path / "1").write_text("text")
    then = time.time() - seconds_ago
    os.utime(path, (then, then))
    return path


def gone() -> int:
    """The pid of a process that is gone."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


async def test_what_the_dead_left_is_removed(tmp_path: Path) -> None:
    left_over(tmp_path, gone())
    left_over(tmp_path, 10**20)  # no pid, as somebody may have written it
    await Spill(tmp_path, 100).remove_left_overs()
    assert os.listdir(tmp_path) == []


async def test_the_living_keep_theirs_unless_it_is_too_old_to_be_theirs(tmp_path: Path) -> None:
    living = left_over(tmp_path, os.getpid(), SPILL_LEFT_SECONDS - 3600)
    old = left_over(tmp_path, os.getppid(), SPILL_LEFT_SECONDS + 3600)
    await Spill(tmp_path, 100).remove_left_overs()
    assert (living / "1").exists()
    assert not old.exists()


async def test_a_process_of_somebody_else_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "kill", refuse)
    living = left_over(tmp_path, 1)
    await Spill(tmp_path, 100).remove_left_overs()
    assert living.exists()


async def test_only_what_is_certainly_ours_is_removed(tmp_path: Path) -> None:
    pid = gone()
    (tmp_path / "kept").mkdir()
    (tmp_path / f"{pid}-notes").mkdir()
    (tmp_path / f"{pid}-0123456789abcdef.bak").mkdir()
    (tmp_path / f"{pid}-aaaaaaaaaaaaaaaa").touch()
    (tmp_path / f"{pid}-bbbbbbbbbbbbbbbb").symlink_to(tmp_path / "kept")
    before = sorted(os.listdir(tmp_path))
    await Spill(tmp_path, 100).remove_left_overs()
    assert sorted(os.listdir(tmp_path)) == before


async def test_no_left_overs_where_there_is_no_directory(tmp_path: Path) -> None:
    await Spill(tmp_path / "none", 100).remove_left_overs()
    assert os.listdir(tmp_path) == []
