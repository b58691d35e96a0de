"""A process for which nobody has any use is stopped after a while, and its sessions go on with their next prompts."""

from __future__ import annotations

import anyio
import pytest

from acp_nvim.connection import peer as peer_module
from acp_nvim.contract import events
from tests.agents.in_process import look_at
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

SOON = {"idle": 50}

RESUMES = """
    INITIALIZE = {"agentCapabilities": {"sessionCapabilities": {"resume": {}}}}

    def session_resume(agent, request):
        return {}

    def turn(agent, prompt):
        if prompt.text == "ask":
            prompt.ask("c")
        if prompt.text == "run":
            made = agent.request("terminal/create", {
                "sessionId": prompt.session_id, "command": "sh",
                "args": ["-c", "until test -e go; do sleep 0.05; done"]})
        prompt.say(f"<{prompt.text}>")
"""


async def asleep(host: Host, key: int = 1) -> events.StatusView:
    """Wait until the session's process was stopped for want of work."""
    await host.until("sleep", lambda: (status := host.status(key)) is not None and status.asleep)
    status = host.status(key)
    assert status is not None
    return status


async def long_enough(host: Host) -> None:
    """Six times as long as the process may have nothing to do."""
    peer = host.app.sessions[1].peer
    assert peer is not None
    await host.until("time to pass", lambda: anyio.current_time() - peer.last_word > 6 * SOON["idle"] / 1000)


async def test_it_is_stopped_and_the_next_prompt_goes_on_without_a_word(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer_module, "IDLE_LOOK_SECONDS", 0.01)
    host.hello(timeouts={"idle": 0})  # else it may be stopped between the two turns
    script = host.script(RESUMES)
    for key in (1, 2):
        await host.turn("one", key)
    host.hello(timeouts=SOON)
    assert [(await asleep(host, key)).state for key in (1, 2)] == ["stopped", "stopped"]
    [pid] = script.notes("started")
    await host.until("the end of the process", lambda: look_at(pid) is None)
    host.hello(timeouts={"idle": 0})
    for key in (1, 2):
        assert await host.turn("two", key) == "end_turn"
        assert host.text(key=key) == "<one><two>"
        status = host.status(key)
        assert status is not None
        assert not status.asleep
    assert host.notices(1) == host.notices(2) == []
    assert host.editor.all(events.Error) == []
    assert len(script.notes("started")) == 2


async def test_while_something_waits_or_runs_it_stays(free_host: Host) -> None:
    host = free_host
    host.hello(timeouts=SOON)
    script = host.script(RESUMES)
    host.open(1)
    host.prompt("ask", 1)
    asked = await host.editor.until_event(events.Permission)
    await host.turn("run", 2)
    await long_enough(host)
    assert len(script.notes("started")) == 1
    [pid] = script.notes("started")
    assert look_at(pid) is not None
    host.answer(asked.request.id, "allow")
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd, 1))
    await long_enough(host)
    assert look_at(pid) is not None  # for the terminal
    (host.cwd / "go").touch()
    await asleep(host, 1)
    await asleep(host, 2)


@pytest.mark.parametrize("why", ["it cannot resume", "never", "the agent's own"])
async def test_who_is_to_stay_stays(host: Host, why: str) -> None:
    host.hello(timeouts=SOON)
    script = host.script(RESUMES.replace('"resume"', '"fork"') if why == "it cannot resume" else RESUMES)
    if why == "never":
        host.hello(timeouts={"idle": 0})
    elif why == "the agent's own":
        host.config["agents"]["it"]["idle_seconds"] = 3600
        host.hello()
    await host.turn("one")
    await long_enough(host)
    assert len(script.notes("started")) == 1
    assert (await host.until_state("idle")).asleep is False


async def test_an_agent_may_have_its_own_time(host: Host) -> None:
    host.script(RESUMES)
    host.config["agents"]["it"]["idle_seconds"] = 0.05
    host.hello()
    await host.turn("one")
    await asleep(host)
