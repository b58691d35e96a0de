"""States of files that end while a scan runs: the next scan does not take them for what was there before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.snapshots.snapshot import Snapshot
from tests.core.review.desk import Desk, running_desk

pytestmark = pytest.mark.anyio


async def look_around(desk: Desk, monkeypatch: pytest.MonkeyPatch, then: Callable[[], object]) -> None:
    """A scan; `then` happens after its snapshot, before anything of it is entered."""
    [workspace] = desk.reviews.workspaces.all.values()
    shadow = workspace.scanner.shadow
    take = shadow.take

    async def taken(past: Snapshot | None, *, again: bool) -> Snapshot:
        found = await take(past, again=again)
        then()
        return found

    with monkeypatch.context() as patched:
        patched.setattr("acp_nvim.snapshots.shadow.RETAKE_NS", 0)  # names change all the time
        patched.setattr(shadow, "take", taken)
        await desk.look_around()


@pytest.mark.parametrize("mode", [0o600, 0o644])
async def test_a_temporary_file_that_was_seen_once_is_no_deletion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", b"a\n")
        await desk.begin_turn()
        desk.put("sedxyz", b"b\n")
        (desk.cwd / "sedxyz").chmod(mode)
        await look_around(desk, monkeypatch, lambda: (desk.cwd / "sedxyz").replace(desk.cwd / "f"))
        await desk.look_around()
        assert desk.shown() == {"f": ("modify", 1, 1, None)}
        await desk.end_turn()
        assert desk.shown() == {"f": ("modify", 1, 1, None)}


async def test_a_text_that_was_taken_back_at_once_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", b"a\n")
        await desk.begin_turn()
        desk.put("f", b"b\n")
        await look_around(desk, monkeypatch, lambda: desk.put("f", b"a\n"))
        await desk.look_around()
        assert desk.shown() == {}
        await desk.end_turn()
        assert desk.shown() == {}


async def test_a_file_that_a_call_names_first_after_the_snapshot_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", b"a\n")
        await desk.begin_turn()

        def write() -> None:
            desk.put("new", b"b\n")
            desk.changes.named.add([(str(desk.cwd / "new"), None)])

        scan = desk.changes.named.scan

        async def scanned() -> None:
            await desk.changes.named.known()
            await scan()

        monkeypatch.setattr(desk.changes.named, "scan", scanned)
        await look_around(desk, monkeypatch, write)
        await desk.look_around()
        assert desk.shown() == {"new": ("add", 1, 0, None)}
        await desk.end_turn()
        assert desk.shown() == {"new": ("add", 1, 0, None)}
