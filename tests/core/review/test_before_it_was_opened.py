"""What an agent has done to a file before its buffer was heard of is the agent's, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.evidence.work import TURN_LATE_NS
from acp_nvim.file_time import now
from tests.core.review.desk import Desk, running_desk
from tests.support.waiting import wait_until

pytestmark = pytest.mark.anyio


async def test_written_on_disk_then_opened_then_written_through_us(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", b"one\ntwo\nthree\n")
        await desk.begin_turn()
        desk.put("f", b"ONE\ntwo\nthree\n")
        desk.open("f")
        await desk.fs_write("f", lambda text: text.replace("three", "THREE"))
        await desk.end_turn()
        assert desk.shown() == {"f": ("modify", 2, 2, None)}
        await desk.judge("reject")
        assert desk.text("f") == "one\ntwo\nthree\n"
        assert desk.look() == {"f": b"one\ntwo\nthree\n"}


async def command_just_before_a_write(desk: Desk, command: Callable[[], None]) -> None:
    """The agent's command does it, and ends; later the agent writes f through us, before anybody looks."""
    await desk.changes.begin("do it")
    desk.changes.work.command("it", "make", "")
    command()
    desk.changes.work.command("it", "make", "", finished=True)
    late = now() + TURN_LATE_NS
    wait_until(lambda: now() > late)
    await desk.fs_write("f", lambda text: text.replace("three", "THREE") or "ONE\n")
    (entry,) = desk.reviews.ledger.entries.values()
    assert entry.verdict.by == "agent", entry.verdict
    await desk.end_turn()


async def test_what_a_command_did_just_before_the_agent_writes_the_file(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", b"one\ntwo\nthree\n")
        await command_just_before_a_write(desk, lambda: desk.put("f", b"ONE\ntwo\nthree\n"))
        assert desk.shown() == {"f": ("modify", 2, 2, None)}
        await desk.judge("reject")
        assert desk.look() == {"f": b"one\ntwo\nthree\n"}


async def test_what_a_command_removed_just_before_the_agent_writes_the_file(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", b"one\ntwo\nthree\n")
        await command_just_before_a_write(desk, (desk.cwd / "f").unlink)
        assert desk.shown() == {"f": ("modify", 1, 3, None)}
        await desk.judge("reject")
        assert desk.look() == {"f": b"one\ntwo\nthree\n"}


async def test_what_a_command_removed_just_before_a_tool_call_names_the_file(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", b"one\ntwo\nthree\n")
        await desk.begin_turn()
        (desk.cwd / "f").unlink()
        desk.changes.named.add([(str(desk.cwd / "f"), None)])
        await desk.changes.named.known()
        desk.put("f", b"ONE\n")
        await desk.changes.named.scan()  # what a scan does last; its snapshot was older than all this
        await desk.end_turn()
        assert desk.shown() == {"f": ("modify", 1, 3, None)}
        await desk.judge("reject")
        assert desk.look() == {"f": b"one\ntwo\nthree\n"}


async def test_unsaved_edits_of_an_opened_file_stay_the_users(tmp_path: Path) -> None:
    async with running_desk(tmp_path) as desk:
        desk.put("f", b"one\ntwo\nthree\n")
        await desk.begin_turn()
        desk.open("f")
        await desk.type("f", "one\nmine\nthree\n", is_told=False)
        await desk.fs_write("f", lambda text: text.replace("three", "THREE"))
        await desk.end_turn()
        await desk.judge("reject")
        assert desk.text("f") == "one\nmine\nthree\n"
