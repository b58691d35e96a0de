"""Answers and requests of agents of version 1, with everything that agents leave out or add."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from acp_nvim.acp import answers
from acp_nvim.acp.dialect import Call, Place
from acp_nvim.acp.fields import Original
from acp_nvim.acp.schema_common import TextContent, UnknownContentBlock
from acp_nvim.acp.tool_call import Shown, UnknownItem
from acp_nvim.acp.v1 import DialectV1

V1 = DialectV1()
PLACE = Place("/p")


def raw(wire: Any) -> msgspec.Raw:
    """Encode a value as JSON."""
    return msgspec.Raw(json.dumps(wire).encode())


def read(call: Call[Any], wire: Any) -> Any:
    """Decode an answer to the call."""
    return call.read(raw(wire))


@pytest.mark.parametrize("extra", [{}, {"authMethods": []}, {"agentInfo": None, "agentCapabilities": {}}])
def test_an_initialize_answer_may_say_little(extra: dict[str, Any]) -> None:
    answer = V1.initialized(raw({"protocolVersion": 1, **extra}))
    assert answer == answers.Initialized(abilities=answers.Abilities(mode_methods=True, mcp_stdio=True))


def test_an_initialize_answer_may_say_much() -> None:
    capabilities = {
        "promptCapabilities": {"embeddedContext": True, "smell": True},
        "providers": {},
        "loadSession": True,
        "mcpCapabilities": {"http": True, "sse": False, "acp": True},
        "sessionCapabilities": {"list": {}, "resume": None, "fork": {}, "telepathy": {}},
        "auth": {"logout": {}},
    }
    methods = [
        {"id": "a", "name": "A", "description": None},
        {"id": "t", "name": "T", "type": "terminal", "args": ["login"], "env": {"K": "v"}},
        {"id": "e", "name": "E", "type": "env_var", "vars": [{"name": "KEY"}]},
    ]
    info = {"name": "n", "version": "1", "title": None, "vendor": "v"}
    wire = {"protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": info, "authMethods": methods}
    answer = V1.initialized(raw(wire))
    assert (answer.name, answer.title, answer.version) == ("n", None, "1")
    assert answer.abilities == answers.Abilities(
        embedded_context=True,
        load=True,
        list_sessions=True,
        fork=True,
        mode_methods=True,
        sign_in=True,
        sign_out=True,
        providers=True,
        mcp_stdio=True,
        mcp_http=True,
        mcp_acp=True,
    )
    assert [(one.method_id, one.kind, one.args, one.env) for one in answer.auth_methods] == [
        ("a", "agent", [], {}),
        ("t", "terminal", ["login"], {"K": "v"}),
        ("e", "env_var", [], {}),
    ]


def test_a_new_session_may_bring_models_modes_and_options() -> None:
    wire = {
        "sessionId": "s",
        "models": {"currentModelId": "m", "availableModels": [{"modelId": "m", "name": "M"}]},
        "modes": {"currentModeId": "code", "availableModes": [{"id": "code", "name": "Code"}]},
        "configOptions": [{"id": "o", "name": "O", "type": "boolean", "currentValue": False}],
    }
    opened = read(V1.open_session(PLACE), wire)
    assert opened == answers.Opened(
        session_id="s",
        modes=answers.Selection("code", [answers.Choice("code", "Code")]),
        models=answers.Selection("m", [answers.Choice("m", "M")]),
        options=[answers.ConfigOption(config_id="o", name="O", kind="boolean", current=False)],
    )


@pytest.mark.parametrize("extra", [{}, {"modes": None, "configOptions": None, "models": None}])
def test_a_new_session_needs_nothing_but_its_id(extra: dict[str, Any]) -> None:
    assert read(V1.open_session(PLACE), {"sessionId": "s", **extra}) == answers.Opened(session_id="s")
    assert read(V1.open_session(PLACE, "load", "s"), extra) == answers.Opened()


def test_null_is_an_answer_to_what_needs_none() -> None:
    assert read(V1.open_session(PLACE, "load", "s"), None) == answers.Opened()
    assert read(V1.open_session(PLACE, "resume", "s"), None) == answers.Opened()
    with pytest.raises(msgspec.ValidationError, match="sessionId"):
        read(V1.open_session(PLACE), None)


def test_the_result_of_a_prompt_may_bring_its_usage() -> None:
    answer = read(V1.prompt("s", []), {"stopReason": "max_turn_requests", "usage": {"x": 1}})
    assert answer.stop_reason == "max_turn_requests"


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (V1.prompt("s", []), "stopReason"),
        (V1.open_session(PLACE), "sessionId"),
        (V1.list_sessions(None, None), "sessions"),
        (V1.set_config_option("s", "c", "v"), "configOptions"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_without_what_it_is_for_names_the_field(call: Call[Any], field: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=field):
        read(call, {})


def test_a_page_of_sessions() -> None:
    wire = {"sessions": [{"sessionId": "s", "cwd": "/p", "title": None, "updatedAt": "now"}], "nextCursor": None}
    page = read(V1.list_sessions("/p", "c"), wire)
    assert page == answers.SessionPage([answers.SessionInfo(session_id="s", cwd="/p", updated_at="now")])


def permission(tool_call: dict[str, Any]) -> answers.PermissionAsked:
    """A permission request for that tool call."""
    options = [{"optionId": "cancel", "name": "Exit", "kind": "reject_once", "_meta": {}}]
    return V1.asked("session/request_permission", raw({"sessionId": "s", "toolCall": tool_call, "options": options}))[1]


def test_a_permission_request_may_know_nothing_but_the_id_of_its_tool_call() -> None:
    asked = permission({"toolCallId": "c"})
    assert asked.patch is not None
    assert asked.patch.title is msgspec.UNSET
    assert asked.tool_call_id == "c"
    assert asked.options == [answers.PermissionOption("cancel", "Exit", "reject_once")]


def test_a_permission_request_may_show_content_of_an_unknown_kind() -> None:
    item, block = {"type": "chart"}, {"type": "hologram"}
    asked = permission({"toolCallId": "c", "content": [item, {"type": "content", "content": block}]})
    assert asked.patch is not None
    assert asked.patch.content == [UnknownItem(item), Shown(UnknownContentBlock(original=Original(block)))]


def test_a_malformed_permission_request_names_the_field() -> None:
    with pytest.raises(msgspec.ValidationError, match="toolCallId"):
        permission({"title": "T"})


def sent(call: Call[Any]) -> Any:
    """The parameters as they go over the wire."""
    return json.loads(msgspec.json.encode(call.params))


def test_mcp_servers_get_the_lists_that_the_version_wants() -> None:
    servers = [
        {"name": "a", "command": "/bin/a"},
        {"type": "stdio", "name": "b", "command": "/bin/b", "args": ["x"]},
        {"type": "http", "name": "c", "url": "https://c"},
    ]
    assert sent(V1.open_session(Place("/p", servers, ["/q"]))) == {
        "cwd": "/p",
        "additionalDirectories": ["/q"],
        "mcpServers": [
            {"name": "a", "command": "/bin/a", "args": [], "env": []},
            {"name": "b", "command": "/bin/b", "args": ["x"], "env": []},
            {"type": "http", "name": "c", "url": "https://c", "headers": []},
        ],
    }


@pytest.mark.parametrize(("value", "kind"), [("v", {}), (True, {"type": "boolean"})])
def test_a_switch_says_that_it_is_one(value: str | bool, kind: dict[str, str]) -> None:
    assert sent(V1.set_config_option("s", "c", value)) == {"sessionId": "s", "configId": "c", "value": value, **kind}


@pytest.mark.parametrize(
    ("meta", "offered"),
    [
        (None, False),
        ({}, False),
        ({"steering": {"supported": True}}, True),
        ({"steering": {"supported": False}}, False),
        ({"steering": {"supported": "yes"}}, False),
        ({"steering": True}, False),
    ],
)
def test_who_takes_prompts_while_it_works_says_so_in_meta(meta: dict[str, Any] | None, offered: bool) -> None:
    wire = {"protocolVersion": 1, "_meta": meta}
    assert V1.initialized(raw(wire)).abilities.steering is offered


@pytest.mark.parametrize(
    ("answer", "injected"),
    [({"outcome": "injected"}, True), ({"outcome": "promptRequired", "reason": "noRunningTurn"}, False), ({}, True)],
)
def test_only_a_prompt_that_is_required_is_ours_to_send(answer: dict[str, Any], injected: bool) -> None:
    call = V1.steer("s", [TextContent(text="hi")])
    assert call.method == "_session/steering"
    assert call.read(raw(answer)).injected is injected
