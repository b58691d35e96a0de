"""Modes, models and options: set at the agent, applied here, and only where the agent has them."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from acp_nvim.errors import FailureError
from acp_nvim.session.configuration import Configuration
from acp_nvim.transcript.switches import Switch, find_switch
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

AGENT = """
    MODES = {"currentModeId": "code", "availableModes": [{"id": "code", "name": "Code"}, {"id": "ask", "name": "Ask"}]}
    MODELS = {"currentModelId": "big", "availableModels": [{"modelId": "big", "name": "Big"}]}
    OPTION = {"id": "o", "name": "O", "type": "select", "category": "mode", "currentValue": "code", "options": []}
    SESSION = {"modes": MODES, "models": MODELS, "configOptions": [OPTION]}
    def session_set_mode(agent, request):
        return {}
    def session_set_model(agent, request):
        return {}
    def session_set_config_option(agent, request):
        return {"configOptions": [{**OPTION, "currentValue": request.params["value"]}]}
"""

MODE = Switch(switch_id="mode", name="Mode", kind="select", how="mode")
MODEL = Switch(switch_id="model", name="Model", kind="select", how="model")


async def configuration(host: Host, script: str) -> Configuration:
    """Return the configuration of an open session with that agent."""
    host.script(script)
    host.open()
    await host.until_state("idle")
    return host.app.sessions[1].configuration


async def test_what_is_set_is_sent_and_applied(host: Host) -> None:
    changing = await configuration(host, AGENT)
    await changing.change(MODE, "ask")
    await changing.change(MODEL, "small")
    status = await host.until_state("idle")
    assert (status.mode, status.model) == ("ask", "small")
    switches = host.app.sessions[1].presenter.metadata.switches
    await changing.change(find_switch(switches.all, "o"), "review")
    assert find_switch(switches.all, "o").current == "review"
    assert (await host.until_state("idle")).mode == "review"
    sent = {one["method"]: one["params"] for one in host.scripts["it"].received()}
    assert sent["session/set_mode"] == {"sessionId": "session-1", "modeId": "ask"}
    assert sent["session/set_model"] == {"sessionId": "session-1", "modelId": "small"}
    assert sent["session/set_config_option"] == {"sessionId": "session-1", "configId": "o", "value": "review"}


async def test_what_the_session_does_not_have_is_not_asked_for(host: Host) -> None:
    changing = await configuration(host, "")
    for what in ("mode", "model", "o"):
        assert changing.set(what, "x")
    await host.until(
        "three", lambda: sum("offers nothing of the kind" in one.text for one in host.of(events.Error)) == 3
    )
    assert [one["method"] for one in host.scripts["it"].received()] == ["initialize", "session/new"]


async def test_a_refusal_is_told_in_words_and_changes_nothing(host: Host) -> None:
    changing = await configuration(
        host, AGENT + '    def session_set_mode(agent, request):\n        raise Error(-32602, "no such mode")\n'
    )
    with pytest.raises(FailureError, match="no such mode"):
        await changing.change(MODE, "x")
    assert (await host.until_state("idle")).mode == "code"


async def test_there_is_nothing_to_switch_without_an_agent(host: Host) -> None:
    host.script("")
    host.open()
    await host.until_state("idle")
    host.stop()
    await host.until_state("stopped")
    assert not host.app.sessions[1].configuration.set("mode", "x")


@pytest.mark.parametrize(
    ("servers", "words"),
    [
        ([{"name": "a"}], "command"),
        ([{"command": "/bin/sh"}], "name"),
        ([{"name": "a", "command": "/bin/sh", "args": "x"}], "args"),
    ],
)
async def test_servers_that_are_malformed_are_named(host: Host, servers: list[dict[str, str]], words: str) -> None:
    script = host.script("")
    host.config["agents"]["it"]["mcp_servers"] = servers
    host.hello()
    host.open()
    await host.until_state("idle")
    [notice] = host.notices()
    assert notice.startswith(f"MCP server {servers[0].get('name')!r} is left out: ")
    assert words in notice
    assert script.received("session/new")[0]["params"]["mcpServers"] == []


async def test_a_server_of_a_type_that_the_agent_lacks_is_left_out_and_told(host: Host) -> None:
    host.script("")
    host.config["agents"]["it"]["mcp_servers"] = [{"name": "web", "type": "http", "url": "https://x", "headers": []}]
    host.hello()
    host.open()
    await host.until_state("idle")
    assert host.scripts["it"].received("session/new")[0]["params"]["mcpServers"] == []
    assert any("'web'" in text for text in host.notices())
