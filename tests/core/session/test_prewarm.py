"""An agent that is started ahead: the next session there uses it, nobody is told when it fails, and it is not kept."""

from __future__ import annotations

import os

import pytest

from acp_nvim.connection import peers
from acp_nvim.contract import events
from tests.agents.in_process import look_at
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

OFFERS = 'INITIALIZE = {"agentCapabilities": {"loadSession": True}}'


def prewarm(host: Host, agent: str = "it", cwd: str | None = None) -> None:
    """Start an agent ahead, like Lua while Neovim is idle."""
    host.app.receive("prewarm", {"agent": agent, "cwd": cwd or str(host.cwd)})


async def until_warm(host: Host) -> None:
    """Its answer to `initialize` was taken."""
    await host.until("the agent", lambda: any(one.is_used for one in host.app.peers.known()))


def alive(host: Host) -> list[bool]:
    """Return for each process of the agent whether it runs, in the order of their start."""
    return [look_at(pid) is not None for pid in host.scripts["it"].notes("started")]


async def test_it_opens_no_session_and_the_next_one_uses_it(host: Host) -> None:
    script = host.script("")
    prewarm(host)
    await until_warm(host)
    assert [one["method"] for one in script.received()] == ["initialize"]
    assert await host.turn() == "end_turn"
    assert len(script.notes("started")) == 1
    assert [one["method"] for one in script.received()] == ["initialize", "session/new", "session/prompt"]
    host.stop()
    await host.until("the end of the process", lambda: alive(host) == [False])


async def test_a_session_that_comes_while_it_starts_waits_for_it(host: Host) -> None:
    script = host.script("")
    prewarm(host)
    assert await host.turn() == "end_turn"
    assert len(script.notes("started")) == 1
    host.stop()
    await host.until("the end of the process", lambda: alive(host) == [False])


async def test_one_that_works_already_is_not_kept_longer(host: Host) -> None:
    script = host.script("")
    await host.turn()
    prewarm(host)
    prewarm(host)
    assert await host.turn("again") == "end_turn"
    host.stop()
    await host.until("the end of the process", lambda: alive(host) == [False])
    assert len(script.notes("started")) == 1


async def test_in_another_directory_it_is_of_no_use(host: Host) -> None:
    script = host.script("")
    prewarm(host, cwd=str(host.directory))
    await until_warm(host)
    await host.turn()
    assert len(script.notes("started")) == 2


async def test_one_that_nobody_uses_ends(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "PREWARMED_SECONDS", 0.01)
    script = host.script(OFFERS)
    prewarm(host)
    await host.until("its start and end", lambda: alive(host) == [False])
    assert script.received("session/new") == []
    assert await host.turn() == "end_turn"
    assert alive(host) == [False, True]


@pytest.mark.parametrize(
    "source",
    [
        'def start(agent):\n    agent.stderr("no key\\n"); agent.exit(1)',
        'INITIALIZE = {"protocolVersion": 77}',
        'def initialize(agent, request): raise Error(-32000, "Authentication required")',
    ],
)
async def test_a_failure_is_only_logged_and_told_to_who_opens_a_session(host: Host, source: str) -> None:
    host.script(source)
    prewarm(host)
    await host.until("the log", lambda: "it: was not started ahead: " in host.log_path.read_text())
    assert host.editor.all(events.Error) == []
    host.open()
    await host.until_state("failed")
    assert len(host.editor.all(events.Error)) == 1


async def test_an_agent_that_nobody_knows_is_only_logged(host: Host) -> None:
    prewarm(host, "nobody")
    await host.until("the log", lambda: "nobody: was not started ahead: " in host.log_path.read_text())
    assert host.editor.all(events.Error) == []


async def test_one_that_dies_before_it_is_used_is_started_again(host: Host) -> None:
    script = host.script("", is_process=True)
    prewarm(host)
    await until_warm(host)
    os.kill(script.notes("started")[0], 9)
    await host.until("its end", lambda: not any(one.alive for one in host.app.peers.known()))
    assert host.editor.all(events.Error) == []
    assert await host.turn() == "end_turn"
    assert len(script.notes("started")) == 2
