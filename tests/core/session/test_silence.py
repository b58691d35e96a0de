"""A turn in which nothing comes from the agent: the user is told once, unless somebody else keeps it waiting."""

from __future__ import annotations

import pytest
from anyio import Path

from acp_nvim.contract import events
from acp_nvim.session import background
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

WORDS = "There is no sign from the agent for 0.05 s; its provider may be refusing. :AcpCancel stops the turn."


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent need not be silent for long."""
    monkeypatch.setattr(background, "SILENT_SECONDS", 0.05)


def told(host: Host) -> list[str]:
    """What was said of silences, in any form."""
    return [one for one in host.notices() if "no sign" in one]


async def test_a_silence_is_told_once_and_is_over_when_something_comes(host: Host) -> None:
    go_on = host.directory / "go-on"
    host.script(f"""
        import os

        def turn(agent, prompt):
            for text in ("be", "gin", "ning"):
                prompt.say(text)
                while not os.path.exists({str(go_on)!r} + text) and not prompt.pause(0.01):
                    pass
    """)
    host.open()
    host.prompt("go")
    await host.until("the words", lambda: told(host) == [WORDS])
    await host.until("the status", lambda: (shown := host.status()) is not None and shown.activity in WORDS)
    await Path(f"{go_on}be").touch()
    await host.until("the end of the silence", lambda: len(told(host)) == 2)
    first, last = host.of(events.Notice)
    assert (first.block, last.level) == (last.block, "info")
    assert last.text.startswith("There was no sign from the agent for ")
    status = host.status()
    assert status is not None
    assert status.activity == "writing"
    await Path(f"{go_on}gin").touch()
    await host.until("the last word", lambda: host.text() == "beginning")
    assert {one.block for one in host.of(events.Append) if one.kind == "agent"} == {2}  # the notice splits no message
    await Path(f"{go_on}ning").touch()
    await host.until_state("idle")
    assert len(told(host)) == 2


@pytest.mark.parametrize("what", ["call", "ask", "command"])
async def test_nothing_is_said_while_somebody_elseis_waited_for(
    free_host: Host, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    host, looks = free_host, []
    waits = background.Silence.is_waited_for

    def look(self: background.Silence) -> bool:
        looks.append(waits(self))
        return looks[-1]

    host.script("""
        def turn(agent, prompt):
            match prompt.text:
                case "call":
                    prompt.tool("c", "Build", status="in_progress")
                case "ask":
                    prompt.ask("c")
                case "command":
                    prompt.terminal("sleep", "1000")
            agent.note(begun=1)
            prompt.wait_cancelled()
    """)
    host.open()
    host.prompt(what)
    if what == "ask":
        await host.until("the question", lambda: host.of(events.Permission))
    else:
        await host.until_note("begun")
    monkeypatch.setattr(background.Silence, "is_waited_for", look)
    await host.until("many looks", lambda: looks[-10:] == [True] * 10)
    before = len(told(host))
    await host.until("many more", lambda: looks[-40:] == [True] * 40)
    assert len(told(host)) == before
    host.cancel()
    await host.until_state("idle")
    assert len(told(host)) == before


async def test_in_the_next_turn_it_is_told_again(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.wait_cancelled()
    """)
    host.open()
    for count in (1, 2):
        host.prompt("go")
        await host.until("the words", lambda count=count: told(host).count(WORDS) == count)
        host.cancel()
        await host.until_state("idle")
    assert [one.stop_reason for one in host.of(events.TurnEnd)] == ["cancelled"] * 2
