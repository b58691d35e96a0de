"""The identity of a tool call is its id within its turn: many agents count from 1 in each turn, live and replayed."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.terminal import Exit, TerminalPatch
from acp_nvim.acp.tool_call import TerminalShown, ToolCallPatch
from acp_nvim.acp.updates import (
    MessageChunk,
    PlanEntry,
    PlanReplaced,
    TerminalChanged,
    TerminalPrinted,
    ToolCallChanged,
)
from acp_nvim.contract import events
from acp_nvim.contract.review_events import Preview, Summary
from acp_nvim.prompt.prompt import Prompt
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.transcript.transcript import TURN_PLANS, Transcript
from tests.core.session.host import Host
from tests.core.session.test_grants import LINE, named, session
from tests.support.fake_editor import FakeEditor

pytestmark = pytest.mark.anyio

TURN: Final = "a turn"
"""Stands for the beginning of the next turn."""


def announced(title: str, status: str | None = None, **fields: Any) -> tuple[str, dict[str, Any]]:
    """Return an update that announces a call."""
    return "tool_call", {"title": title, **({} if status is None else {"status": status}), **fields}


def updated(status: str | None = None, **fields: Any) -> tuple[str, dict[str, Any]]:
    """Return an update of an announced call."""
    return "tool_call_update", {**({} if status is None else {"status": status}), **fields}


def asked(**fields: Any) -> tuple[str, dict[str, Any]]:
    """The part of a permission request."""
    return "ask", fields


RM: Final = {"command": "rm -rf cache"}
LS: Final = {"command": "ls"}
CASES: Final[dict[str, tuple[list[Any], list[tuple[str, str]]]]] = {
    "replaced by another kind": (
        [announced("rm -rf cache", "completed", kind="execute"), announced("Read README.md", kind="read")],
        [("rm -rf cache", "completed"), ("Read README.md", "pending")],
    ),
    "replaced by another kind of the same title": (
        [announced("main.py", "completed", kind="read"), announced("main.py", kind="edit")],
        [("main.py", "completed"), ("main.py", "pending")],
    ),
    "replaced by another input": (
        [announced("Shell", "failed", raw_input=RM), announced("Shell", "in_progress", raw_input=LS)],
        [("Shell", "failed"), ("Shell", "in_progress")],
    ),
    "replaced by a longer command": (
        [announced("Shell", "completed", raw_input=LS), announced("Shell", raw_input={"command": "ls -la"})],
        [("Shell", "completed"), ("Shell", "pending")],
    ),
    "replaced at its end": (
        [announced("one", "completed"), announced("two", "completed")],
        [("one", "completed"), ("two", "completed")],
    ),
    "announced again with more": (
        [announced("ls", raw_input=LS), updated("completed"), announced("ls", "completed", kind="execute")],
        [("ls", "completed")],
    ),
    "announced again with a member more": (
        [announced("ls", "completed", raw_input=LS), announced("ls", "completed", raw_input={**LS, "cwd": "/"})],
        [("ls", "completed")],
    ),
    "announced again with another title before its end": (
        [announced("Terminal", kind="execute", raw_input={}), announced("`ls`", kind="execute", raw_input=LS)],
        [("`ls`", "pending")],
    ),
    "another title of the same input": (
        [announced("Terminal", "completed", raw_input=LS), announced("`ls`", "completed", raw_input=LS)],
        [("`ls`", "completed")],
    ),
    "an end that is told again": (
        [announced("ls", "completed", raw_input=LS), updated("completed", title="ls: 3 files", raw_output="a b c")],
        [("ls: 3 files", "completed")],
    ),
    "an end that comes with another input": (  # as opencode's after a cancel
        [announced("edit", kind="edit", raw_input=LS), updated("cancelled"), updated("failed", raw_input=RM)],
        [("edit", "failed")],
    ),
    "the same call in the next turn": (
        [announced("make", "completed", raw_input=LS), TURN, announced("make", raw_input=LS)],
        [("make", "completed"), ("make", "pending")],
    ),
    "left open, and another one in the next turn": (
        [announced("make", "in_progress"), TURN, announced("Read", "completed")],
        [("make", "in_progress"), ("Read", "completed")],
    ),
    "a late end in the next turn": (
        [announced("make", "in_progress"), TURN, updated("completed", title="make: done", kind="execute")],
        [("make: done", "completed")],
    ),
    "a late end is that of the newest call": (
        [announced("make"), updated("unfinished"), TURN, announced("Read", "completed"), updated("failed")],
        [("make", "unfinished"), ("Read", "failed")],
    ),
    "cancelled, and never opened again by what is announced": (
        [announced("make"), updated("cancelled"), TURN, announced("make", "in_progress"), updated("completed")],
        [("make", "cancelled"), ("make", "completed")],
    ),
    "an agent that announces none": (
        [updated("completed", title="rm", raw_input=RM), TURN, updated("in_progress", title="ls", raw_input=LS)],
        [("rm", "completed"), ("ls", "in_progress")],
    ),
    "an agent that announces none, and repeats itself": (
        [updated("completed", title="ls", raw_input=LS), TURN, updated("pending", title="ls", raw_input=LS)],
        [("ls", "completed"), ("ls", "pending")],
    ),
    "an agent that announces none, whose call goes on": (
        [updated("in_progress", title="make"), updated("unfinished"), TURN, updated("in_progress", title="make")],
        [("make", "in_progress")],
    ),
    "news of an old call of an agent that announces its calls": (
        [announced("make", raw_input=LS), updated("completed"), TURN, updated("in_progress", raw_input=RM)],
        [("make", "in_progress")],
    ),
    "a request for a call that has ended": (
        [announced("ls", "completed", kind="execute"), asked(title="rm -rf cache", kind="execute")],
        [("ls", "completed"), ("rm -rf cache", "pending")],
    ),
    "a request for a call that the user has cancelled": (
        [announced("edit", raw_input=LS), "closed", asked(title="main.py", raw_input=RM)],
        [("main.py", "cancelled")],
    ),
    "a request in the next turn": (
        [announced("ls", "completed", raw_input=LS), TURN, asked(title="ls", raw_input=LS)],
        [("ls", "completed"), ("ls", "pending")],
    ),
    "a request that says nothing of its call": (
        [announced("ls", "completed", raw_input=LS), TURN, asked()],
        [("ls", "completed")],
    ),
}


@pytest.mark.parametrize(("steps", "expected"), CASES.values(), ids=list(CASES))
def test_which_call_it_is(steps: list[Any], expected: list[tuple[str, str]]) -> None:
    transcript = Transcript(1)
    for step in steps:
        if step == TURN:
            transcript.begin_turn()
            continue
        if step == "closed":
            [open_one] = transcript.unfinished()
            transcript.tool_call(ToolCallChanged(ToolCallPatch(tool_call_id="call_1", status="cancelled")))
            open_one.was_closed = True
            continue
        what, fields = step
        patch = ToolCallPatch(tool_call_id="call_1", **fields)
        transcript.tool_call(ToolCallChanged(patch, announced=what == "tool_call", asks=what == "ask"))
    calls = [block.call for number in range(len(transcript)) if (block := transcript.call_block(number + 1))]
    assert [(call.title, call.status) for call in calls] == expected
    assert len({call.key for call in calls}) == len(calls)


def test_new_calls_of_one_id_are_bounded_too() -> None:
    transcript = Transcript(1)
    transcript.tool_call(ToolCallChanged(ToolCallPatch(tool_call_id="c", title="none", status="completed")))
    while not transcript.is_full:
        transcript.notice("info", "more")
    for title in ("one", "two"):
        changed = ToolCallChanged(ToolCallPatch(tool_call_id="c", title=title, status="completed"), announced=True)
        assert not transcript.has_room("c", changed)
    assert transcript.has_room("c", ToolCallChanged(ToolCallPatch(tool_call_id="c", status="failed")))


def test_a_subagents_calls_stay_below_the_call_that_they_belong_to() -> None:
    transcript = Transcript(1)

    def told(call_id: str, **fields: Any) -> events.CallView:
        transcript.tool_call(ToolCallChanged(ToolCallPatch(tool_call_id=call_id, **fields), announced=True))
        return transcript.take_stale()[-1].call

    told("1", title="Task", status="completed")
    told("2", title="Elsewhere", status="completed")
    assert told("3", title="Grep", meta={"parentToolCallId": "1"}).under == "Task"
    transcript.begin_turn()
    told("1", title="Read", status="completed")
    calls = [event.call for event in transcript.replay() if isinstance(event, events.ToolCall)]
    assert [call.under for call in calls] == [None, None, "Task", None]


def test_a_terminal_that_has_ended_shows_nothing_of_the_next_call() -> None:
    """Agents often give a terminal the id of its call, or count terminals in each turn, too."""
    for terminal_id, has_ended in (("1", True), ("1", False), ("t", True)):
        transcript = Transcript(1)
        for words in ("first\n", "second\n"):
            patch = ToolCallPatch(tool_call_id="1", title=words, content=[TerminalShown(terminal_id)])
            transcript.tool_call(ToolCallChanged(patch, announced=True))
            transcript.terminal(TerminalPrinted(terminal_id, words.encode()))
            if has_ended:
                transcript.terminal(TerminalChanged(TerminalPatch(terminal_id=terminal_id, exit=Exit(0, None))))
            transcript.tool_call(ToolCallChanged(ToolCallPatch(tool_call_id="1", status="completed")))
        shown = [event.call.content for event in transcript.replay() if isinstance(event, events.ToolCall)]
        outputs = [one.output for items in shown for one in items if isinstance(one, events.TerminalItem)]
        assert outputs == ["first", "second"], (terminal_id, has_ended)


def test_a_prompt_into_a_running_turn_lets_ids_be_used_again_but_those_of_open_calls() -> None:
    editor = FakeEditor()
    presenter = Presenter(1, "/", editor, lambda: None)
    for text in ("go", "and more"):
        presenter.prompt(Prompt(text))
        for call_id, status in (("1", "completed"), ("2", "in_progress")):
            patch = ToolCallPatch(tool_call_id=call_id, title="make", status=status)
            presenter.update(ToolCallChanged(patch, announced=True))
    presenter.caught_up()
    shown = {event.block: (event.call.id, event.call.status) for event in editor.all(events.ToolCall)}
    assert list(shown.values()) == [("1", "completed"), ("2", "in_progress"), ("1", "completed")]


def test_each_turn_of_a_replay_may_have_its_plans() -> None:
    editor = FakeEditor()
    presenter = Presenter(1, "/", editor, lambda: None)
    presenter.is_replaying = lambda: True
    for number in range(TURN_PLANS + 5):
        presenter.update(MessageChunk("user", TextContent(text=f"{number}")))
        presenter.update(PlanReplaced([PlanEntry(f"{number}")]))
    assert len({plan.block for plan in editor.all(events.Plan)}) == TURN_PLANS + 5


# --- in a replay -----------------------------------------------------------------------------------------------------

REPLAYS = """
    INITIALIZE = {"agentCapabilities": {"loadSession": True}}

    def say(agent, kind, /, **fields):
        agent.update("old", {"sessionUpdate": kind, **fields})

    def words(agent, kind, text):
        say(agent, kind, content={"type": "text", "text": text})

    def session_load(agent, request):
        for number, (text, title, kind, status) in enumerate(TURNS):
            words(agent, "user_message_chunk", text)
            words(agent, "user_message_chunk", "!")
            say(agent, "plan", entries=[{"content": text, "status": "completed", "priority": "low"}])
            say(agent, "tool_call", toolCallId="call_1", title=title, kind=kind, status=status)
            if number % 2 == 0:
                words(agent, "agent_message_chunk", "did it")
        return {}

    def turn(agent, prompt):
        prompt.tool("call_1", "live", status="completed")
"""


async def test_each_turn_of_a_replay_has_its_own_calls(host: Host) -> None:
    turns = [
        ("tidy up", "rm -rf cache", "execute", "completed"),
        ("look", "Read README.md", "read", "completed"),
        ("look again", "Read README.md", "read", "completed"),
        ("go on", "make", "execute", "in_progress"),
        ("well?", "make", "execute", "in_progress"),
    ]
    host.script(f"TURNS = {turns!r}\n" + "\n".join(line.removeprefix("    ") for line in REPLAYS.splitlines()))
    host.app.receive("resume", {"session": 1, "agent": "it", "cwd": str(host.cwd), "session_id": "old", "how": "load"})
    await host.until_state("idle")
    await host.turn("now")
    shown: dict[int, str] = {}
    for event in host.editor.events:
        if isinstance(event, events.Append) and event.kind == "user":
            shown[event.block] = shown.get(event.block, "") + event.text
        elif isinstance(event, events.ToolCall):
            shown[event.block] = f"{event.call.title}: {event.call.status}"
        elif isinstance(event, events.Plan):
            shown[event.block] = f"plan: {event.entries[0].content}"
    assert [shown[block] for block in sorted(shown)] == [
        *("tidy up!", "plan: tidy up", "rm -rf cache: completed"),
        *("look!", "plan: look", "Read README.md: completed"),
        *("look again!", "plan: look again", "Read README.md: completed"),
        *("go on!", "plan: go on", "make: unfinished"),
        *("well?!", "plan: well?", "make: unfinished"),
        *("now", "live: completed"),
    ]


# --- what the calls of one id are taken for --------------------------------------------------------------------------


async def test_a_request_shows_the_input_of_its_own_call_and_another_has_no_grant(tmp_path: Path) -> None:
    async with session(tmp_path) as agent:
        await agent.ask(named(LINE), "once")
        await agent.update({"status": "completed"})
        await agent.update(named("echo other"), what="tool_call")
        view = await agent.ask(named("echo other"), None)
        assert view.command == "echo other"
        assert len({event.block for event in agent.host.of(events.ToolCall)}) == 2
        assert await agent.run(command=LINE) == "asked"
        await agent.answer(view, "once")
        assert await agent.run(command="echo other") == "ran"


PREVIEW = """
    def diff(name, old, new):
        return {"type": "diff", "path": os.path.abspath(name), "oldText": old, "newText": new}

    def turn(agent, prompt):
        first = agent.call("session/request_permission", {"sessionId": prompt.session_id, "options": OPTIONS,
            "toolCall": {"toolCallId": "1", "title": "one", "kind": "edit", "content": [diff("f", "a", "b")]}})
        prompt.tool_update("1", status="failed")
        prompt.tool("1", "two", kind="edit", content=[diff("g", "a", "c")], status="in_progress")
        prompt.say("told")
        first.result()
        prompt.tool("2", "three", kind="edit", status="in_progress")

    OPTIONS = [{"optionId": "no", "name": "No", "kind": "reject_once"}]
"""


async def test_a_request_that_waits_is_about_the_call_that_it_was_made_for(host: Host) -> None:
    """It does not get the preview of the next call, nor is it rejected with that call."""
    for name in "fg":
        (host.cwd / name).write_text("a\n")
    host.script(PREVIEW)
    host.open()
    host.prompt("go")
    await host.until("the second call", lambda: "told" in host.text())
    await host.editor.until_event(Preview, 1)
    host.answer(host.of(events.Permission)[0].request.id, "no")
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd))
    assert {os.path.basename(one.path) for one in host.of(Preview)} == {"f"}
    closed = {call.title: call.status for call in host.calls().values()}
    assert closed == {"one": "failed", "two": "unfinished", "three": "unfinished"}


WORKS = """
    def turn(agent, prompt):
        if prompt.text == "write":
            for name in ("a", "b"):
                open(name, "w").write(name)
                places = [{"path": os.path.abspath(name)}]
                prompt.tool("1", f"Write {name}", kind="edit", locations=places, status="completed")
        elif prompt.text == "begin":
            prompt.tool("1", "make c", kind="execute", rawInput={"command": "make c"}, status="in_progress")
            open("c", "w").write("made")
            prompt.tool_update("1", status="completed")
        else:
            os.system("echo made > d")
            prompt.tool("1", "make d", kind="execute", rawInput={"command": "make d"}, status="completed")
"""


def has_summaries(host: Host, count: int) -> bool:
    """Whether so many turns are summed up."""
    return len(host.of(Summary)) == count


async def test_each_call_of_one_id_is_evidence_of_its_own(host: Host) -> None:
    host.script(WORKS)
    expected = [
        ("write", {"a": ("agent", "by `Write a`"), "b": ("agent", "by `Write b`")}),
        ("begin", {"c": ("agent", "by `make c`")}),
        ("end", {"d": ("agent", "by `make d`")}),
    ]
    for number, (text, files) in enumerate(expected, 1):
        await host.turn(text)
        await host.until("the summary", partial(has_summaries, host, number))
        changed = host.of(Summary)[-1].files
        assert {os.path.basename(one.path): (one.by, one.why) for one in changed} == files
    assert [call.title for call in host.calls().values()] == ["Write a", "Write b", "make c", "make d"]
