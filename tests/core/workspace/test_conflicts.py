"""Versions that could not be merged: each kept once, to be looked at, and never too many."""

from __future__ import annotations

import logging
import os
import re
import stat
import sys
from pathlib import Path

import anyio
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_nvim.workspace.conflicts import Conflict, Conflicts

pytestmark = pytest.mark.anyio


def conflict(path: str = "/p/f.py", theirs: str = "theirs\n", base: str | None = "base\n") -> Conflict:
    """One that a write of the agent made."""
    return Conflict(path, base, theirs, "fs/write_text_file")


def names(directory: Path) -> list[str]:
    """The names of the copies, the oldest first."""
    return [path.name for path in sorted(directory.iterdir(), key=lambda path: (path.stat().st_mtime_ns, path.name))]


def content(file: str | Path) -> bytes:
    """Return the bytes of a kept version."""
    return Path(file).read_bytes()


def bits(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


async def test_the_copy_is_the_version_for_the_users_eyes_only(tmp_path: Path) -> None:
    directory = tmp_path / "state" / "conflicts"
    conflicts = Conflicts(directory)
    file = Path(await conflicts.keep(conflict(theirs="\ufeffé\r\nmore")))
    assert content(file) == "\ufeffé\r\nmore".encode()
    assert re.fullmatch(r"\d{8}-\d{6}-1-f\.py", file.name)
    assert file.parent == directory
    assert bits(file) == 0o600
    assert bits(directory) == 0o700


async def test_what_is_kept_is_known_by_its_path_until_it_is_settled(tmp_path: Path) -> None:
    conflicts = Conflicts(tmp_path)
    one = await conflicts.keep(conflict("/p/a", "1"))
    two = await conflicts.keep(Conflict("/p/b", None, "2", "disk"))
    three = await conflicts.keep(conflict("/p/a", "3"))
    assert conflicts.of("/p/a") == [
        Conflict("/p/a", "base\n", "1", "fs/write_text_file", 1, one),
        Conflict("/p/a", "base\n", "3", "fs/write_text_file", 3, three),
    ]
    conflicts.settle("/p/a")
    conflicts.settle("/p/none")
    assert conflicts.of("/p/a") == []
    assert conflicts.of("/p/b") == [Conflict("/p/b", None, "2", "disk", 2, two)]
    assert sorted(names(tmp_path)) == sorted(map(os.path.basename, [one, two, three])), (
        "the user may be looking at them"
    )


async def test_the_same_version_is_kept_once_with_its_latest_base(tmp_path: Path) -> None:
    conflicts = Conflicts(tmp_path)
    file = await conflicts.keep(conflict())
    assert await conflicts.keep(conflict(base="another")) == file
    assert conflicts.of("/p/f.py") == [Conflict("/p/f.py", "another", "theirs\n", "fs/write_text_file", 1, file)]
    assert names(tmp_path) == [Path(file).name]
    assert await conflicts.keep(conflict("/p/g.py")) != file


async def test_a_version_that_is_settled_is_kept_anew(tmp_path: Path) -> None:
    conflicts = Conflicts(tmp_path)
    file = await conflicts.keep(conflict())
    conflicts.settle("/p/f.py")
    assert await conflicts.keep(conflict()) != file
    assert [kept.number for kept in conflicts.of("/p/f.py")] == [2]


async def test_two_at_once_are_one_copy(tmp_path: Path) -> None:
    conflicts = Conflicts(tmp_path)
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(conflicts.keep, conflict())
    assert len(names(tmp_path)) == 1
    assert [Path(kept.file).name for kept in conflicts.of("/p/f.py")] == names(tmp_path)


async def test_a_copy_that_was_removed_is_written_again(tmp_path: Path) -> None:
    conflicts = Conflicts(tmp_path)
    os.unlink(await conflicts.keep(conflict()))
    file = await conflicts.keep(conflict())
    assert content(file) == b"theirs\n"
    assert [kept.file for kept in conflicts.of("/p/f.py")] == [file]


async def test_a_conflict_that_is_settled_while_it_is_written_does_not_come_back(tmp_path: Path) -> None:
    conflicts = Conflicts(tmp_path)
    async with anyio.create_task_group() as group:
        group.start_soon(conflicts.keep, conflict())
        await anyio.lowlevel.checkpoint()
        assert [kept.file for kept in conflicts.of("/p/f.py")] == [""]
        conflicts.settle("/p/f.py")
    assert conflicts.of("/p/f.py") == []


async def test_who_is_cancelled_has_kept_it_in_memory(tmp_path: Path) -> None:
    conflicts = Conflicts(tmp_path)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await conflicts.keep(conflict())
    assert [kept.theirs for kept in conflicts.of("/p/f.py")] == ["theirs\n"]
    assert content(await conflicts.keep(conflict())) == b"theirs\n"


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ("/p/a b.txt", "a_b.txt"),
        ("/p/..", ".."),
        ("/", "file"),
        ("/p/-x|y;$(z)`%#\n\x1b\udc80.c", "-x_y___z_______.c"),
        ("/p/файл.py", "____.py"),
        ("/p/" + "x" * 250 + ".lua", "x" * 56 + ".lua"),
    ],
)
async def test_the_name_harms_nobody(tmp_path: Path, path: str, end: str) -> None:
    file = Path(await Conflicts(tmp_path).keep(conflict(path)))
    assert file.parent == tmp_path
    assert re.sub(r"^\d{8}-\d{6}-1-", "", file.name) == end


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(st.characters(exclude_categories=(), exclude_characters="/\0"), max_size=300))
async def test_every_name_can_be_kept(tmp_path: Path, name: str) -> None:
    file = Path(await Conflicts(tmp_path).keep(conflict(f"/p/{name}")))
    assert file.parent == tmp_path
    assert re.fullmatch(r"[\w.-]+", file.name, re.ASCII)
    assert content(file) == b"theirs\n"


@pytest.mark.parametrize(
    ("theirs", "data"),
    [("caf\udce9", b"caf\xe9"), ("\ud800", b"\xed\xa0\x80"), ("", b""), ("\r", b"\r"), ("a\0b", b"a\0b")],
)
async def test_every_text_can_be_kept(tmp_path: Path, theirs: str, data: bytes) -> None:
    assert content(await Conflicts(tmp_path).keep(conflict(theirs=theirs))) == data


async def test_sessions_share_a_directory(tmp_path: Path) -> None:
    files = {await Conflicts(tmp_path).keep(conflict(theirs=str(number))) for number in range(5)}
    assert sorted(map(content, files)) == [b"0", b"1", b"2", b"3", b"4"]


async def test_without_a_directory_it_is_in_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    conflicts = Conflicts(tmp_path / "file" / "below")
    assert await conflicts.keep(conflict()) == ""
    assert [kept.theirs for kept in conflicts.of("/p/f.py")] == ["theirs\n"]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


async def test_it_is_written_when_that_works_again(tmp_path: Path) -> None:
    (tmp_path / "c").touch()
    conflicts = Conflicts(tmp_path / "c")
    assert await conflicts.keep(conflict()) == ""
    (tmp_path / "c").unlink()
    assert content(await conflicts.keep(conflict())) == b"theirs\n"


async def test_only_the_newest_are_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    conflicts = Conflicts(tmp_path, number=3)
    (tmp_path / "notes.txt").write_text("the user's own")
    files = [await conflicts.keep(conflict(f"/p/{number}", str(number))) for number in range(5)]
    assert [len(conflicts.of(f"/p/{number}")) for number in range(5)] == [0, 0, 1, 1, 1]
    assert sorted(names(tmp_path)) == sorted([*(Path(file).name for file in files[2:]), "notes.txt"])
    assert caplog.text.count("is forgotten") == 2


async def test_their_bytes_are_bounded_on_disk(tmp_path: Path) -> None:
    for number, size in enumerate((40, 40, 40, 500)):
        file = await Conflicts(tmp_path, max_bytes=100).keep(conflict(f"/p/{number}", "x" * size))
        os.utime(file, (number, number))
        assert len(content(file)) == size, "the newest, however large"
    assert [name.rpartition("-")[2] for name in names(tmp_path)] == ["3"]
    for number in (4, 5, 6):
        file = await Conflicts(tmp_path, max_bytes=100).keep(conflict(f"/p/{number}", "x" * 40))
        os.utime(file, (number, number))
    assert [name.rpartition("-")[2] for name in names(tmp_path)] == ["5", "6"]


@given(sizes=st.lists(st.integers(0, 2000), max_size=12), number=st.integers(1, 5), max_bytes=st.integers(0, 3000))
async def test_their_bytes_are_bounded_in_memory(sizes: list[int], number: int, max_bytes: int) -> None:
    conflicts = Conflicts(Path(__file__) / "below", number=number, max_bytes=max_bytes)
    for index, size in enumerate(sizes):
        await conflicts.keep(conflict("/p/f", f"{index}".ljust(size)))
        kept = conflicts.of("/p/f")
        memory = sum(sys.getsizeof(one.theirs) + sys.getsizeof(one.base) for one in kept)
        assert len(kept) <= number
        assert memory <= max_bytes or len(kept) == 1
        assert [one.number for one in kept] == list(range(index + 2 - len(kept), index + 2)), "the newest ones"


def test_a_conflict_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        conflict().theirs = "x"
    assert msgspec.structs.asdict(conflict())["number"] == 0
