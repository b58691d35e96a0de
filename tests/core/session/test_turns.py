"""Turns: what the user says goes out one after the other, what the agent says is shown in its order."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio


async def test_a_turn_from_the_first_word_to_the_last(host: Host) -> None:
    script = host.script("""
        def turn(agent, prompt):
            prompt.think("hm")
            prompt.say("Hello ")
            prompt.say("there")
            prompt.tool("c", "Edit f", kind="edit", status="in_progress", locations=[{"path": "/p/f", "line": 3}])
            prompt.tool_update("c", status="completed")
            prompt.plan(("do it", "completed"))
            prompt.say("Done.")
    """)
    assert await host.turn("do it") == "end_turn"
    shown = [
        event for event in host.editor.events if isinstance(event, events.SessionEvent) and hasattr(event, "block")
    ]
    blocks = {event.block: type(event).__name__ for event in shown}
    assert list(blocks.items()) == [
        (1, "Append"),
        (2, "Append"),
        (3, "Append"),
        (4, "ToolCall"),
        (5, "Plan"),
        (6, "Append"),
    ]
    assert host.calls()[4].status == "completed"
    assert (host.text("user"), host.text("thought"), host.text("agent")) == ("do it", "hm", "Hello thereDone.")
    assert host.of(events.Location) == [events.Location(session=1, path="/p/f", line=3)]
    [initialize, new, prompt] = script.received()
    assert initialize["params"]["protocolVersion"] == 1
    assert new["params"] == {"cwd": str(host.cwd), "mcpServers": []}
    assert prompt["params"] == {"sessionId": "session-1", "prompt": [{"type": "text", "text": "do it"}]}


async def test_the_events_of_a_turn_stand_between_its_start_and_its_end(host: Host) -> None:
    host.script('def turn(agent, prompt): prompt.say("x")')
    await host.turn()
    kinds = [type(event) for event in host.editor.events]
    order = [events.SessionReady, events.TurnStart, events.Append, events.TurnEnd]
    last = len(kinds) - 1 - kinds[::-1].index(events.Append)
    places = [kinds.index(order[0]), kinds.index(order[1]), last, kinds.index(order[3])]
    assert places == sorted(places)


async def test_the_state_goes_from_starting_over_idle_and_running_to_idle(host: Host) -> None:
    host.script("")
    await host.turn()
    await host.until_state("idle")
    states = [event.status.state for event in host.of(events.Status)]
    changes = [state for state, before in zip(states, [None, *states], strict=False) if state != before]
    assert changes == ["starting", "idle", "running", "idle"]


async def test_the_status_says_who_it_is_and_how_the_last_turn_ended(host: Host) -> None:
    host.script('def turn(agent, prompt): return "refusal"')
    await host.turn()
    status = await host.until_state("idle")
    assert (status.agent, status.agent_title, status.session_id) == ("it", "Scripted agent", "session-1")
    assert (status.stop_reason, status.queue, status.pending_permissions) == ("refusal", 0, 0)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("max_tokens", "the agent has used up the tokens of a turn"),
        ("max_turn_requests", "the agent has reached its limit of model requests in a turn"),
        ("refusal", "the agent refuses to go on"),
        ("something_new", "something new"),
    ],
)
async def test_an_unusual_end_is_told(host: Host, reason: str, words: str) -> None:
    host.script(f"def turn(agent, prompt): return {reason!r}")
    assert await host.turn() == reason
    assert host.notices() == [f"Stopped: {words}"]


async def test_prompts_during_a_turn_wait_and_go_out_in_order(host: Host) -> None:
    script = host.script("""
        def turn(agent, prompt):
            if prompt.text == "first":
                GO.wait(30)
                return
            prompt.say(f"<{prompt.text}>")

        import threading
        GO = threading.Event()

        def go_on(agent, request):
            GO.set()
    """)
    host.open()
    for text in ("first", "second", "third"):
        host.prompt(text)
    await host.until_received("session/prompt")
    await host.until("a queue of two", lambda: (status := host.status()) and status.queue == 2)
    assert host.text("user") == "first"
    host.app.sessions[1].peer.notify("go/on", {})
    await host.editor.until_event(events.TurnEnd, 3)
    texts = [one["params"]["prompt"][0]["text"] for one in script.received("session/prompt")]
    assert texts == ["first", "second", "third"]
    assert host.text("agent") == "<second><third>"
    assert host.text("user") == "firstsecondthird"


async def test_each_prompt_and_each_answer_is_a_block_of_its_own(host: Host) -> None:
    host.script("")
    await host.turn("one")
    await host.turn("two")
    blocks = [(event.block, event.kind, event.text) for event in host.of(events.Append)]
    assert blocks == [
        (1, "user", "one"),
        (2, "agent", "You said: one"),
        (3, "user", "two"),
        (4, "agent", "You said: two"),
    ]


async def test_context_goes_as_resources_to_those_who_take_them(host: Host) -> None:
    script = host.script("")
    host.open()
    host.prompt("look", context=[{"uri": "file:///p/f", "name": "f", "text": "body", "mime_type": "text/x-lua"}])
    await host.editor.until_event(events.TurnEnd)
    [prompt] = script.received("session/prompt")
    assert prompt["params"]["prompt"] == [
        {"type": "text", "text": "look"},
        {"type": "resource", "resource": {"uri": "file:///p/f", "text": "body", "mimeType": "text/x-lua"}},
    ]
    assert host.text("user") == "look\n@f"


async def test_context_goes_as_text_to_the_others_in_a_fence_that_it_cannot_close(host: Host) -> None:
    script = host.script('INITIALIZE = {"agentCapabilities": {}}')
    host.open()
    host.prompt("look", context=[{"uri": "file:///p/f", "name": "f", "text": "```\ncode\n```"}])
    await host.editor.until_event(events.TurnEnd)
    [prompt] = script.received("session/prompt")
    assert prompt["params"]["prompt"][1] == {"type": "text", "text": "f:\n````\n```\ncode\n```\n````"}


async def test_a_prompt_of_bytes_that_are_no_text_goes_out_readable(host: Host) -> None:
    script = host.script("")
    context = [{"uri": "file:///p/f", "name": "f", "text": "b\udcfcf"}]
    host.open()
    host.prompt("Gr\udcfcsse", context=context)
    await host.editor.until_event(events.TurnEnd)
    [prompt] = script.received("session/prompt")
    [text, resource] = prompt["params"]["prompt"]
    assert (text["text"], resource["resource"]["text"]) == ("Gr\ufffdsse", "b\ufffdf")
    assert host.editor.all(events.Error) == []


async def test_a_user_message_that_the_agent_echoes_is_not_shown_twice(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.update("user_message_chunk", content={"type": "text", "text": prompt.text}, messageId="m")
            prompt.say("yes")
    """)
    await host.turn("hello")
    assert (host.text("user"), host.text("agent")) == ("hello", "yes")


async def test_a_user_message_outside_of_a_turn_is_shown(host: Host) -> None:
    host.script("""
        def opened(agent, session_id):
            content = {"type": "text", "text": "old"}
            agent.update(session_id, {"sessionUpdate": "user_message_chunk", "content": content})
    """)
    host.open()
    await host.until("the old message", lambda: host.text("user") == "old")


async def test_updates_after_the_end_of_a_turn_are_shown(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "Run", kind="execute", status="in_progress")
            prompt.reply({"stopReason": "end_turn"})
            prompt.update("usage_update", used=5, size=10, cost={"amount": 0.5, "currency": "USD"})
            prompt.update("session_info_update", title="A title")
            prompt.update("session_info_update", updatedAt="2026-01-01T00:00:00")
            prompt.tool_update("c", status="completed")
            prompt.say("late")
            return NO_ANSWER
    """)
    await host.turn()
    await host.until("the late words", lambda: host.text() == "late")
    status = await host.until_state("idle")
    assert (status.title, status.usage) == ("A title", events.Usage(5, 10, 0.5, "USD"))
    assert [call.status for call in host.calls().values()] == ["completed"]


async def test_mode_model_and_plan_are_part_of_the_status(host: Host) -> None:
    host.script("""
        SESSION = {
            "modes": {"currentModeId": "code", "availableModes": []},
            "configOptions": [
                {"id": "m", "name": "M", "category": "mode", "type": "select", "currentValue": "ask", "options": []},
                {"id": "x", "name": "X", "category": "model", "type": "select", "currentValue": "big", "options": []},
                {"id": "t", "name": "T", "category": "thinking", "type": "boolean", "currentValue": True},
            ],
        }
        def turn(agent, prompt):
            prompt.plan(("one", "pending"))
            prompt.update("current_mode_update", currentModeId="plan")
            model = {"id": "x", "name": "X", "category": "model", "type": "select", "options": []}
            prompt.update("config_option_update", configOptions=[{**model, "currentValue": "small"}])
    """)
    host.open()
    status = await host.until_state("idle")
    assert (status.mode, status.model) == ("ask", "big")
    await host.turn()
    status = await host.until_state("idle")
    assert (status.mode, status.model) == ("plan", "small")
    assert status.plan == [events.PlanStep("one", "pending", "medium")]


async def test_commands_are_told_and_told_again_after_a_redraw(host: Host) -> None:
    host.script("""
        def opened(agent, session_id):
            commands = [{"name": "init", "description": "sets up", "input": {"hint": "where"}}]
            meta = {"availableSkillDetails": "x" * 600_000}
            update = {"sessionUpdate": "available_commands_update", "availableCommands": commands, "_meta": meta}
            agent.update(session_id, update)
    """)
    host.open()
    told = await host.editor.until_event(events.Commands)
    assert told.commands == [events.CommandView("init", "sets up", "where")]
    host.app.receive("redraw", {"session": 1})
    assert host.editor.all(events.Commands)[1] == told


async def test_a_redraw_shows_the_same_again(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.say("text")
            prompt.tool("c", "Run", status="completed")
            prompt.plan(("a", "pending"))
            prompt.ask("c")
            prompt.say("more")
    """)
    host.open()
    host.prompt("go")
    permission = await host.editor.until_event(events.Permission)
    host.answer(permission.request.id, "allow")
    await host.editor.until_event(events.TurnEnd)
    before = [event for event in host.editor.events if hasattr(event, "block")]
    host.editor.events.clear()
    host.app.receive("redraw", {"session": 1})
    after = [event for event in host.editor.events if hasattr(event, "block")]
    assert host.editor.events[0] == events.Reset(session=1)
    assert isinstance(host.editor.events[-1], events.Status)
    assert fold(after) == fold(before)


def fold(shown: list[events.Event]) -> dict[int, list[str]]:
    """What each block shows in the end."""
    blocks: dict[int, list[str]] = {}
    for event in shown:
        if isinstance(event, events.Append):
            blocks[event.block] = ["".join([*blocks.get(event.block, []), event.text])]
        elif isinstance(event, events.PermissionDone):
            blocks[event.block].append(repr(event))
        else:
            blocks[event.block] = [repr(event)]  # type: ignore[attr-defined]
    return blocks


async def test_a_plan_is_over_with_its_turn(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.update("plan", entries=[{"content": "a", "status": "in_progress", "priority": "low"}])
            prompt.wait_cancelled()
            agent.note(cancelled=1)
            prompt.reply({"stopReason": "cancelled"})
            prompt.update("plan", entries=[{"content": "late", "status": "in_progress", "priority": "low"}])
    """)
    host.open()
    host.prompt("go")
    await host.until("the plan", lambda: host.of(events.Plan))
    assert [plan.over for plan in host.of(events.Plan)] == [False]
    host.cancel()
    await host.until("the late plan", lambda: len(host.of(events.Plan)) > 1)
    assert host.of(events.Plan)[-1].over
