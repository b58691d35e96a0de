"""What the agent of a dead host did is found, whatever the next host notices before it has read the evidence."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from acp_nvim.review.change import Entry
from acp_nvim.review.contents import Content
from acp_nvim.snapshots.snapshot import Blob
from tests.core.review.desk import Desk, running_desk

pytestmark = pytest.mark.anyio

OLD, NEW, NEWER = b"one\ntwo\nthree\n", b"ONE\ntwo\nthree\n", b"ONE\ntwo\nTHREE\n"


async def lose_host_in_a_turn(desk: Desk, left: bytes) -> None:
    """The agent changes the open file to `left` in a turn, and the host dies before it looks."""
    await desk.begin_turn()
    await desk.reviews.keep()
    desk.put("f", left)
    await desk.lose_host()


async def test_a_buffer_that_is_judged_while_the_evidence_is_read(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", OLD)
        desk.open("f")
        await lose_host_in_a_turn(desk, NEW)
        evidence, git = desk.reviews.evidence, desk.reviews.workspaces.at(str(desk.cwd)).git
        is_judging, goes_on, made = anyio.Event(), anyio.Event(), git.made

        async def slowly(seen, is_first) -> str | None:
            is_judging.set()
            await goes_on.wait()
            return await made(seen, is_first)

        git.made = slowly
        own = len(evidence.works)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.files.disk_changed, str(desk.cwd / "f"))
            await is_judging.wait()
            tasks.start_soon(desk.reviews.open, str(desk.cwd))
            while len(evidence.works) == own:  # until the evidence is read
                await anyio.lowlevel.checkpoint()
            goes_on.set()
        assert desk.shown() == {"f": ("modify", 1, 1, None)}
        await desk.judge("reject")
        assert desk.look() == {"f": OLD}
        assert desk.text("f") == OLD.decode()


async def test_a_buffer_that_follows_before_its_review_is_read(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", OLD)
        desk.open("f")
        await desk.begin_turn()
        await desk.fs_write("f", lambda text: text.replace("one", "ONE"))
        await desk.end_turn()
        await lose_host_in_a_turn(desk, NEWER)
        tracker = desk.reviews.tracker
        take_over = tracker.take_over

        async def late(saved) -> None:
            await desk.files.disk_changed(saved.path)
            await take_over(saved)

        tracker.take_over = late
        await desk.reviews.open(str(desk.cwd))
        assert desk.shown() == {"f": ("modify", 2, 2, None)}
        await desk.judge("reject")
        assert desk.look() == {"f": OLD}
        assert desk.text("f") == OLD.decode()


def changed(*oids: str) -> Entry:
    """A file without text, changed from each to the next."""
    blobs = [Blob(oid * 40, 0o100644) for oid in oids]
    entry = Entry("/f", Content(blobs[0]))
    for blob in blobs[1:]:
        entry.apply_agent(Content(blob))
    return entry


@pytest.mark.parametrize(("later", "base"), [("23", "1"), ("43", "4")], ids=["at once", "after the user"])
def test_two_changes_of_a_binary_file_are_one(later: str, base: str) -> None:
    entry = changed("1", "2")
    entry.append(changed(*later))
    assert (entry.base, entry.current) == (Blob(base * 40, 0o100644), Blob("3" * 40, 0o100644))
