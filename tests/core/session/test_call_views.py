"""What is told of tool calls: whose part they are, how long they took, all that there is of them, their pictures."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.acp.diff import from_texts
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.tool_call import ToolCallPatch
from acp_nvim.acp.updates import MessageChunk, ToolCallChanged
from acp_nvim.contract import events
from acp_nvim.contract.events import CallDetailsListed, CallMediaWritten
from acp_nvim.limits import FIRST_LINES, LAST_LINES
from acp_nvim.transcript.blocks import parent_of
from acp_nvim.transcript.transcript import Transcript
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

PNG = base64.b64encode(b"\x89PNG and more").decode()


class Clock:
    """Tells the time that it is given."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def tell(transcript: Transcript, call_id: str, announced: bool = True, **fields: Any) -> events.CallView:
    """Apply an update of a call; return the call as it is shown then."""
    transcript.tool_call(ToolCallChanged(ToolCallPatch(tool_call_id=call_id, **fields), announced))
    return transcript.take_stale()[-1].call


@pytest.mark.parametrize(
    ("meta", "parent"),
    [
        ({"claudeCode": {"toolName": "Read", "parentToolUseId": "toolu_1"}}, "toolu_1"),
        ({"toolName": "read_file", "parentToolCallId": "call-1", "subagentType": "explorer"}, "call-1"),
        ({"claudeCode": {"parentToolUseId": None}}, None),
        ({"parentToolCallId": ""}, None),
        ({"parentToolCallId": 7, "x": ["parentToolCallId"]}, None),
        ({}, None),
        (None, None),
    ],
)
def test_agents_say_in_their_own_ways_whose_part_a_call_is(meta: Any, parent: str | None) -> None:
    assert parent_of(meta) == parent


def test_what_is_shown_of_a_change_is_in_memory_until_the_turn_is_over() -> None:
    transcript = Transcript(1)
    [first] = tell(transcript, "a", content=[from_texts("/p/f", "old", "new")]).content
    [again] = tell(transcript, "a", title="Edit").content
    assert again is first
    transcript.begin_turn()
    [later] = tell(transcript, "a", announced=False, status="completed").content
    assert later is not first
    assert later == first


def test_a_part_knows_how_deep_it_is_and_keeps_its_parent_when_later_news_do_not_name_it() -> None:
    transcript = Transcript(1)
    assert tell(transcript, "a", title="Explore").depth == 0
    part = tell(transcript, "b", title="Read", meta={"parentToolCallId": "a"})
    assert (part.parent, part.depth, part.under) == ("a", 1, None)
    inner = tell(transcript, "c", meta={"claudeCode": {"parentToolUseId": "b"}})
    assert (inner.parent, inner.depth, inner.under) == ("b", 2, None)
    later = tell(transcript, "b", announced=False, status="completed", meta={"other": 1})
    assert (later.parent, later.depth) == ("a", 1)


def test_a_part_that_stands_elsewhere_names_its_parent() -> None:
    transcript = Transcript(1)
    tell(transcript, "a", title="Explore")
    tell(transcript, "x", title="Something else")
    assert tell(transcript, "b", meta={"parentToolCallId": "a"}).under == "Explore"
    assert tell(transcript, "c", meta={"parentToolCallId": "a"}).under is None, "below another part"
    transcript.say(MessageChunk("agent", TextContent(text="well")))
    assert tell(transcript, "d", meta={"parentToolCallId": "a"}).under == "Explore"


def test_parents_that_are_unknown_or_parts_of_their_parts_do_no_harm() -> None:
    transcript = Transcript(1)
    assert tell(transcript, "a", meta={"parentToolCallId": "nobody"}).parent is None
    assert tell(transcript, "s", meta={"parentToolCallId": "s"}).depth == 0
    tell(transcript, "x", meta={"parentToolCallId": "y"})
    assert tell(transcript, "y", meta={"parentToolCallId": "x"}).depth == 1


def test_a_duration_begins_with_the_work_and_is_told_when_somebody_waited_for_it() -> None:
    transcript = Transcript(1)
    clock = transcript.clock = Clock()
    waits = tell(transcript, "a", status="pending")
    assert (waits.started, waits.ended) == (None, None)
    clock.now = 1060
    runs = tell(transcript, "a", announced=False, status="in_progress")
    assert (runs.started, runs.ended) == (1060, None)
    clock.now = 1062.5
    done = tell(transcript, "a", announced=False, status="completed")
    assert (done.started, done.ended) == (1060, 1062.5)
    clock.now = 2000
    assert tell(transcript, "a", announced=False, title="later").ended == 1062.5
    quick = tell(transcript, "b", status="in_progress")
    clock.now = 2000.5
    quick = tell(transcript, "b", announced=False, status="failed")
    assert (quick.started, quick.ended) == (None, None)


def test_the_time_that_a_user_takes_for_an_answer_does_not_count() -> None:
    transcript = Transcript(1)
    clock = transcript.clock = Clock()
    tell(transcript, "a", status="pending")
    request = events.RequestView(1, "a", "T", "edit", [], [], [])
    asked = transcript.request(request)
    clock.now = 1500
    transcript.question_news(events.PermissionDone(session=1, block=asked.block, id=1, outcome="selected"))
    clock.now = 1502
    done = tell(transcript, "a", announced=False, status="completed")
    assert (done.started, done.ended) == (1500, 1502)
    transcript.question_news(events.PermissionDone(session=1, block=asked.block, id=1, outcome="selected"))
    assert tell(transcript, "a", announced=False, title="later").started == 1500


async def test_all_of_it_is_told_when_it_is_asked_for(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            text = "".join(f"line {n}\\n" for n in range(1000))
            prompt.tool("c", "Much", rawInput={"query": "grün"}, content=[
                {"type": "content", "content": {"type": "text", "text": text}},
                {"type": "diff", "path": "a.txt", "oldText": text, "newText": text.replace("line 5", "LINE 5")},
            ])
            prompt.tool_update("c", status="completed", rawOutput=["x"])
    """)
    await host.turn()
    text, *_diffs = host.of(events.ToolCall)[-1].call.content
    assert isinstance(text, events.TextItem)
    assert (text.text.count("\n"), text.lines) == (FIRST_LINES, 1000 - FIRST_LINES - LAST_LINES)
    assert text.tail.split("\n") == [f"line {n}" for n in range(1000 - LAST_LINES, 1000)]
    host.app.receive("call_details", {"session": 1, "block": 2})
    [details] = host.of(CallDetailsListed)
    assert (details.block, details.raw_output) == (2, '[\n  "x"\n]')
    assert details.raw_input == '{\n  "query": "grün"\n}'
    whole, diff = details.call.content
    assert isinstance(whole, events.TextItem)
    assert (whole.text.count("\n"), whole.lines) == (1000, 0)
    assert isinstance(diff, events.DiffItem)
    assert diff.new_text == whole.text.replace("line 5", "LINE 5")
    for block in (0, 1, 3):
        host.app.receive("call_details", {"session": 1, "block": block})
    assert len(host.of(CallDetailsListed)) == 1, "others are no tool calls"
    assert host.of(events.Error) == []


async def media(host: Host, place: int, directory: Path, block: int = 2) -> CallMediaWritten:
    """What comes of opening that item."""
    count = len(host.of(CallMediaWritten))
    host.app.receive(
        "call_media", {"session": 1, "block": block, "place": place, "directory": str(directory / "media")}
    )
    await host.until("an answer", lambda: len(host.of(CallMediaWritten)) > count)
    return host.of(CallMediaWritten)[-1]


def looked_at(path: str) -> tuple[str, bytes, int]:
    """The end of its name, what is in it, who may read it."""
    return Path(path).suffix, Path(path).read_bytes(), Path(path).stat().st_mode & 0o777


async def test_a_picture_becomes_a_file_and_nothing_else_does(host: Host, tmp_path: Path) -> None:
    host.script(f"""
        def turn(agent, prompt):
            def shown(data, kind, type="image"):
                return {{"type": "content", "content": {{"type": type, "data": data, "mimeType": kind}}}}
            prompt.tool("c", "Look", content=[
                shown({PNG!r}, "image/png"), shown("AAAA", "application/x-desktop"), shown("A", "audio/wav", "audio"),
                {{"type": "content", "content": {{"type": "text", "text": "words"}}}},
            ])
    """)
    await host.turn()
    told = await media(host, 0, tmp_path)
    assert told.problem is None
    assert told.path is not None
    assert looked_at(told.path) == (".png", b"\x89PNG and more", 0o600)
    told_first = told.path
    assert (await media(host, 0, tmp_path)).path == told_first, "again"
    for place, words in [(1, "application/x-desktop"), (2, "no base64"), (3, "another"), (9, "another")]:
        told = await media(host, place, tmp_path)
        assert told.path is None
        assert words in (told.problem or "")
    assert "another" in ((await media(host, 0, tmp_path, block=1)).problem or "")
    assert os.listdir(tmp_path / "media") == [os.path.basename(told_first)]
