"""MCP servers of the configuration, for whoever can reach them; and what version 2 says of sessions otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.contract.session_events import SessionDone, SessionsListed
from acp_nvim.rpc.session_lists import offers
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

SERVERS: dict[str, dict[str, Any]] = {
    "stdio": {"name": "local", "command": "/bin/sh", "args": ["-v"], "env": [{"name": "A", "value": "b"}]},
    "http": {"type": "http", "name": "web", "url": "http://127.0.0.1/mcp", "headers": [{"name": "H", "value": "v"}]},
    "sse": {"type": "sse", "name": "events", "url": "http://127.0.0.1/sse", "headers": []},
}

V1 = """
    ABLE = {"list": {}, "resume": {}, "fork": {}}
    MCP = {"http": True, "sse": True}
    INITIALIZE = {"agentCapabilities": {"loadSession": True, "mcpCapabilities": MCP, "sessionCapabilities": ABLE}}
    def session_load(agent, request): return {}
    def session_resume(agent, request): return {}
    def session_fork(agent, request): return {"sessionId": "forked"}
"""

V2 = """
    SESSION = {"mcp": {"stdio": {}, "http": {}}, "delete": {}, "additionalDirectories": {}}
    INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": SESSION}}
    def session_list(agent, request):
        return {"sessions": [{"sessionId": "s", "cwd": request.params["cwd"], "title": "T"}]}
    def session_resume(agent, request):
        if "replayFrom" in request.params:
            agent.update(request.params["sessionId"], {"sessionUpdate": "agent_message_chunk", "messageId": "m",
                         "content": {"type": "text", "text": "told anew"}})
        return {}
    def session_close(agent, request): return {}
    def session_delete(agent, request): return {}
"""


async def wanted(host: Host, how: str) -> Any:
    """What the agent is asked for when a session is opened in that way."""
    if how == "new":
        host.open(1)
    else:
        params = {"session": 1, "agent": "it", "cwd": str(host.cwd), "session_id": "kept", "how": how}
        host.app.receive("resume", params)
    await host.until_state("idle", 1)
    [request] = host.scripts["it"].received(f"session/{how}")
    return request["params"]


@pytest.mark.parametrize("how", ["new", "load", "resume", "fork"])
async def test_all_servers_go_to_an_agent_that_reaches_them(host: Host, how: str) -> None:
    host.script(V1)
    host.config["agents"]["it"]["mcp_servers"] = list(SERVERS.values())
    host.hello()
    assert (await wanted(host, how))["mcpServers"] == list(SERVERS.values())
    assert not [words for words in host.notices(1) if "left out" in words]


@pytest.mark.parametrize(("kind", "capability"), [("http", '{"sse": True}'), ("sse", '{"http": True}')])
async def test_those_that_it_cannot_reach_are_left_out_and_named(host: Host, kind: str, capability: str) -> None:
    host.script(f'INITIALIZE = {{"agentCapabilities": {{"mcpCapabilities": {capability}}}}}')
    host.config["agents"]["it"]["mcp_servers"] = list(SERVERS.values())
    host.hello()
    sent = (await wanted(host, "new"))["mcpServers"]
    assert sent == [server for name, server in SERVERS.items() if name != kind]
    assert host.notices(1) == [
        f"MCP server {SERVERS[kind]['name']!r} is left out: the agent cannot reach servers of its type."
    ]


async def test_version_2_has_its_own_words_for_servers(host: Host) -> None:
    host.script(V2)
    host.config["agents"]["it"]["mcp_servers"] = list(SERVERS.values())
    host.hello(protocol={"v2": True})
    sent = (await wanted(host, "new"))["mcpServers"]
    assert [(one["type"], one["name"]) for one in sent] == [("stdio", "local"), ("http", "web")]
    assert "'events' is left out" in host.notices(1)[0]


async def test_servers_are_for_all_agents_for_one_and_for_a_project(host: Host) -> None:
    host.script("")

    def server(*args: str) -> dict[str, Any]:
        return {"command": "/bin/sh", "args": list(args)}

    host.config["agents"]["it"]["mcp_servers"] = {"b": server("agent"), "c": server("agent")}
    host.config["agents"]["it"]["projects"] = {
        str(host.cwd.parent): {"mcp_servers": {"c": server("outer")}},
        str(host.cwd): {"mcp_servers": {"c": server("project")}},
    }
    host.hello(mcp_servers={"a": server("all"), "b": server("all")})
    sent = (await wanted(host, "new"))["mcpServers"]
    assert [(one["name"], one["args"][0]) for one in sent] == [("a", "all"), ("b", "agent"), ("c", "project")]
    assert [one.name for one in host.status(1).mcp] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ({"command": "/nonesuch"}, "its program /nonesuch is not found, install it or correct the path"),
        (
            {"command": "/bin/sh", "env": {"A": "${NOT_SET_ANYWHERE}"}},
            "the environment variable NOT_SET_ANYWHERE is not",
        ),
        ({"command": "/bin/sh", "args": "x"}, "expected `array`, got `str` in it.args"),
        ({"type": "carrier-pigeon", "url": "x"}, "the agent cannot reach servers of its type"),
        ({"type": ["http"], "url": "x"}, "the agent cannot reach servers of its type"),
        ({"command": "/bin/sh", "env": 5}, "expected `array`, got `int` in it.env"),
        ({}, "it has no command"),
    ],
)
async def test_a_server_that_cannot_be_used_costs_only_itself(host: Host, server: Any, words: str) -> None:
    host.script("")
    host.hello(mcp_servers={"bad": server, "good": {"command": "/bin/sh"}})
    assert [one["name"] for one in (await wanted(host, "new"))["mcpServers"]] == ["good"]
    [notice] = host.notices(1)
    assert notice.startswith("MCP server 'bad' is left out: ")
    assert words in notice


async def test_secrets_of_the_environment_are_sent_and_not_written(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIGEON_TOKEN", "a-very-secret-value")
    host.script("")
    web = {"url": "http://127.0.0.1/${PIGEON_TOKEN}", "headers": {"Authorization": "Bearer ${PIGEON_TOKEN}"}}
    host.script('INITIALIZE = {"agentCapabilities": {"mcpCapabilities": {"http": True}}}')
    host.hello(mcp_servers={"web": web}, log={"traffic": True})
    [sent] = (await wanted(host, "new"))["mcpServers"]
    assert sent["headers"] == [{"name": "Authorization", "value": "Bearer a-very-secret-value"}]
    traffic = list(host.log_path.with_suffix("").glob("traffic/*"))
    assert traffic
    for path in (host.log_path, *traffic):
        assert "a-very-secret-value" not in path.read_text()


async def test_version_2_lists_loads_closes_and_deletes(host: Host) -> None:
    host.script(V2)
    host.hello(protocol={"v2": True})
    host.app.receive("sessions_list", {"id": 1, "cwd": str(host.cwd), "open": [], "agents": ["it"]})
    await host.until("the list", lambda: any(not one.waits for one in host.editor.all(SessionsListed)))
    told = host.editor.all(SessionsListed)[-1]
    assert ([one.session_id for one in told.entries], told.problems) == (["s"], {})
    [peer] = host.app.peers.known()
    assert offers(peer.abilities) == ["list", "load", "resume", "close", "delete"]
    params = {"session": 1, "agent": "it", "cwd": str(host.cwd), "session_id": "s"}
    host.app.receive("resume", {**params, "how": "load"})
    await host.until_state("idle", 1)
    assert host.text() == "told anew"
    host.app.receive("resume", {**params, "session": 2, "session_id": "other", "how": "resume"})
    await host.until_state("idle", 2)
    assert host.text(key=2) == ""
    assert ["replayFrom" in one["params"] for one in host.scripts["it"].received("session/resume")] == [True, False]
    host.app.receive("session_delete", {"id": 2, "agent": "it", "cwd": str(host.cwd), "session": 1, "session_id": "s"})
    done = await host.editor.until_event(SessionDone)
    assert (done.words, done.problem) == ("deleted at it", None)
    assert [len(host.scripts["it"].received(f"session/{one}")) for one in ("close", "delete")] == [1, 1]


async def test_version_2_has_no_forks(host: Host) -> None:
    host.script(V2)
    host.hello(protocol={"v2": True})
    host.app.receive("resume", {"session": 1, "agent": "it", "cwd": str(host.cwd), "session_id": "s", "how": "fork"})
    await host.until_state("failed", 1)
    assert "does not offer to fork the session" in host.notices(1)[-1]
