"""What an agent sends too much of is counted where it would stand, and nothing grows without end."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest

from acp_nvim.acp.answers import PermissionAsked
from acp_nvim.acp.diff import FileChange
from acp_nvim.acp.field_limits import CONTENT_ITEMS
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.terminal import TerminalPatch
from acp_nvim.acp.tool_call import Location, Shown, ToolCall, ToolCallPatch
from acp_nvim.acp.updates import (
    MessageChunk,
    MessageReplaced,
    PlanEntry,
    PlanReplaced,
    TerminalChanged,
    ToolCallChanged,
    ToolCallContentAdded,
)
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.acp.v2 import DialectV2
from acp_nvim.connection import router
from acp_nvim.contract import events
from acp_nvim.permissions.request import subject
from acp_nvim.permissions.rules import Wanted
from acp_nvim.transcript import terminal_registry, tool_calls, transcript, truncation
from acp_nvim.transcript.terminal_registry import TerminalRegistry
from acp_nvim.transcript.transcript import Transcript
from acp_nvim.transcript.views import PLAN_CHARS
from acp_nvim.workspace.roots import Roots
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio


async def test_a_plan_and_places_are_cut_and_counted(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            step = {"content": "step", "priority": "low", "status": "pending"}
            prompt.update("plan", entries=[step] * 20_000)
            prompt.tool("c", "Search", kind="search", locations=[{"path": "/a"}] * 12_000)
            content = [{"type": "content", "content": {"type": "text", "text": "x"}}] * 1500
            prompt.tool_update("c", content=content)
    """)
    await host.turn()
    [plan] = host.of(events.Plan)
    assert (len(plan.entries), plan.left) == (500, 19_500)
    [call] = host.calls().values()
    assert (len(call.locations), call.locations_left) == (500, 11_500)
    assert call.content[-1] == events.OtherItem("… and 500 more items")


async def test_commands_that_are_not_kept_are_told_once(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            command = {"name": "c", "description": "d"}
            for _ in range(2):
                prompt.update("available_commands_update", availableCommands=[command] * 2500)
    """)
    await host.turn()
    assert [text for text in host.notices() if "slash commands" in text] == [
        "The agent lists more slash commands than acp_nvim keeps: … and 500 more"
    ]


def test_items_that_come_one_by_one_are_counted_too() -> None:
    said = Transcript(1)
    for _ in range(CONTENT_ITEMS + 7):
        said.add_content(ToolCallContentAdded("c", Shown(TextContent(text="x"))))
    [event] = said.take_stale()
    assert event.call.content[-1] == events.OtherItem("… and 7 more items")


def say(said: Transcript, text: str, message_id: str | None = None) -> Any:
    """Let the agent send a piece of text."""
    return said.say(MessageChunk("agent", TextContent(text=text), message_id))


def test_ids_of_messages_do_not_make_blocks_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_calls, "TURN_BLOCKS", 5)
    said = Transcript(1)
    told = [say(said, f"text {number}", f"m{number}") for number in range(50)]
    assert len(said) == 5
    assert {one.block for one in told[4:]} == {5}  # nothing is lost
    assert not said.has_room("new")
    said.begin_turn()
    assert said.has_room("new")


async def test_ids_of_tool_calls_do_not_make_blocks_without_end(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_calls, "TURN_BLOCKS", 20)
    host.script("""
        def turn(agent, prompt):
            for number in range(100):
                prompt.tool(f"c{number}", "call", status="pending")
            prompt.tool_update("c1", status="completed")
    """)
    await host.turn()
    calls = host.calls()
    assert len(calls) < 25
    assert sum("tool calls and messages in one turn" in text for text in host.notices()) == 1
    assert [call.status for call in calls.values() if call.id == "c1"] == ["completed"]


def test_plans_of_a_turn_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "TURN_PLANS", 3)
    said = Transcript(1)
    assert [said.plan(PlanReplaced([], f"p{number}")) is None for number in range(5)] == [False] * 3 + [True] * 2
    assert said.plan(PlanReplaced([], "p1")) is not None
    said.begin_turn()
    assert said.plan(PlanReplaced([], "p9")) is not None


@pytest.mark.parametrize("message_ids", [[None] * 10, [f"m{number}" for number in range(10)]])
def test_messages_of_a_turn_do_not_grow_without_end(
    monkeypatch: pytest.MonkeyPatch, message_ids: list[str | None]
) -> None:
    monkeypatch.setattr(truncation, "TURN_TEXT_BYTES", 100)
    said = Transcript(1)

    def told() -> str:
        chunks = [MessageChunk("agent", TextContent(text="é" * 15), message_id) for message_id in message_ids]
        return "".join(event.text for event in map(said.say, chunks) if event is not None)

    assert told() == "é" * 55 + truncation.TOO_LONG
    kept = [said.message(number) for number in range(1, len(said) + 1)]
    assert "".join(one[1].decode() for one in kept if one is not None) == "é" * 55 + truncation.TOO_LONG
    assert told() == ""
    prompt = said.say(MessageChunk("user", TextContent(text="a prompt")), ours=True)
    assert prompt is not None
    assert prompt.text == "a prompt"
    said.begin_turn(prompted=False)
    assert told() == ""
    said.begin_turn()
    assert told().startswith("é")


def test_a_message_that_is_replaced_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truncation, "TURN_TEXT_BYTES", 100)
    said = Transcript(1)
    for _ in range(10):
        event = said.replace_message(MessageReplaced("agent", "m", [TextContent(text="x" * 60)]))
        assert event is not None
        assert event.text == "x" * 60
    more = [said.replace_message(MessageReplaced("agent", f"n{n}", [TextContent(text="y" * 60)])) for n in range(3)]
    assert [one and one.text for one in more] == ["y" * 40 + truncation.TOO_LONG, None, None]


def test_terminals_that_an_agent_makes_up_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_registry, "KNOWN_TERMINALS", 3)
    known = TerminalRegistry(1)
    for number in range(10):
        known.take(TerminalChanged(TerminalPatch(terminal_id=f"t{number}", output=b"x" * 100)))
    assert repr(known) == "<TerminalRegistry 3, 300 bytes, opened: []>"
    assert known.get("t1").number == 2


@pytest.mark.parametrize("left", [{"locations_left": 1}, {"content_left": 1}, {"lacks_input": True}])
def test_no_rule_says_anything_of_a_call_of_which_a_part_is_unknown(left: dict[str, Any], tmp_path: Any) -> None:
    where = subject.SessionPaths("demo", str(tmp_path), Roots([str(tmp_path)]))
    asked = PermissionAsked(options=[], tool_call_id="c")

    def wanted(**more: Any) -> Wanted:
        call = ToolCall(tool_call_id="c", kind="edit", locations=[Location("tests/a.py")], **more)
        return subject.of_permission(asked, call, (), where)

    assert not wanted().strange
    assert wanted(**left).strange


def test_news_of_a_call_that_are_whole_make_it_whole() -> None:
    call = ToolCall(tool_call_id="c")
    call.apply(ToolCallPatch(tool_call_id="c", locations=[], locations_left=7))
    assert call.incomplete
    call.apply(ToolCallPatch(tool_call_id="c", title="t"))
    assert call.incomplete
    call.apply(ToolCallPatch(tool_call_id="c", locations=[], locations_left=0))
    assert not call.incomplete


@pytest.mark.parametrize("dialect", [DialectV1(), DialectV2()])
def test_a_change_that_is_too_large_has_a_note(dialect: Any) -> None:
    text = "x" * 2_500_000
    content = [{"type": "diff", "path": "/f", "oldText": "", "newText": text}]
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content}
    _, said = dialect.update(msgspec.Raw(msgspec.json.encode({"sessionId": "s", "update": update})))
    assert isinstance(said, ToolCallChanged)
    [item] = said.patch.content
    note = "a change of 2,500,000 characters is too large to be shown"
    assert item.changes == (FileChange(path="/f", note=note),)


def test_what_waits_for_a_session_that_nobody_knows_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(router, "EARLY_BYTES", 10_000)
    taken = router.MessageRouter("it")
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x" * 1000}}
    params = msgspec.Raw(msgspec.json.encode({"sessionId": "s", "update": update}))
    for _ in range(100):
        taken.notification("session/update", params)
        taken.flush()
    assert 0 < sum(map(len, taken._early.values())) < 10


def test_texts_of_tool_calls_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_calls, "CALLS_BYTES", 1000)
    said = Transcript(1)
    for number in range(10):
        patch = ToolCallPatch(tool_call_id=f"c{number}", title="t", status="completed", raw_output="x" * 300, size=300)
        patch.content = [Shown(TextContent(text="x"))]
        said.tool_call(ToolCallChanged(patch, announced=True))
    calls = [said.call(f"c{number}") for number in range(10)]
    assert [call is not None and call.raw_output is not None for call in calls] == [False] * 7 + [True] * 3
    assert calls[0] is not None
    assert (calls[0].title, calls[0].content, calls[0].content_left) == ("t", [], 1)


def test_no_rule_matches_a_call_that_waits_and_whose_input_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_calls, "CALLS_BYTES", 1000)
    said = Transcript(1)
    for number in range(10):
        patch = ToolCallPatch(tool_call_id=f"c{number}", status="pending", raw_input="x" * 300, size=300)
        said.tool_call(ToolCallChanged(patch, announced=True))
    first, last = said.call("c0"), said.call("c9")
    assert first is not None
    assert last is not None
    assert (first.incomplete, last.incomplete) == (True, False)


def test_what_is_kept_counts_as_it_is_in_memory() -> None:
    update = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "rawInput": [{"a": 1}] * 1000}
    params = msgspec.Raw(msgspec.json.encode({"sessionId": "s", "update": update}))
    taken = router.MessageRouter("it")
    taken.notification("session/update", params)
    taken.flush()
    [said] = taken._early["s"]
    assert isinstance(said, ToolCallChanged)
    in_memory = sum(sys.getsizeof(one) + sys.getsizeof({}) for one in said.patch.raw_input)
    assert in_memory / 2 < said.patch.size < in_memory * 2


def test_an_old_call_keeps_the_beginnings_of_its_title_and_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_calls, "CALLS_BYTES", 1000)
    said = Transcript(1)
    for number in range(2):
        patch = ToolCallPatch(tool_call_id=f"c{number}", title="t" * 500, size=900)
        patch.locations = [Location("/f", line) for line in range(50)]
        said.tool_call(ToolCallChanged(patch, announced=True))
    old, new = said.call("c0"), said.call("c1")
    assert old is not None
    assert new is not None
    assert (len(old.title), len(old.locations), old.locations_left) == (200, 10, 40)
    assert old.lacks_input  # its title may have named a command
    assert (len(new.title), len(new.locations), new.incomplete) == (500, 50, False)


def test_what_the_editor_is_told_of_the_calls_of_a_turn_does_not_grow_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool_calls, "TOLD_CALLS_BYTES", 20_000)
    said = Transcript(1)

    def tell(number: int) -> events.CallView:
        patch = ToolCallPatch(tool_call_id=f"c{number}", title="t" * 5000, locations=[Location("/f", 1)] * 10)
        patch.content = [Shown(TextContent(text=f"{number}"))] * 3
        said.tool_call(ToolCallChanged(patch, announced=True))
        [event] = said.take_stale()
        return event.call

    told = [tell(number) for number in range(10)]
    assert [len(one.locations) for one in told] == [10, 10, 1, 1, 1, 1, 1, 1, 1, 1]
    assert (len(told[0].title), told[0].locations_left, len(told[0].content)) == (4000, 0, 3)
    assert (len(told[9].title), told[9].locations_left) == (200, 9)
    assert told[9].content == [events.OtherItem("… 3 items, not shown here: the turn has too many")]
    said.begin_turn()
    assert len(tell(10).content) == 3


def test_steps_of_a_plan_have_equal_shares_of_what_is_told_at_once() -> None:
    def told(length: int) -> list[int]:
        entries = [PlanEntry("x" * length, "pending", "low") for _ in range(100)]
        event = Transcript(1).plan(PlanReplaced(entries, "p"))
        assert event is not None
        return [len(step.content) for step in event.entries]

    assert told(650) == [650] * 100
    assert told(16_000) == [PLAN_CHARS // 100] * 100
