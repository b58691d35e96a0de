"""Numbers of lines that differ, and what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_nvim.snapshots import comparing
from acp_nvim.snapshots.snapshot import Blob, GoneError, Snapshot, SnapshotError
from tests.core.snapshots.workspaces import repository, shadow_of, write

pytestmark = pytest.mark.anyio

NOWHERE = "0123456789" * 4


async def test_counts(tmp_path: Path) -> None:
    async with shadow_of(repository(tmp_path / "w")) as shadow:
        texts = [b"1\n2\n3\n", b"1\nx\ny\n3\n", b"\0\1\2", b"no end", b""]
        blobs = [Blob(oid, 0o100644) for oid in await shadow.store(texts)]
        lines, changed, binary, no_end, empty = blobs
        link = Blob(no_end.oid, 0o120000)
        pairs = [(lines, changed), (None, lines), (lines, None), (lines, lines), (lines, binary), (None, None)]
        pairs += [(empty, no_end), (None, link), (lines, Blob("", 0o160000)), (lines, Blob(lines.oid, 0o100755))]
        found = await shadow.counts(pairs)
        assert found == [(2, 1), (3, 0), (0, 3), (0, 0), None, (0, 0), (1, 0), (1, 0), None, (0, 0)]
        assert await shadow.counts([]) == []


async def test_many_counts(tmp_path: Path) -> None:
    async with shadow_of(repository(tmp_path / "w")) as shadow:
        oids = await shadow.store([b"line\n" * number for number in range(1, 300)])
        found = await shadow.counts([(None, Blob(oid, 0o100644)) for oid in oids])
        assert found == [(number, 0) for number in range(1, 300)]


async def test_what_is_not_there(tmp_path: Path) -> None:
    root = repository(tmp_path / "w", file="text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        with pytest.raises(GoneError):
            await shadow.changes(Snapshot(NOWHERE, 0), first)
        with pytest.raises(GoneError):
            await shadow.counts([(None, Blob(NOWHERE, 0o100644))])
        with pytest.raises(GoneError, match=NOWHERE):
            await shadow.read([NOWHERE])


async def test_too_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "COMPARE_SECONDS", 0.0)
    root = repository(tmp_path / "w", file="text")
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        (root / "file").rename(root / "other")  # which git compares
        write(root / "other", "text, and more")
        second = await shadow.take()
        with pytest.raises(SnapshotError, match="longer than 0 s"):
            await shadow.changes(first, second)


async def test_many_renames_take_no_time(tmp_path: Path) -> None:
    """Only identical files are found among so many."""
    root = repository(tmp_path / "w", **{f"old/{number}": f"{number}\n" * 9 for number in range(600)})
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        for number in range(600):
            (root / "old" / str(number)).unlink()
            write(root / "new" / str(number), f"{number}\n" * 9 + ("edited" if number % 2 else ""))
        found = await shadow.changes(first, await shadow.take())
        assert sum(one.old_path is not None for one in found) >= 300
        assert len({one.path for one in found}) == len(found)
