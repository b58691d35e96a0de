"""What is written of a review can be read again, whatever the names are; what is cut off or damaged is not believed."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.review import storage
from acp_nvim.review.checkpoint_views import checkpoint_views
from acp_nvim.review.contents import is_stored
from acp_nvim.review.records import ChangeRecord
from acp_nvim.review.storage import (
    Checkpoint,
    CheckpointHead,
    CheckpointStore,
    EntryRecord,
    OpenTurn,
    ReviewStore,
    SavedReview,
)
from acp_nvim.snapshots.snapshot import Blob, Snapshot, SnapshotError
from tests.core.review.desk import running_desk

pytestmark = pytest.mark.anyio

names = st.binary(min_size=1, max_size=40).map(lambda raw: "/" + os.fsdecode(raw))
prompts = st.text(st.characters(), max_size=20) | st.binary(max_size=20).map(os.fsdecode)


def checkpoint(path: str, prompt: str = "do it") -> Checkpoint:
    return Checkpoint(
        kind="turn", agent="it", prompt=prompt, changes=[ChangeRecord(path, None, Blob("1" * 40, 0o100644))]
    )


@given(names, prompts)
def test_every_name_comes_back_byte_for_byte(path: str, prompt: str) -> None:
    one = checkpoint(path, prompt)
    line = storage.encode(one)
    assert b"\n" not in line
    assert line.isascii()
    found = storage.decode(line, Checkpoint)
    assert found == one
    assert os.fsencode(found.changes[0].path) == os.fsencode(path)


@given(names, st.data())
def test_a_part_is_not_believed(path: str, data: st.DataObject) -> None:
    line = storage.encode(msgspec.structs.replace(checkpoint(path), time=1.0))
    part = line[: data.draw(st.integers(0, len(line) - 1))]
    with pytest.raises(ValueError, match=r"."):
        storage.decode(part, Checkpoint)


@pytest.mark.parametrize(
    "line", [b"", b"[]", b"1", b"{}", b'{"version":2}', b"\0" * 9, b"[" * 100_000, b'{"version":1}']
)
def test_something_else_is_not_believed(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        storage.decode(line, Checkpoint)


async def test_lines_of_one_checkpoint_are_one_and_what_others_wrote_stays(tmp_path: Path) -> None:
    checkpoints = CheckpointStore(tmp_path)
    first = checkpoint("/a")
    file = tmp_path / "checkpoints.jsonl"
    await checkpoints.add(first)
    file.write_bytes(file.read_bytes() + b'{"version":2,"x":1}\n' + b'{"version":1,"ki')
    more = Checkpoint(
        kind="turn", agent="it", prompt="", id=first.id, changes=[ChangeRecord("/b", None, None), first.changes[0]]
    )
    await checkpoints.add(more)
    [found] = checkpoints.newest_first()
    assert {change.path for change in found.changes} == {"/a", "/b"}
    old = Checkpoint(kind="turn", agent="it", prompt="", time=0.0, changes=[])
    await checkpoints.add(old)
    assert await checkpoints.drop_old() == [old.id]
    assert b'{"version":2,"x":1}\n' in file.read_bytes()
    assert [one.id for one in checkpoints.newest_first()] == [first.id]


async def test_what_is_old_is_found_without_the_changes_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = CheckpointStore(tmp_path)
    new, old = checkpoint("/a"), Checkpoint(kind="turn", agent="it", prompt="", time=0.0, changes=[])
    for one in (old, new):
        await checkpoints.add(one)
    decoded: list[type] = []
    decode_line = storage.decode

    def decode(data: bytes, kind: type) -> object:
        decoded.append(kind)
        return decode_line(data, kind)

    monkeypatch.setattr(storage, "decode", decode)
    assert await checkpoints.drop_old() == [old.id]
    assert set(decoded) == {CheckpointHead}


async def test_of_what_is_listed_one_at_a_time_is_in_memory(tmp_path: Path) -> None:
    checkpoints = CheckpointStore(tmp_path)
    made = [checkpoint(f"/{number}", "x" * 10_000) for number in range(100)]
    for one in made:
        await checkpoints.add(one)
    tracemalloc.start()
    try:
        for one in checkpoints.newest_first():
            assert one == made.pop()
        assert tracemalloc.get_traced_memory()[1] < 300_000
    finally:
        tracemalloc.stop()
    assert not made


def test_what_was_undone_is_listed_as_that() -> None:
    kept, undone = (msgspec.structs.replace(checkpoint("/a"), kind="reject", id=name) for name in ("kept", "undone"))
    undo = msgspec.structs.replace(checkpoint("/a"), kind="restore", undoes="undone", id="undo")
    empty = msgspec.structs.replace(checkpoint("/a"), changes=[])
    shown = checkpoint_views([undo, empty, undone, kept])
    assert [(one.id, one.undo, one.is_undo) for one in shown] == [
        ("undo", False, True),
        ("undone", False, False),
        ("kept", True, False),
    ]


def test_what_is_listed_is_counted() -> None:
    changes = [ChangeRecord("/a", None, None, 3, 1), ChangeRecord("/b", None, None, 2, 2)]
    [shown] = checkpoint_views([msgspec.structs.replace(checkpoint("/a"), changes=changes)])
    assert (shown.files, shown.added, shown.removed) == (2, 5, 3)


async def test_a_write_that_fails_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = CheckpointStore(tmp_path)
    await checkpoints.add(checkpoint("/a"))
    before = (tmp_path / "checkpoints.jsonl").read_bytes()
    write, left = os.write, [30]

    def short(descriptor: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(28, "No space left on device")
        count = write(descriptor, data[: left[0]])
        left[0] -= count
        return count

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(OSError, match="No space"):
        await checkpoints.add(checkpoint("/b"))
    monkeypatch.undo()
    assert (tmp_path / "checkpoints.jsonl").read_bytes() == before
    assert [one.changes[0].path for one in checkpoints.newest_first()] == ["/a"]


async def test_an_open_turn_that_cannot_be_continued_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = ReviewStore(tmp_path), ReviewStore(tmp_path)
    entry = EntryRecord("/a", None, Blob("1" * 40, 0o100644), None)
    turn = OpenTurn("it", "do it", Snapshot("2" * 40, 1))
    await first.save(SavedReview([entry], [turn]))

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        await first.save(SavedReview([], [turn]))
    monkeypatch.undo()
    first.close()
    assert await other.take_over() == SavedReview([entry], [])
    other.close()


@pytest.mark.parametrize("oid", ["", "stat 1:2:3:4.5:6"])
def test_a_name_made_of_stat_is_no_content(oid: str) -> None:
    assert not is_stored(Blob(oid, 0o100644))


async def test_only_what_has_changed_is_written_again_and_what_failed_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_desk(tmp_path) as desk:
        workspace = desk.reviews.workspaces.at(str(desk.cwd))
        shadow, held = workspace.scanner.shadow, []
        hold = shadow.hold

        async def noting(name: str, oids: list[str], snapshots: list[Snapshot], *, whole: bool = True) -> None:
            held.append(oids)
            if len(held) == 2:
                raise SnapshotError("it is full")
            await hold(name, oids, snapshots, whole=whole)

        desk.put("f", b"one\n")
        await desk.begin_turn()
        await desk.fs_write("f", lambda text: text + "two\n")
        await desk.end_turn()
        monkeypatch.setattr(shadow, "hold", noting)
        await desk.reviews.keep()
        held.clear()
        for _ in range(3):
            await desk.reviews.keep()
        assert held == []
        desk.put("g", b"one\n")
        await desk.begin_turn()
        await desk.fs_write("g", lambda text: text + "two\n")
        held[:] = [[]]
        for _ in range(3):  # the first of them fails
            await desk.reviews.keep()
        assert len(held) == 3
        assert held[1] == held[2]
        await desk.end_turn()
