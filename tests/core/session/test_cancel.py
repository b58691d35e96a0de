"""Cancelling a turn: the agent is asked, everything that is open is closed, and the queue waits for the user."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

CANCELLED = {"outcome": {"outcome": "cancelled"}}


async def test_the_agent_is_told_and_its_answer_ends_the_turn(host: Host) -> None:
    script = host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "Run", kind="execute", status="in_progress")
            prompt.wait_cancelled()
            return "cancelled"
    """)
    host.open()
    host.prompt("go")
    await host.editor.until_event(events.ToolCall)
    host.cancel()
    ended = await host.editor.until_event(events.TurnEnd)
    assert ended.stop_reason == "cancelled"
    assert [one["params"] for one in script.received("session/cancel")] == [{"sessionId": "session-1"}]
    assert "id" not in script.received("session/cancel")[0]
    assert [call.status for call in host.calls().values()] == ["cancelled"]
    assert host.notices() == ["Stopped: cancelled"]


async def test_open_tool_calls_are_closed_at_once_and_may_still_be_corrected(host: Host) -> None:
    host.script("""
        import threading

        GO = threading.Event()

        def go_on(agent, request):
            GO.set()

        def turn(agent, prompt):
            prompt.tool("a", "Run", status="in_progress")
            prompt.tool("b", "Done", status="completed")
            prompt.tool("c", "Wait", status="pending")
            prompt.wait_cancelled()
            GO.wait(30)
            prompt.tool_update("a", status="completed")
            return "cancelled"
    """)
    host.open()
    host.prompt("go")
    await host.editor.until_event(events.ToolCall, 3)
    host.cancel()
    assert [call.status for call in host.calls().values()] == ["cancelled", "completed", "cancelled"]
    assert host.of(events.TurnEnd) == []
    host.app.sessions[1].peer.notify("go/on", {})
    await host.editor.until_event(events.TurnEnd)
    assert [call.status for call in host.calls().values()] == ["completed", "completed", "cancelled"]


async def test_open_permissions_are_answered_cancelled_on_the_wire(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            calls = [agent.call("session/request_permission", {
                "sessionId": prompt.session_id,
                "toolCall": {"toolCallId": f"c{number}"},
                "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
            }) for number in range(2)]
            agent.note(outcomes=[call.result() for call in calls], cancelled=prompt.cancelled)
            return "cancelled"
    """)
    host.open()
    host.prompt("go")
    await host.editor.until_event(events.Permission, 2)
    assert (await host.until_state("waiting")).pending_permissions == 2
    host.cancel()
    await host.editor.until_event(events.TurnEnd)
    assert await host.until_note("outcomes") == [[CANCELLED, CANCELLED]]
    assert [done.outcome for done in host.of(events.PermissionDone)] == ["cancelled", "cancelled"]
    assert (await host.until_state("idle")).pending_permissions == 0


async def test_a_permission_that_is_asked_for_after_the_cancel_is_answered_cancelled(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.say("working")
            prompt.wait_cancelled()
            agent.note(chosen=prompt.ask("late"))
            return "cancelled"
    """)
    host.open()
    host.prompt("go")
    await host.editor.until_event(events.Append, 2)
    host.cancel()
    assert await host.until_note("chosen") == [None]
    await host.editor.until_event(events.TurnEnd)


async def test_a_permission_of_the_next_turn_waits_for_the_user_again(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "first":
                prompt.wait_cancelled()
                return "cancelled"
            prompt.say(str(prompt.ask("c")))
    """)
    host.open()
    host.prompt("first")
    await host.until_received("session/prompt")
    host.cancel()
    host.prompt("second")
    asked = await host.editor.until_event(events.Permission)
    host.answer(asked.request.id, "allow")
    await host.editor.until_event(events.TurnEnd, 2)
    assert host.text() == "allow"


async def test_an_error_answer_to_a_cancelled_prompt_is_a_cancelled_turn_and_no_failure(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.wait_cancelled()
            raise Error(-32603, "Internal error", {"details": "aborted"})
    """)
    host.open()
    host.prompt("go")
    await host.until_received("session/prompt")
    host.cancel()
    assert (await host.editor.until_event(events.TurnEnd)).stop_reason == "cancelled"
    assert host.editor.all(events.Error) == []


async def test_cancelling_twice_or_without_a_turn_does_no_harm(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.wait_cancelled()
            return "cancelled"
    """)
    host.open()
    await host.until_state("idle")
    host.cancel()
    host.prompt("go")
    await host.until_received("session/prompt")
    host.cancel()
    host.cancel()
    await host.editor.until_event(events.TurnEnd)
    host.cancel()
    assert await_states(host) == ["idle"]


def await_states(host: Host) -> list[str]:
    """The last state that was told."""
    status = host.status()
    return [status.state] if status else []


async def test_an_agent_that_never_answers_is_ended_by_force_and_the_next_prompt_starts_it_again(host: Host) -> None:
    script = host.script("""
        def turn(agent, prompt):
            if prompt.text == "hang":
                prompt.say("working")
                return NO_ANSWER
    """)
    host.open()
    host.prompt("hang")
    await host.editor.until_event(events.Append, 2)
    host.cancel()
    assert host.of(events.TurnEnd) == []
    host.cancel(force=True)
    assert (await host.editor.until_event(events.TurnEnd)).stop_reason == "cancelled"
    await host.until_state("stopped")
    assert host.editor.all(events.Error) == []
    assert await host.turn("again") == "end_turn"
    assert len(script.notes("started")) == 2


async def test_a_prompt_right_after_a_forced_cancel_is_sent(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "hang":
                return NO_ANSWER
            prompt.say("back")
    """)
    host.open()
    host.prompt("hang")
    await host.until_received("session/prompt")
    host.cancel(force=True)
    host.prompt("again")
    await host.until("the answer to the second prompt", lambda: host.text() == "back")


async def test_a_start_that_is_cancelled_is_given_up(host: Host) -> None:
    script = host.script("def initialize(agent, request): return NO_ANSWER")
    host.open()
    host.prompt("go")
    await host.until_received("initialize")
    host.cancel()
    status = await host.until_state("stopped")
    assert (status.queue, host.notices()) == (0, ["Cancelled before it was sent."])
    assert host.editor.all(events.Error) == []
    assert script.received("session/prompt") == []


@pytest.mark.parametrize("prompts", [["one"], ["one", "two"]], ids=len)
async def test_a_start_that_is_stopped_keeps_the_prompts_for_the_next_one(host: Host, prompts: list[str]) -> None:
    script = host.script("def initialize(agent, request): return NO_ANSWER")
    host.open()
    for text in prompts:
        host.prompt(text)
    await host.until_received("initialize")
    host.stop()
    await host.until_state("stopped")
    one = "1 prompt stays in the queue. An empty prompt sends it now, "
    several = "2 prompts stay in the queue. An empty prompt sends them now, "
    [told, cancelled] = host.notices()
    assert cancelled == "The start was cancelled."
    assert told.startswith(one if len(prompts) == 1 else several)
    assert script.received("session/prompt") == []
    script = host.script("")
    host.prompt("next")
    await host.until("all turns", lambda: len(host.of(events.TurnEnd)) == len(prompts) + 1)
    texts = [one["params"]["prompt"][0]["text"] for one in script.received("session/prompt")]
    assert texts == [*prompts, "next"]
    assert host.text(kind="user") == "".join(texts), "each is shown once"


@pytest.mark.parametrize("way", ["cancel", "stop"])
@pytest.mark.parametrize("is_first", [True, False], ids=["the first start", "another start"])
async def test_a_start_is_given_up_before_it_has_begun(host: Host, way: str, is_first: bool) -> None:
    host.script("")
    if not is_first:
        await host.turn("hi")
        host.stop()
        await host.until_state("stopped")
    host.open()
    host.app.receive(way, {"session": 1})
    assert (await host.until_state("stopped")).queue == 0
    assert await host.turn("again") == "end_turn"
    assert host.text().endswith("You said: again")


async def test_after_a_cancelled_start_the_next_prompt_tries_again(host: Host) -> None:
    host.script("def initialize(agent, request): return NO_ANSWER")
    host.open()
    host.prompt("go")
    await host.until_received("initialize")
    host.cancel()
    await host.until_state("stopped")
    host.script("")
    assert await host.turn("again") == "end_turn"
    assert host.text() == "You said: again"


async def test_what_is_asked_after_a_cancelled_turn_is_asked_of_the_user(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.wait_cancelled()
            prompt.reply({"stopReason": "cancelled"})
            options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
            shown = {"sessionId": prompt.session_id, "toolCall": {"toolCallId": "late"}, "options": options}
            agent.note(outcome=agent.request("session/request_permission", shown)["outcome"])
            return NO_ANSWER
    """)
    host.open()
    host.prompt("hi")
    await host.until_state("running")
    await host.until_received("session/prompt")
    host.cancel()
    await host.editor.until_event(events.TurnEnd)
    asked = await host.editor.until_event(events.Permission)
    assert (await host.until_state("waiting")).pending_permissions == 1
    host.answer(asked.request.id, "yes")
    assert await host.until_note("outcome") == [{"outcome": "selected", "optionId": "yes"}]


HEARS = """
    def turn(agent, prompt):
        prompt.say(f"<{prompt.text}>")
        if prompt.text == "hang":
            prompt.wait_cancelled()
            return "cancelled"
"""


async def cancelled_with_a_queue(host: Host) -> None:
    """A turn was cancelled while two prompts waited."""
    host.script(HEARS)
    host.open()
    host.prompt("hang")
    host.prompt("one")
    host.prompt("two")
    await host.until("a turn that works", lambda: host.text() == "<hang>")
    host.cancel()
    await host.until_state("idle")


async def test_what_was_queued_stays_until_the_next_prompt_and_goes_out_before_it(host: Host) -> None:
    await cancelled_with_a_queue(host)
    stay = (
        "2 prompts stay in the queue. An empty prompt sends them now, your next one sends them first. "
        "When nothing runs, :AcpCancel empties the queue."
    )
    assert host.notices() == [stay, "Stopped: cancelled"]
    assert host.status().queue == 2
    host.app.sessions[1].peer.notify("all/said", {})
    await host.until_received("all/said")
    assert len(host.scripts["it"].received("session/prompt")) == 1
    host.prompt("three")
    await host.until("all answers", lambda: host.text() == "<hang><one><two><three>")
    assert host.text("user") == "hangonetwothree"


async def test_a_cancel_when_nothing_runs_empties_the_queue(host: Host) -> None:
    await cancelled_with_a_queue(host)
    host.cancel()
    assert host.notices()[-1] == "2 prompts were taken out of the queue: the history of the prompt has them."
    assert host.status().queue == 0
    host.cancel()
    host.prompt("three")
    await host.until("the answer", lambda: host.text() == "<hang><three>")


async def test_what_is_sent_after_the_cancel_goes_out_when_the_turn_has_ended(host: Host) -> None:
    host.script(HEARS)
    host.open()
    host.prompt("hang")
    host.prompt("before")
    await host.until("a turn that works", lambda: host.text() == "<hang>")
    host.cancel()
    host.prompt("after")
    host.cancel()
    await host.until("all answers", lambda: host.text() == "<hang><before><after>")


async def test_stopping_the_agent_keeps_the_queue_too(host: Host) -> None:
    host.script(HEARS)
    host.open()
    host.prompt("hang")
    host.prompt("one")
    await host.until("a turn that works", lambda: host.text() == "<hang>")
    host.stop()
    host.stop()
    assert host.status().queue == 1
    assert host.notices()[0].startswith("1 prompt stays in the queue. An empty prompt sends it now")
    host.prompt("two")
    await host.until("all answers", lambda: host.text() == "<hang><one><two>")


async def test_a_question_between_turns_is_cancelled_and_the_agent_is_told(host: Host) -> None:
    host.script("""
        def opened(agent, session_id):
            options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
            call = agent.call("session/request_permission", {
                "sessionId": session_id, "toolCall": {"toolCallId": "c"}, "options": options})
            agent.note(outcome=call.result()["outcome"])
    """)
    host.open()
    await host.editor.until_event(events.Permission)
    host.cancel()
    assert await host.until_note("outcome") == [{"outcome": "cancelled"}]
    await host.until_received("session/cancel")
    assert host.notices() == ["Stopped: cancelled"]
    await host.until_state("idle")
