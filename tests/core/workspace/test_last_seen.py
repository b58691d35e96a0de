"""What the agent last saw of a file: never a wrong text, and never more of them than there is room for."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from types import ModuleType

import anyio
import pytest

from acp_nvim.workspace import last_seen
from acp_nvim.workspace.last_seen import SEEN_MEMORY_BYTES, SEEN_TEXT_BYTES, LastSeen

pytestmark = pytest.mark.anyio

TEXT = 200
MEMORY = 700
SMALL = {"text_bytes": TEXT, "memory_bytes": MEMORY}


def files(directory: Path) -> list[Path]:
    """All the files below it."""
    return sorted(path for path in directory.rglob("*") if path.is_file())


def in_memory(seen: LastSeen) -> list[int]:
    """The sizes of the texts that are in memory."""
    return [sys.getsizeof(sight.text) for sight in seen._texts.values() if sight.text is not None]


async def test_nothing_is_known_of_a_file_that_was_never_seen() -> None:
    seen = LastSeen(None)
    assert not seen.knows("f", "")
    assert await seen.text("f") is None


@pytest.mark.parametrize("text", ["", "one\r\n", "\udc80", chr(0xD800), "\U0001f600" * 100, "\ufeffbom"])
async def test_the_last_sight_counts(tmp_path: Path, text: str) -> None:
    seen = LastSeen(tmp_path, text_bytes=0)
    await seen.remember("f", "before")
    await seen.remember("f", text)
    assert in_memory(seen) == []
    assert seen.knows("f", text)
    assert not seen.knows("f", "before")
    assert not seen.knows("f", text + "x")
    assert not seen.knows("g", text)
    assert await seen.text("f") == text


async def test_texts_of_the_same_length_are_told_apart_by_their_digests(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, text_bytes=0)
    await seen.remember("f", "one")
    assert not seen.knows("f", "two")
    await seen.remember("f", "two")
    assert not seen.knows("f", "one")
    assert await seen.text("f") == "two"


async def test_an_ordinary_file_that_is_read_again_and_again_stays_in_memory(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path)
    for number in range(500):
        await seen.remember("f", "x" * 400_000 + str(number))
    assert len(in_memory(seen)) == 1
    assert files(tmp_path) == []
    assert repr(seen) == f"<LastSeen 1 files, {in_memory(seen)[0]} bytes in memory, <Spill 0 texts, 0 bytes>>"


async def test_a_large_text_goes_to_disk(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path)
    large = "x" * SEEN_TEXT_BYTES
    await seen.remember("f", large)
    assert in_memory(seen) == []
    assert [file.stat().st_size for file in files(tmp_path)] == [len(large)]
    assert await seen.text("f") == large


async def test_many_texts_go_to_disk_the_least_recently_used_first(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path)
    size = SEEN_MEMORY_BYTES // 8 - 100
    texts = {str(number): str(number) * size for number in range(8)}
    for path, text in texts.items():
        await seen.remember(path, text)
    assert files(tmp_path) == []
    await seen.text("0")
    await seen.remember("1", texts["1"])
    await seen.remember("8", "8" * size)
    assert [file.read_text()[0] for file in files(tmp_path)] == ["2"]
    assert [await seen.text(path) for path in texts] == list(texts.values())


async def test_the_same_text_again_is_not_written_again(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, **SMALL)
    large = "x" * TEXT
    await seen.remember("f", large)
    before = [(file, file.stat().st_ino, file.stat().st_mtime_ns) for file in files(tmp_path)]
    for _ in range(3):
        await seen.remember("f", large)
    assert [(file, file.stat().st_ino, file.stat().st_mtime_ns) for file in files(tmp_path)] == before
    assert in_memory(seen) == []
    assert await seen.text("f") == large


async def test_a_text_that_is_used_again_comes_back_into_memory(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, text_bytes=TEXT, memory_bytes=TEXT)
    await seen.remember("f", "1" * 100)
    await seen.remember("g", "2" * 100)
    (file,) = files(tmp_path)
    await seen.remember("f", "1" * 100)
    assert seen._texts["f"].text == "1" * 100
    await seen.remember("g", "2" * 100)
    assert len(files(tmp_path)) == 2, "the copy of f was good enough"
    assert file in files(tmp_path)
    assert [await seen.text(path) for path in "fg"] == ["1" * 100, "2" * 100]


async def test_without_a_directory_only_the_digest_is_left(caplog: pytest.LogCaptureFixture) -> None:
    seen = LastSeen(None, **SMALL)
    await seen.remember("f", "x" * TEXT)
    assert seen.knows("f", "x" * TEXT)
    assert not seen.knows("f", "y" * TEXT)
    assert await seen.text("f") is None
    assert caplog.records == []


async def test_a_directory_that_cannot_be_written_is_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    seen = LastSeen(tmp_path / "file" / "seen", **SMALL)
    for path in "fg":
        await seen.remember(path, path * TEXT)
        assert seen.knows(path, path * TEXT)
        assert await seen.text(path) is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


async def test_what_does_not_fit_on_disk_is_dropped(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, text_bytes=0, disk_bytes=250)
    for path in "abc":
        await seen.remember(path, path * 100)
    assert [await seen.text(path) for path in "abc"] == [None, "b" * 100, "c" * 100]
    assert seen.knows("a", "a" * 100)
    await seen.remember("a", "a" * 100)
    assert await seen.text("a") == "a" * 100


async def test_the_files_that_were_used_least_are_forgotten(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, files=2)
    for path in "aba":
        await seen.remember(path, path)
    await seen.remember("c", "c")
    assert [seen.knows(path, path) for path in "abc"] == [True, False, True]


async def test_a_moved_file_takes_its_text_along(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, text_bytes=0)
    await seen.remember("a", "text")
    await seen.remember("b", "other")
    seen.moved("a", "b")
    assert [await seen.text(path) for path in "ab"] == [None, "text"]
    seen.moved("a", "b")
    assert not seen.knows("b", "text"), "nobody knows what is there now"
    await seen.remember("b", "text")
    seen.moved("b", "b")
    assert await seen.text("b") == "text"


async def test_a_text_that_cannot_be_the_same_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = LastSeen(tmp_path, text_bytes=0)
    await seen.remember("f", "one")
    monkeypatch.delattr(last_seen, "digest")
    assert not seen.knows("f", "three")


@pytest.mark.parametrize("text", ["x", "y" * TEXT, "y" * (TEXT + 1)])
async def test_a_text_that_is_replaced_leaves_the_disk(tmp_path: Path, text: str) -> None:
    seen = LastSeen(tmp_path, **SMALL)
    await seen.remember("f", "x" * TEXT)
    await seen.remember("f", text)
    await seen.remember("g", "z" * TEXT)
    assert sorted(file.read_text()[0] for file in files(tmp_path)) == (["z"] if text == "x" else ["y", "z"])


async def test_a_forgotten_text_leaves_the_disk(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, text_bytes=0)
    await seen.remember("f", "one")
    seen.forget("f")
    assert repr(seen) == "<LastSeen 0 files, 0 bytes in memory, <Spill 0 texts, 0 bytes>>"


async def test_the_same_text_is_the_same_sight(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path)
    await seen.remember("f", "text")
    sight = seen._texts["f"]
    await seen.remember("f", "text")
    assert seen._texts["f"] is sight


@pytest.mark.parametrize(("module", "step", "written"), [(last_seen, "_digested", 0), (last_seen, "_store", 1)])
async def test_a_text_that_is_forgotten_on_its_way_to_the_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, step: str, written: int
) -> None:
    seen = LastSeen(tmp_path, text_bytes=0)
    real = getattr(module, step)

    def forget_and(*given: object) -> object:
        seen.forget("f")
        return real(*given)

    monkeypatch.setattr(module, step, forget_and)
    await seen.remember("f", "one")
    assert repr(seen) == "<LastSeen 0 files, 0 bytes in memory, <Spill 0 texts, 0 bytes>>"
    assert len(files(tmp_path)) == written, "to be removed with the next one"


async def test_two_at_once_end_with_the_later_one(tmp_path: Path) -> None:
    for texts in (["1" * 1000, "2" * 1000], ["1" * 200_000, "2"], ["1", "2" * 200_000], ["1" * 300, "1" * 300]):
        seen = LastSeen(tmp_path / "s", **SMALL)
        async with anyio.create_task_group() as group:
            for text in texts:
                group.start_soon(seen.remember, "f", text)
        assert seen.knows("f", texts[-1])
        assert await seen.text("f") == texts[-1]
        assert sum(in_memory(seen)) == seen._in_memory <= MEMORY
        seen.close()
        assert files(tmp_path) == []


async def test_it_counts_before_there_is_room_for_it(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, text_bytes=0)
    async with anyio.create_task_group() as group:
        group.start_soon(seen.remember, "f", "text")
        await anyio.lowlevel.checkpoint()
        assert seen.knows("f", "text")
        assert await seen.text("f") == "text"


async def test_a_text_that_is_replaced_while_it_is_read_is_not_given(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, text_bytes=0)
    await seen.remember("f", "old")
    found = []

    async def look() -> None:
        found.append(await seen.text("f"))

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        await anyio.lowlevel.checkpoint()
        await seen.remember("f", "new")
    assert found == ["new"]


async def test_who_is_cancelled_leaves_it_whole(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, **SMALL)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await seen.remember("f", "x" * TEXT)
    assert await seen.text("f") == "x" * TEXT
    for path in "abcde":
        await seen.remember(path, path * 100)
    assert sum(in_memory(seen)) <= MEMORY
    assert await seen.text("f") == "x" * TEXT


async def test_closing_removes_everything(tmp_path: Path) -> None:
    seen, other = LastSeen(tmp_path, text_bytes=0), LastSeen(tmp_path, text_bytes=0)
    await seen.remember("f", "one")
    await other.remember("f", "two")
    seen.close()
    assert not seen.knows("f", "one")
    assert [file.read_text() for file in files(tmp_path)] == ["two"]
    assert await other.text("f") == "two"
    other.close()
    assert os.listdir(tmp_path) == []


async def test_closing_while_a_text_goes_to_disk_leaves_nothing(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path, text_bytes=0)
    async with anyio.create_task_group() as group:
        group.start_soon(seen.remember, "f", "x" * 1_000_000)
        await anyio.lowlevel.checkpoint()
        seen.close()
    assert os.listdir(tmp_path) == []
    assert seen._in_memory == 0


async def test_what_dead_processes_left_is_removed_with_the_first_text(tmp_path: Path) -> None:
    (tmp_path / f"{10**20}-0123456789abcdef").mkdir()
    seen = LastSeen(tmp_path)
    await seen.remember("f", "one")
    assert os.listdir(tmp_path) == []
