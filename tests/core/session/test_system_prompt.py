"""The system prompt of an agent: sent with each way to open a session, where the agent takes one."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host
from tests.support.schemas import load

pytestmark = pytest.mark.anyio

TAKES: dict[str, Any] = {"systemPrompt": {}}
REPLACES: dict[str, Any] = {"systemPrompt": {"mode": {"override": {}}}}
TEXT = "Answer in verse.\nAlways: \U0001f41a"


def agent(host: Host, version: int, offered: dict[str, Any], prompt: Any) -> None:
    """An agent of that version with these capabilities of sessions, and the prompt of the configuration."""
    session = {"list": {}, "resume": {}, "fork": {}, "close": {}, **offered}
    initialize: dict[str, Any] = {"agentCapabilities": {"sessionCapabilities": session, "loadSession": True}}
    if version == 2:
        initialize = {
            "protocolVersion": 2,
            "info": {"name": "v2", "version": "1"},
            "capabilities": {"session": offered},
        }
    script = host.script(f"""
    INITIALIZE = {initialize!r}
    def session_resume(agent, request):
        return {{}}
    def session_load(agent, request):
        return {{}}
    """)
    host.config["agents"]["it"] = {"command": script.argv, "system_prompt": prompt}
    host.hello(protocol={"v2": True})


def sent(host: Host, method: str) -> list[Any]:
    """The system prompts with which sessions were opened so."""
    return [one["params"].get("systemPrompt") for one in host.scripts["it"].received(method)]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("offered", "mode"), [(TAKES, "append"), (REPLACES, "append"), (REPLACES, "override")], ids=str
)
async def test_it_is_sent_to_an_agent_that_takes_it(
    host: Host, version: int, offered: dict[str, Any], mode: str
) -> None:
    agent(host, version, offered, {"text": TEXT, "mode": mode})
    host.open()
    await host.until_state("idle")
    [params] = [one["params"] for one in host.scripts["it"].received("session/new")]
    assert params["systemPrompt"] == {"mode": mode, "content": [{"type": "text", "text": TEXT}]}
    root = load(f"v{version}", "schema.unstable.json")
    schema = {"$ref": "#/$defs/NewSessionRequest", "$defs": root["$defs"]}
    jsonschema_rs.Draft202012Validator(schema).validate(params)
    assert host.notices() == []


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("offered", "mode", "words"),
    [
        ({}, "append", "takes no system prompt"),
        ({"systemPrompt": None}, "override", "takes no system prompt"),
        ({"systemPrompt": 7}, "append", "takes no system prompt"),
        (TAKES, "override", 'can only add a system prompt to its own instructions (mode = "append")'),
        ({"systemPrompt": {"mode": None}}, "override", "can only add"),
        ({"systemPrompt": {"mode": {"override": None}}}, "override", "can only add"),
    ],
    ids=str,
)
async def test_otherwise_the_user_is_told(
    host: Host, version: int, offered: dict[str, Any], mode: str, words: str
) -> None:
    agent(host, version, offered, {"text": TEXT, "mode": mode})
    host.open()
    await host.until_state("idle")
    assert sent(host, "session/new") == [None]
    told = [one for one in host.notices() if "(agents.it) is left out" in one]
    assert len(told) == 1
    assert f"Agent 'it' {words}" in told[0]


async def test_without_one_nothing_is_said(host: Host) -> None:
    agent(host, 1, {}, None)
    host.open()
    await host.until_state("idle")
    assert sent(host, "session/new") == [None]
    assert host.notices() == []


@pytest.mark.parametrize(
    ("projects", "text"),
    [
        ({}, TEXT),
        ({"": "here"}, "here"),
        ({"..": "above", "": "here"}, "here"),
        ({"..": "above", "below": "below"}, "above"),
        ({"../elsewhere": "elsewhere"}, TEXT),
        ({"": None, "..": "above"}, "above"),
        ({"../link": "by its other name"}, "by its other name"),
    ],
)
async def test_a_project_may_have_another_one(host: Host, projects: dict[str, str | None], text: str) -> None:
    agent(host, 1, TAKES, {"text": TEXT})
    here = host.cwd
    here.with_name("link").symlink_to(here)
    host.config["agents"]["it"]["projects"] = {
        f"{here}/{name}": {"system_prompt": {"text": prompt}} if prompt else {} for name, prompt in projects.items()
    }
    host.hello(protocol={"v2": True})
    host.open()
    await host.until_state("idle")
    assert [one["content"][0]["text"] for one in sent(host, "session/new")] == [text]


@pytest.mark.parametrize("offers", [True, False])
async def test_a_session_that_is_reopened_gets_the_same(host: Host, offers: bool) -> None:
    agent(host, 1, TAKES if offers else {}, {"text": TEXT})
    await host.turn()
    host.stop()
    await host.until_state("stopped")
    await host.turn("again")
    told = [one for one in host.notices() if "system prompt" in one]
    prompt = {"mode": "append", "content": [{"type": "text", "text": TEXT}]} if offers else None
    assert sent(host, "session/resume") == [prompt]
    assert len(told) == (0 if offers else 1), "only a new session is told"


@pytest.mark.parametrize("prompt", [{"mode": "append"}, {"text": "a", "mode": "replace"}, {"text": 7}, "text", 7])
async def test_a_malformed_one_is_told_like_any_mistake_of_the_configuration(host: Host, prompt: Any) -> None:
    agent(host, 1, TAKES, prompt)
    host.open()
    error = await host.editor.until_event(events.Error)
    assert error.code == "agent_misconfigured"
    assert "system_prompt" in error.text
