"""A prompt goes out when the editor knows that it does: else who dies then has it sent twice."""

from __future__ import annotations

import math

import anyio
import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

ECHO = "def turn(agent, prompt): prompt.say(prompt.text)"


async def test_the_editor_knows_first_however_long_that_takes(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    script = host.script(ECHO)
    knows = anyio.Event()
    waits: list[float] = []

    async def told(*_: object) -> None:
        waits.append(anyio.current_effective_deadline())
        await knows.wait()

    monkeypatch.setattr(host.editor, "told", told)
    host.open()
    host.prompt("hello")
    await host.until("the editor to be asked", lambda: waits)
    assert [event.text for event in host.of(events.Append)] == ["hello"]
    assert script.received("session/prompt") == []
    assert waits == [math.inf]
    knows.set()
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd))
    assert host.text() == "hello"
