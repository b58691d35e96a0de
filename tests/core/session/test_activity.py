"""What a session's status says that its agent does, and since when; how often it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.acp.updates import ToolCallChanged
from acp_nvim.contract import events
from acp_nvim.transcript.metadata import Activity
from acp_nvim.transcript.presenter import Presenter
from tests.core.session.host import Host
from tests.support.fake_editor import FakeEditor

STATUS = events.StatusView("it", "it", "running", "/", 0, 0)


def call(call_id: str, status: str = "pending", **more: Any) -> ToolCall:
    return ToolCall(tool_call_id=call_id, status=status, **{"title": f"Run {call_id}", **more})


def test_what_began_last_is_what_it_does() -> None:
    activity = Activity()
    activity.begin()
    steps = [
        activity.speak("thought"),
        activity.call(call("a")),
        activity.call(call("a", "in_progress")),
        activity.call(call("b")),
        activity.speak("agent"),
        activity.call(call("a", "in_progress")),
        activity.call(call("c")),
        activity.call(call("c", "completed")),
        activity.call(call("b", "failed")),
        activity.call(call("a", "completed")),
    ]
    assert steps == [True, True, False, True, True, False, True, True, True, True]
    assert activity.words is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"title": "ls\nrm"}, "ls"),
        ({"title": " \n x"}, "x"),
        ({"title": "y" * 999}, "y" * 200),
        ({"title": "", "name": "grep"}, "grep"),
        ({"title": "", "kind": "edit"}, "edit"),
    ],
)
def test_a_tool_call_is_named_in_one_line(given: dict[str, Any], words: str) -> None:
    activity = Activity()
    activity.begin()
    activity.call(call("a", **given))
    assert activity.words == words


def test_a_title_that_comes_later_is_told() -> None:
    activity = Activity()
    activity.begin()
    activity.call(call("a", title="Terminal"))
    assert activity.call(call("a", title="make test"))
    assert not activity.call(call("a", "in_progress", title="make test"))
    assert activity.words == "make test"


def test_between_turns_nothing_is_done() -> None:
    activity = Activity()
    assert not activity.speak("agent")
    assert not activity.call(call("a"))
    activity.begin()
    assert activity.words is None
    activity.speak("user")
    assert activity.words is None
    activity.speak("agent")
    activity.end()
    assert (activity.words, activity.voice) == (None, None)


def activities(host: Host) -> list[str | None]:
    """What was told, without what was told again."""
    told: list[str | None] = []
    for event in host.of(events.Status):
        if not told or told[-1] != event.status.activity:
            told.append(event.status.activity)
    return told


def test_a_status_that_was_told_meanwhile_is_not_told_again_before_the_next_batch() -> None:
    editor, waiting = FakeEditor(), list[Callable[[], None]]()
    editor.before_batch = waiting.append  # type: ignore[method-assign]
    presenter = Presenter(1, "/", editor, lambda: presenter.publish(events.Status(session=1, status=STATUS)))
    presenter.metadata.begin_turn()
    for told in (False, True):
        presenter.update(ToolCallChanged(ToolCallPatch(tool_call_id=f"c{told}", title=f"Run {told}")))
        presenter.caught_up()
        if told:
            presenter.publish_status()
            presenter.publish(events.TurnEnd(session=1, stop_reason="end_turn"))
        waiting.pop()()
        kinds = [type(one) for one in editor.events if not isinstance(one, events.ToolCall)]
        assert kinds == ([events.Status] * 2 + [events.TurnEnd] if told else [events.Status])


@pytest.mark.anyio
async def test_a_turn_tells_what_it_does_and_not_more_often_than_that_changes(host: Host) -> None:
    host.script("""
        def until_all_was_taken(agent):
            agent.call("nobody/knows").answer.get(timeout=60)
        def turn(agent, prompt):
            for _ in range(50):
                prompt.think("hm ")
            until_all_was_taken(agent)
            prompt.tool("c", "Edit f", kind="edit", status="in_progress")
            until_all_was_taken(agent)
            prompt.tool_update("c", status="completed")
            until_all_was_taken(agent)
            for word in range(300):
                prompt.say("word ")
            until_all_was_taken(agent)
    """)
    await host.turn()
    assert activities(host) == [None, "thinking", "Edit f", None, "writing", None]
    assert len(host.of(events.Status)) < 30
    running = [event.status for event in host.of(events.Status) if event.status.activity]
    assert len({status.turn_started for status in running}) == 1
    status = await host.until_state("idle")
    assert (running[0].turn_started or 0) > 0
    assert status.turn_started is None


@pytest.mark.anyio
async def test_of_what_arrives_together_the_last_is_told(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            line = lambda **update: {"jsonrpc": "2.0", "method": "session/update",
                                     "params": {"sessionId": prompt.session_id, "update": update}}
            said = []
            for number in range(100):
                call = {"toolCallId": f"c{number}", "status": "completed"}
                said.append(line(sessionUpdate="tool_call", title="Look", **{**call, "status": "in_progress"}))
                said.append(line(sessionUpdate="tool_call_update", **call))
            agent.raw(b"".join(json.dumps(one).encode() + b"\\n" for one in said))
    """)
    await host.turn()
    assert len(host.of(events.Status)) < 50  # of 200; how many arrive together is for the machine to say
    assert len(host.of(events.ToolCall)) <= 200
    assert {event.call.status for event in host.of(events.ToolCall)[-1:]} == {"completed"}


@pytest.mark.anyio
async def test_a_cost_that_is_not_mentioned_stays(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            cost = {"cost": {"amount": 1, "currency": "EUR"}} if prompt.text == "dear" else {}
            if prompt.text == "free":
                cost = {"cost": None}
            prompt.update("usage_update", used=len(prompt.text), size=10, **cost)
    """)
    seen = []
    for text in ("cheap", "dear", "unknown", "free"):
        await host.turn(text)
        status = host.status()
        assert status is not None
        seen.append(status.usage)
    assert seen == [
        events.Usage(5, 10), events.Usage(4, 10, 1, "EUR"), events.Usage(7, 10, 1, "EUR"), events.Usage(4, 10),
    ]  # fmt: skip


@pytest.mark.anyio
async def test_modes_and_models_have_the_names_that_the_agent_gives_them(host: Host) -> None:
    host.script("""
        SESSION = {
            "modes": {"currentModeId": "https://x/#code", "availableModes": [{"id": "https://x/#code", "name": "Code"},
                                                                              {"id": "plain", "name": "plain"}]},
            "configOptions": [{"id": "x", "name": "X", "category": "model", "type": "select", "currentValue": "a/b",
                               "options": [{"value": "a/b", "name": "Big"}]}],
        }
        def turn(agent, prompt):
            prompt.update("current_mode_update", currentModeId="plain")
    """)
    host.open()
    status = await host.until_state("idle")
    assert (status.mode, status.mode_name) == ("https://x/#code", "Code")
    assert (status.model, status.model_name) == ("a/b", "Big")
    await host.turn()
    after = await host.until_state("idle")
    assert (after.mode, after.mode_name) == ("plain", None)


@pytest.mark.anyio
async def test_the_status_counts_the_entries_of_all_plans_that_live(host: Host) -> None:
    host.hello(protocol={"v2": True})
    host.script("""
        INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}
        def plan(prompt, name, *entries):
            steps = [{"content": one, "priority": "low", "status": "pending"} for one in entries]
            prompt.update("plan_update", plan={"type": "items", "planId": name, "entries": steps})
        def turn(agent, prompt):
            prompt.update("state_update", state="running")
            plan(prompt, "a", "one", "two")
            plan(prompt, "b", "three")
            plan(prompt, "a", "two")
            prompt.update("plan_removed", planId="b")
            prompt.update("plan_removed", planId="never")
            prompt.update("state_update", state="idle", stopReason="end_turn")
    """)
    await host.turn()
    told = [[step.content for step in event.status.plan or []] for event in host.of(events.Status)]
    shown = [plan for number, plan in enumerate(told) if plan and plan != told[number - 1]]
    assert shown == [["one", "two"], ["one", "two", "three"], ["two", "three"], ["two"]]
    assert [(plan.title, plan.removed) for plan in host.of(events.Plan)][-1] == ("b", True)
    assert host.notices() == []
