"""A prompt goes out when the editor knows that it does, or does not answer: else who dies then has it sent twice."""

from __future__ import annotations

import anyio
import pytest

from acp_nvim import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

ECHO = "def turn(agent, prompt): prompt.say(prompt.text)"


@pytest.mark.parametrize(("seconds", "waits"), [(3600, True), (0, False)])
async def test_the_editor_knows_first(host: Host, monkeypatch: pytest.MonkeyPatch, seconds: float, waits: bool) -> None:
    script = host.script(ECHO)
    knows, asked = anyio.Event(), anyio.Event()

    async def told() -> None:
        asked.set()
        await knows.wait()

    monkeypatch.setattr("acp_nvim.session.turns.TOLD_SECONDS", seconds)
    monkeypatch.setattr(host.editor, "told", told)
    host.open()
    host.prompt("hello")
    if waits:
        await asked.wait()
        assert [event.text for event in host.of(events.Append)] == ["hello"]
        assert script.received("session/prompt") == []
        knows.set()
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd))
    assert host.text() == "hello"
