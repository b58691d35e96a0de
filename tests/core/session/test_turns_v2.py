"""Turns of version 2, where the answer to a prompt only takes it: answers at odd times, or never."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

AGENT = """
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}
    def state(prompt, word, **fields):
        prompt.update("state_update", state=word, **fields)
"""


async def three_prompts(host: Host, turn: str) -> list[str]:
    """Queued at once with that agent: the stop reasons of their turns."""
    host.hello(protocol={"v2": True})
    host.script(AGENT + turn)
    host.open()
    for text in ("one", "two", "three"):
        host.prompt(text)
    await host.until("three turns", lambda: len(host.of(events.TurnEnd)) == 3)
    assert host.text("user") == "onetwothree"
    return [end.stop_reason for end in host.of(events.TurnEnd)]


@pytest.mark.parametrize("answer", ["NO_ANSWER", '{"messageId": "m"}', "{}"])
async def test_an_answer_after_the_end_or_never_holds_up_no_prompt(host: Host, answer: str) -> None:
    turn = f"""
    def turn(agent, prompt):
        state(prompt, "running")
        said = {{"type": "text", "text": "said"}}
        prompt.update("agent_message_chunk", messageId=prompt.text, content=said)
        state(prompt, "idle", stopReason="end_turn")
        return {answer}
    """
    assert await three_prompts(host, turn) == ["end_turn"] * 3
    assert host.notices() == []


async def test_an_error_is_told_whatever_the_agent_does_next(host: Host) -> None:
    turn = """
    def turn(agent, prompt):
        error = {"jsonrpc": "2.0", "id": prompt.id, "error": {"code": -32603, "message": "no " + prompt.text}}
        update = {"sessionUpdate": "state_update", "state": "running"}
        params = {"sessionId": prompt.session_id, "update": update}
        running = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        agent.raw(json.dumps(error).encode() + b"\\n" + json.dumps(running).encode() + b"\\n")
        state(prompt, "idle")
        return NO_ANSWER
    """
    host.hello(protocol={"v2": True})
    host.script(AGENT + turn)
    await host.turn("one")
    await host.until("the agent's own turn to end", lambda: len(host.of(events.TurnEnd)) == 2)
    assert [end.stop_reason for end in host.of(events.TurnEnd)] == ["error", "end_turn"]
    assert host.notices() == [
        "Agent 'it' failed on this prompt: no one. You can prompt again; :AcpLog shows what it said."
    ]


@pytest.mark.parametrize("dies", ["in its turn", "after it"])
async def test_what_goes_on_in_the_background_ends_with_the_agent(host: Host, dies: str) -> None:
    turn = f"""
    def turn(agent, prompt):
        state(prompt, "running", background=[{{"type": "tool_call", "toolCallId": "c"}}])
        prompt.update("tool_call_update", toolCallId="c", title="Watch", status="in_progress")
        if {dies!r} == "in its turn":
            os._exit(1)
        state(prompt, "idle", stopReason="end_turn")
        return {{}}
    """
    host.hello(protocol={"v2": True})
    host.script(AGENT + turn)
    await host.turn()
    if dies == "after it":
        [call] = host.calls().values()
        assert call.status == "in_progress"
        host.stop()
    await host.until("the call to be closed", lambda: [one.status for one in host.calls().values()] == ["unfinished"])


@pytest.mark.parametrize("word", ["unknown", "_paused"])
async def test_a_state_that_says_nothing_of_the_work_ends_no_turn(host: Host, word: str) -> None:
    turn = f"""
    def turn(agent, prompt):
        state(prompt, "running")
        prompt.update("subagent_update", sessionId="child", title="Child", state={{"state": "running"}})
        prompt.update("subagent_update", sessionId="child", state={{"state": "{word}", "background": []}})
        state(prompt, "{word}")
        prompt.say("still here", messageId=f"m{{prompt.id}}")
        prompt.until_heard()
        state(prompt, "idle", stopReason="end_turn")
        return {{}}
    """
    assert await three_prompts(host, turn) == ["end_turn"] * 3
    assert host.text() == "still here" * 3
    child = host.of(events.Subagent)[-1].subagent
    assert child.title == "Child"
    assert child.state == ("unknown" if word == "unknown" else "idle")
    assert len(host.notices()) == (0 if word == "unknown" else 1)
