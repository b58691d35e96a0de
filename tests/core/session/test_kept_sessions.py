"""Sessions that the agent kept: what is said before the answer, what is not answered, who else has them."""

from __future__ import annotations

from typing import Literal

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

LOADS = """
    INITIALIZE = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {"fork": {}}}}
    def turn(agent, prompt):
        if prompt.text == "die":
            agent.exit(1)
        prompt.say("said ")
        if prompt.text == "wait":
            prompt.wait_cancelled()
            return "cancelled"
"""

RESUMES = """
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}
    def state(agent, word, **fields):
        agent.update("kept", {"sessionUpdate": "state_update", "state": word, **fields})
"""


async def resume(host: Host, session_id: str, how: Literal["load", "resume", "fork"] = "load", key: int = 2) -> None:
    """In a chat that was opened before, and stopped: it has no process."""
    host.open(key)
    await host.until_state("idle", key)
    host.stop(key)
    await host.until_state("stopped", key)
    host.app.sessions[key].restore(session_id, how)


async def test_what_was_said_comes_before_the_answer_or_after_it(host: Host) -> None:
    host.script(
        LOADS
        + """
    def session_load(agent, request):
        say = lambda text: agent.update("kept", {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}
        })
        say("before ")
        request.reply(None)
        say("after ")
        return NO_ANSWER
    """
    )
    await resume(host, "kept")
    await host.until("all of it", lambda: host.text(key=2) == "before after ")
    assert await host.turn("go on", 2) == "end_turn"


async def test_a_session_of_another_chat_is_not_taken_from_it(host: Host) -> None:
    host.script(LOADS + "    def session_load(agent, request): return {}")
    host.open(1)
    await host.until_state("idle", 1)
    host.prompt("wait", 1)
    await host.until("the agent to speak", lambda: host.text(key=1))
    await resume(host, "session-1")
    await host.until_state("failed", 2)
    assert "Session 'session-1' of agent 'it' is open in another chat." in host.notices(2)[-1]
    host.stop(2)
    host.cancel(1)
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd, 1))
    assert await host.turn("more", 1) == "end_turn"
    assert host.text(key=1) == "said said "
    assert host.scripts["it"].received("session/load") == []


async def test_a_chat_may_begin_with_what_was_said_before(host: Host) -> None:
    host.script(
        LOADS
        + """
    def session_load(agent, request):
        text = {"type": "text", "text": "said before"}
        agent.update("kept", {"sessionUpdate": "agent_message_chunk", "content": text})
        return {}
    """
    )
    wanted = {"session": 3, "agent": "it", "cwd": str(host.cwd), "session_id": "kept", "how": "load"}
    host.app.receive("resume", wanted)
    await host.until_state("idle", 3)
    assert host.text(key=3) == "said before"


@pytest.mark.parametrize("how", ["new", "fork"])
async def test_an_agent_that_gives_an_id_twice_is_not_believed(host: Host, how: str) -> None:
    host.script(
        LOADS
        + """
    def session_new(agent, request): return {"sessionId": "same"}
    def session_fork(agent, request): return {"sessionId": "same"}
    """
    )
    host.open(1)
    await host.until_state("idle", 1)
    host.open(2)
    if how == "fork":
        await host.until_state("failed", 2)
        host.app.sessions[2].restore("same", "fork")
        await host.until("the refusal", lambda: len(host.notices(2)) == 2)
    await host.until_state("failed", 2)
    assert "is open in another chat" in host.notices(2)[-1]
    host.prompt("die", 1)
    status = await host.until_state("failed", 1)
    assert (status.stop_reason, host.of(events.TurnEnd, 2)) == ("error", [])


async def test_an_agent_that_dies_meanwhile_is_told_once(host: Host) -> None:
    host.script(LOADS + "    def session_load(agent, request): agent.exit(9)")
    await resume(host, "kept")
    await host.until_state("failed", 2)
    await host.until("the words", lambda: host.notices(2))
    host.script(LOADS + "    def session_load(agent, request): return {}")
    host.prompt("x", 2)
    await host.until("the next turn", lambda: host.of(events.TurnEnd, 2))
    assert [error.code for error in host.of(events.Error, 2)] == ["agent_exited"]


async def test_one_that_works_already_can_be_given_up_and_taken_up_again(host: Host) -> None:
    host.hello(protocol={"v2": True})
    host.script(
        RESUMES
        + """
    def session_resume(agent, request):
        is_first = not os.path.exists("given up")
        open("given up", "w").close()  # before anything is said: who hears it may end this process
        state(agent, "running")
        if is_first:
            return NO_ANSWER
        state(agent, "idle", stopReason="end_turn")
        return {}
    def turn(agent, prompt):
        prompt.reply({"messageId": "m"})
        state(agent, "running")
        state(agent, "idle", stopReason="refusal")
        return NO_ANSWER
    """
    )
    await resume(host, "kept")
    await host.until_state("background", 2)
    host.cancel(2)
    await host.until_state("stopped", 2)
    host.prompt("go on", 2)
    await host.until("all turns to end", lambda: len(host.of(events.TurnEnd, 2)) == 3)
    assert [end.stop_reason for end in host.of(events.TurnEnd, 2)] == ["cancelled", "end_turn", "refusal"]


async def test_what_cannot_be_taken_up_gives_way_to_a_new_session(host: Host) -> None:
    host.script(
        LOADS
        + """
    def session_load(agent, request):
        raise Error(-32002, "no such session")
    """
    )
    await resume(host, "lost")
    await host.until_state("failed", 2)
    assert any("no such session" in text and "begins a new session" in text for text in host.notices(2))
    assert await host.turn("hello", 2) == "end_turn"
    assert len(host.scripts["it"].received("session/load")) == 1
