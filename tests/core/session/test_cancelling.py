"""Turns that do not end although they were cancelled: every means in its order, each shown, until one works."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from acp_nvim.session.cancelling import Patience
from tests.agents.in_process import look_at
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

AGAIN = "Asked the agent again to stop ..."
CLOSING = "Closing the session ..."
ENDING = [
    "Ending the agent's process (its input is closed) ...",
    "Ending the agent's process, and all that it started (SIGTERM) ...",
    "Ending the agent's process, and all that it started (SIGKILL) ...",
]
STOPPED = "Stopped: cancelled"
ENDED = "The agent's process has ended. Your next prompt starts it again."
CLOSED = "The session is closed. Your next prompt opens it again, or a new one."

FOREVER = 3600.0
SOON = 0.01

HANGS = """
    def turn(agent, prompt):
        if "hang" not in prompt.text:
            prompt.say(f"<{prompt.text}>")
            return None
        agent.note(prompt_id=prompt.id)
        prompt.say("working")
        return NO_ANSWER
"""
DEAF = "    IGNORE_EOF = IGNORE_SIGTERM = True\n"
CLOSES = """
    INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {"close": {}}}}
"""
V2 = """
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}
    def state(prompt, word, **fields):
        prompt.update("state_update", state=word, **fields)
    def turn(agent, prompt):
        prompt.reply({})
        state(prompt, "running")
        prompt.say("working", messageId="m")
        return NO_ANSWER
"""


async def hanging(host: Host, script: str, agent: float = FOREVER, step: float = FOREVER, key: int = 1) -> None:
    """A turn that hangs, with that patience."""
    if "it" not in host.scripts:
        host.script(script)
    host.open(key)
    host.app.sessions[key].cancelling.patience = Patience(agent, step)
    host.prompt("hang", key)
    await host.until("a turn that works", lambda: host.text(key=key).endswith("working"))


def methods(host: Host) -> list[str]:
    """What the agent got after the first prompt."""
    got = [one["method"] for one in host.scripts["it"].received() if "method" in one]
    return got[got.index("session/prompt") + 1 :]


async def ended(host: Host, key: int = 1) -> str:
    """Wait for the end of the turn and return its stop reason."""
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd, key))
    reason: str = host.of(events.TurnEnd, key)[-1].stop_reason
    return reason


async def test_every_means_is_tried_and_shown_in_its_order(host: Host) -> None:
    script = DEAF + CLOSES + HANGS + "    def session_close(agent, request): return NO_ANSWER\n"
    await hanging(host, script, step=SOON)
    host.cancel(force=True)
    assert await ended(host) == "cancelled"
    await host.until_state("stopped")
    await host.until("the last word", lambda: host.notices()[-1] == ENDED)
    assert host.notices() == [AGAIN, CLOSING, *ENDING, STOPPED, ENDED]
    assert methods(host)[:3] == ["session/cancel", "$/cancel_request", "session/close"]
    assert host.editor.all(events.Error) == []
    assert not any(look_at(pid) for pid in host.scripts["it"].notes("started"))


async def test_the_next_prompt_revives_the_session(host: Host) -> None:
    await hanging(host, HANGS, step=SOON)
    host.cancel(force=True)
    await host.until_state("stopped")
    assert await host.turn("again") == "end_turn"
    assert host.text().endswith("<again>")
    assert "it does not know what was said above" in "".join(host.notices())


async def test_an_agent_that_knows_cancel_request_keeps_its_session(host: Host) -> None:
    await hanging(
        host,
        HANGS
        + """
    def cancel_request(agent, request):
        agent.wire.send({"id": request.params["requestId"], "error": {"code": -32800, "message": "Cancelled"}})
    """,
    )
    host.cancel()
    host.cancel(force=True)
    assert await ended(host) == "cancelled"
    script = host.scripts["it"]
    [withdrawn] = script.received("$/cancel_request")
    assert [withdrawn["params"]["requestId"]] == script.notes("prompt_id")
    assert "id" not in withdrawn
    assert host.notices() == [AGAIN, STOPPED]
    assert await host.turn("again") == "end_turn"
    assert methods(host) == ["session/cancel", "$/cancel_request", "session/prompt"]
    assert host.editor.all(events.Error) == []


@pytest.mark.parametrize("ends", ["at the close", "never"])
async def test_a_closed_session_is_left_and_the_process_serves_the_others(host: Host, ends: str) -> None:
    go = host.directory / "go"
    script = f"""
    PROMPTS = []
    def turn(agent, prompt):
        if prompt.text == "go on":
            prompt.wait_cancelled()
            return "cancelled"
        PROMPTS.append(prompt)
        prompt.say("working")
        return NO_ANSWER
    def session_close(agent, request):
        if {ends!r} == "at the close":
            PROMPTS[0].reply({{"stopReason": "cancelled"}})
        while not os.path.exists({str(go)!r}):
            time.sleep(0.01)
    """
    host.script(CLOSES + script)
    host.open(2)
    host.prompt("go on", 2)
    await hanging(host, "")
    host.cancel(force=True)
    await host.until("the first means", lambda: AGAIN in host.notices())
    host.cancel(force=True)
    await host.until_received("session/close")
    if ends == "never":
        host.app.sessions[1].cancelling.patience = Patience(FOREVER, SOON)
    go.touch()
    await host.until_state("stopped")
    assert host.notices() == [AGAIN, CLOSING, STOPPED, CLOSED]
    assert host.of(events.TurnEnd, 2) == []
    host.cancel(2)
    assert await ended(host, 2) == "cancelled"
    assert len(host.scripts["it"].notes("started")) == 1


async def test_a_prompt_that_was_sent_meanwhile_goes_to_a_new_session(host: Host) -> None:
    close = "    def session_close(agent, request): PROMPTS[0].reply({'stopReason': 'cancelled'})\n"
    await hanging(
        host, CLOSES + HANGS.replace("agent.note", "PROMPTS.append(prompt); agent.note") + "    PROMPTS = []\n" + close
    )
    host.cancel(force=True)
    host.prompt("again")
    await host.until("the first means", lambda: AGAIN in host.notices())
    host.cancel(force=True)
    await host.until("the answer", lambda: host.text().endswith("<again>"))
    assert [one["params"]["prompt"][0]["text"] for one in host.scripts["it"].received("session/prompt")] == [
        "hang",
        "again",
    ]
    assert methods(host) == [
        "session/cancel",
        "$/cancel_request",
        "session/close",
        "initialize",
        "session/new",
        "session/prompt",
    ]


async def test_an_agent_that_does_not_close_is_ended(host: Host) -> None:
    script = CLOSES + HANGS + "    def session_close(agent, request): raise Error(-32603, 'busy')\n"
    await hanging(host, script)
    host.cancel(force=True)
    await host.until("the first means", lambda: AGAIN in host.notices())
    host.cancel(force=True)
    await host.until_state("stopped")
    refused = "Agent 'it' refused to close the session: busy. :AcpLog shows what it said."
    assert host.notices()[:4] == [AGAIN, CLOSING, refused, ENDING[0]]


async def test_version_2_is_asked_again_by_session_cancel_once_it_has_taken_the_prompt(host: Host) -> None:
    host.hello(protocol={"v2": True})
    await hanging(
        host,
        V2
        + """
    CANCELS = []
    def session_cancel(agent, request):
        CANCELS.append(request)
        if len(CANCELS) == 2:
            update = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled"}
            agent.update(request.params["sessionId"], update)
    """,
    )
    host.cancel(force=True)
    assert await ended(host) == "cancelled"
    assert host.notices() == [AGAIN, STOPPED]
    assert methods(host) == ["session/cancel", "session/cancel"]


async def test_a_turn_that_the_agent_began_by_itself_is_ended_too(host: Host) -> None:
    host.hello(protocol={"v2": True})
    host.script(
        V2
        + """
    def opened(agent, session_id):
        agent.update(session_id, {"sessionUpdate": "state_update", "state": "running"})
    def session_close(agent, request): return NO_ANSWER
    """
    )
    host.open()
    await host.until_state("background")
    host.app.sessions[1].cancelling.patience = Patience(FOREVER, SOON)
    host.cancel(force=True)
    await host.until_state("stopped")
    assert await ended(host) == "cancelled"
    assert host.scripts["it"].received("session/prompt") == []


async def test_a_second_cancel_tells_how_long_it_has_been_and_what_insists(host: Host) -> None:
    await hanging(host, HANGS)
    host.cancel()
    assert host.notices() == []
    host.app.sessions[1].cancelling._since -= 4
    host.cancel()
    [said] = host.notices()
    assert "The agent was asked to stop 4 s ago. :AcpCancel! insists" in said
    await host.until_received("session/cancel")
    host.app.sessions[1].peer.notify("all/said", {})
    await host.until_received("all/said")
    assert methods(host) == ["session/cancel", "all/said"]
    assert host.of(events.TurnEnd) == []


async def test_an_agent_that_does_not_stop_is_told_of_once_and_the_next_cancel_insists(host: Host) -> None:
    host.script(HANGS)
    host.hello(timeouts={"cancel": 10})
    host.open()
    host.prompt("hang")
    await host.until("a turn that works", lambda: host.text().endswith("working"))
    host.cancel()
    error = await host.editor.until_event(events.Error)
    assert error.code == "agent_hangs"
    assert error.text.startswith(
        "Agent 'it' has not stopped 0.01 s after it was asked to. Your next prompt, or :AcpCancel"
    )
    assert host.notices() == [error.text]
    host.app.sessions[1].cancelling.patience = Patience(SOON, SOON)
    host.cancel()
    await host.until_state("stopped")
    assert host.notices()[:3] == [error.text, AGAIN, ENDING[0]]
    assert len(host.editor.all(events.Error)) == 1


async def test_who_shares_the_process_is_counted_before_anything_is_done(host: Host) -> None:
    for key in (2, 3):
        await hanging(host, HANGS, key=key)
    await hanging(host, HANGS, agent=SOON)
    host.cancel()
    error = await host.editor.until_event(events.Error)
    assert "The process serves 2 other chats, whose turns would end with it." in error.text
    assert "Your next prompt" not in error.text
    host.prompt("patient")
    host.app.sessions[1].peer.notify("all/said", {})
    await host.until_received("all/said")
    assert methods(host)[-2:] == ["session/cancel", "all/said"]
    assert host.notices() == [error.text]


@pytest.mark.parametrize("typed", ["before", "after"])
async def test_a_prompt_does_not_wait_for_ever_for_an_agent_that_does_not_stop(host: Host, typed: str) -> None:
    """The agent does not answer once its command was cancelled."""
    await hanging(
        host,
        """
    INITIALIZE = {"agentCapabilities": {"loadSession": True}}
    IGNORE_EOF = True
    """
        + HANGS,
        agent=FOREVER if typed == "before" else SOON,
        step=SOON,
    )
    if typed == "before":
        host.cancel()
        host.prompt("next")
        await host.until_received("session/cancel")
        assert host.notices() == []
        session = host.app.sessions[1]
        session.cancelling.patience = Patience(SOON, SOON)
        await session.cancelling._watch(session.peer, session.session_id, session.turns.turn.over)
    else:
        host.cancel()
        await host.editor.until_event(events.Error)
        host.prompt("next")
    await host.until("the answer", lambda: host.text().endswith("<next>"))
    assert len([one for one in host.notices() if "has not stopped" in one]) == 1
    assert len(host.scripts["it"].received("session/load")) == 1


async def test_nothing_is_said_of_a_turn_that_ended_in_time(host: Host) -> None:
    await hanging(
        host,
        """
    def turn(agent, prompt):
        prompt.say("working")
        prompt.wait_cancelled()
        return "cancelled"
    """,
    )
    host.cancel()
    await ended(host)
    assert host.notices() == [STOPPED]
    host.cancel()
    host.prompt("hang")
    await host.until("the next turn", lambda: host.text() == "workingworking")
    host.cancel()
    await host.until("its end", lambda: len(host.of(events.TurnEnd)) == 2)
    assert host.notices() == [STOPPED, STOPPED]


async def test_an_agent_that_dies_meanwhile_is_told_of_as_always(host: Host) -> None:
    await hanging(host, HANGS + "    def cancel_request(agent, request): agent.exit(3)\n")
    host.cancel(force=True)
    await host.until_state("failed")
    assert [error.code for error in host.editor.all(events.Error)] == ["agent_exited"]
    assert CLOSING not in host.notices()
    assert ENDED not in host.notices()


async def test_what_the_agent_says_meanwhile_is_shown(host: Host) -> None:
    await hanging(
        host,
        """
    def turn(agent, prompt):
        prompt.tool("c", "Run", status="in_progress")
        prompt.say("working")
        prompt.wait_cancelled()
        agent.expect("$/cancel_request")
        prompt.tool_update("c", status="completed")
        prompt.say("and more")
        return "cancelled"
    def run(agent):
        agent.handshake()
        prompt = agent.expect("session/prompt")
        prompt.reply({"stopReason": turn(agent, prompt)})
    """,
    )
    host.cancel()
    assert [call.status for call in host.calls().values()] == ["cancelled"]
    host.cancel(force=True)
    await ended(host)
    assert [call.status for call in host.calls().values()] == ["completed"]
    assert host.text() == "workingand more"


async def test_with_a_bang_and_no_turn_the_process_is_ended(host: Host) -> None:
    host.script(HANGS)
    await host.turn("hi")
    host.cancel(force=True)
    await host.until("the last word", lambda: host.notices()[-1:] == [ENDED])
    assert host.notices() == [ENDING[0], ENDED]
    assert len(host.of(events.TurnEnd)) == 1


async def test_a_stop_counts_also_while_the_process_is_being_ended(host: Host) -> None:
    await hanging(host, HANGS + DEAF, 3600.0, 3600.0)
    session = host.app.sessions[1]
    host.cancel()
    host.cancel(force=True)
    await host.until("again", lambda: any("again" in one for one in host.notices()))
    host.cancel(force=True)
    await host.until("its end", lambda: any("Ending the agent" in one for one in host.notices()))
    host.prompt("next")
    host.stop()
    assert session.states.now.base == "stopped"
    assert session.peer is None
