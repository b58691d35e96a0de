"""Answers and requests of agents of version 2, and what we ask of them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from acp_nvim.acp import answers
from acp_nvim.acp.dialect import Call, Place
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.v2 import DialectV2
from tests.core.acp.test_answers_v1 import raw, read, sent

V2 = DialectV2()
PLACE = Place("/p")
INFO = {"name": "n", "version": "1"}
PROMPT = {"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]}
OPTION = {"sessionId": "s", "configId": "c", "type": "id", "value": "v"}
OPTIONS = [{"optionId": "o", "name": "Yes", "kind": "allow_once"}]


def initialized(**said: Any) -> answers.Initialized:
    """Decode an answer to `initialize` with these members."""
    return V2.initialized(raw({"protocolVersion": 2, "info": INFO, **said}))


def test_an_agent_without_sessions_can_be_asked_for_nothing() -> None:
    assert initialized() == answers.Initialized(name="n", version="1")
    assert initialized(capabilities={"session": None}).abilities == answers.Abilities()


def test_with_sessions_most_is_a_must() -> None:
    must = {"list_sessions": True, "load": True, "resume": True, "close": True, "steering": True}
    assert initialized(capabilities={"session": {}}).abilities == answers.Abilities(**must)


def test_what_is_offered_beyond_that_is_an_object() -> None:
    session = {
        "prompt": {"image": {}, "audio": None, "embeddedContext": {}},
        "mcp": {"stdio": {}, "http": {}, "acp": {}},
        "delete": {},
        "additionalDirectories": None,
    }
    abilities = initialized(capabilities={"session": session}).abilities
    offered = {name for name in abilities.__struct_fields__ if getattr(abilities, name)}
    must = {"list_sessions", "load", "resume", "close", "steering"}
    assert offered - must == {"image", "embedded_context", "mcp_stdio", "mcp_http", "mcp_acp", "delete"}


def test_who_has_a_way_to_sign_in_has_one_to_sign_out() -> None:
    methods = [
        {"type": "agent", "methodId": "a", "name": "A"},
        {"type": "terminal", "methodId": "t", "name": "T", "args": ["login"], "env": [{"name": "K", "value": "v"}]},
        {"type": "_retina", "methodId": "r"},
    ]
    answer = initialized(authMethods=methods)
    assert (answer.abilities.sign_in, answer.abilities.sign_out) == (True, True)
    assert [(one.method_id, one.name, one.kind, one.args, one.env) for one in answer.auth_methods] == [
        ("a", "A", "agent", [], {}),
        ("t", "T", "terminal", ["login"], {"K": "v"}),
        ("r", "r", "_retina", [], {}),
    ]


def test_what_is_wrong_in_an_answer_is_named_and_left_out() -> None:
    answer = initialized(capabilities={"session": {"delete": 5}})
    assert (answer.abilities.delete, answer.abilities.close) == (False, True)
    assert "delete" in answer.complaints[0]
    opened = read(V2.open_session(PLACE), {"sessionId": "s", "configOptions": [{"type": "boolean"}]})
    assert (opened.session_id, opened.options) == ("s", [])
    assert "configOptions[0]" in opened.complaints[0]


def test_a_session_may_bring_options_and_commands() -> None:
    wire = {
        "configOptions": [{"configId": "o", "name": "O", "type": "boolean", "currentValue": False}],
        "availableCommands": [{"type": "command", "name": "c", "description": "d"}],
    }
    opened = answers.Opened(
        options=[answers.ConfigOption(config_id="o", name="O", kind="boolean", current=False)],
        commands=[answers.Command("c", "d")],
    )
    assert read(V2.open_session(PLACE, "resume", "s"), wire) == opened
    assert read(V2.open_session(PLACE), {"sessionId": "s", **wire}) == msgspec.structs.replace(opened, session_id="s")
    assert read(V2.open_session(PLACE, "load", "s"), {}) == answers.Opened()


@pytest.mark.parametrize(("wire", "message_id"), [({"messageId": "m"}, "m"), ({}, None), (None, None)])
def test_earlier_drafts_accept_a_prompt_without_a_word(wire: Any, message_id: str | None) -> None:
    assert read(V2.prompt("s", []), wire) == answers.PromptAnswer(message_id=message_id)


def test_what_was_said_comes_again_only_where_it_is_wanted() -> None:
    loaded, resumed = V2.open_session(PLACE, "load", "s"), V2.open_session(PLACE, "resume", "s")
    assert (loaded.method, resumed.method) == ("session/resume", "session/resume")
    assert sent(loaded)["replayFrom"] == {"type": "start"}
    assert "replayFrom" not in sent(resumed)


def test_mcp_servers_say_their_type() -> None:
    servers = [{"name": "a", "command": "/bin/a"}, {"type": "http", "name": "c", "url": "https://c"}]
    assert sent(V2.open_session(Place("/p", servers, ["/q"]))) == {
        "cwd": "/p",
        "additionalDirectories": ["/q"],
        "mcpServers": [
            {"type": "stdio", "name": "a", "command": "/bin/a"},
            {"type": "http", "name": "c", "url": "https://c"},
        ],
    }


def test_the_value_of_a_switch_says_that_it_is_one() -> None:
    assert sent(V2.set_config_option("s", "c", False)) == {**OPTION, "type": "boolean", "value": False}


@pytest.mark.parametrize(
    ("call", "method", "wire"),
    [
        (V2.authenticate("a"), "auth/login", {"methodId": "a"}),
        (V2.logout(), "auth/logout", {}),
        (V2.open_session(PLACE), "session/new", {"cwd": "/p", "mcpServers": []}),
        (V2.prompt("s", [TextContent(text="hi")]), "session/prompt", PROMPT),
        (V2.set_config_option("s", "c", "v"), "session/set_config_option", OPTION),
        (V2.list_sessions("/p", None), "session/list", {"cwd": "/p"}),
        (V2.close_session("s"), "session/close", {"sessionId": "s"}),
        (V2.delete_session("s"), "session/delete", {"sessionId": "s"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_sent(call: Call[Any], method: str, wire: dict[str, Any]) -> None:
    assert (call.method, sent(call)) == (method, wire)


class TestPermission:
    """The subject of a permission request."""

    def asked(self, **said: Any) -> answers.PermissionAsked:
        """Decode a permission request with these members."""
        return V2.asked(
            "session/request_permission", raw({"sessionId": "s", "title": "T", "options": OPTIONS, **said})
        )[1]

    def test_nothing_but_words(self) -> None:
        options = [answers.PermissionOption("o", "Yes", "allow_once")]
        words = answers.PermissionAsked(options=options, title="T", description="D")
        assert self.asked(description="D") == words
        assert self.asked(description="D", subject=None) == words

    def test_a_tool_call(self) -> None:
        asked = self.asked(subject={"type": "tool_call", "toolCall": {"toolCallId": "c", "status": "pending"}})
        assert asked.patch is not None
        assert (asked.tool_call_id, asked.patch.status, asked.patch.title) == ("c", "pending", UNSET)

    def test_a_command(self) -> None:
        asked = self.asked(subject={"type": "command", "command": "ls", "cwd": "/p", "toolCallId": "c"})
        assert (asked.command, asked.cwd, asked.tool_call_id, asked.patch) == ("ls", "/p", "c", None)

    def test_what_nobody_knows(self) -> None:
        asked = self.asked(subject={"type": "_launch", "rocket": 5})
        assert asked.subject == {"type": "_launch", "rocket": 5}

    def test_a_malformed_one_names_the_field(self) -> None:
        with pytest.raises(msgspec.ValidationError, match="options"):
            V2.asked("session/request_permission", raw({"sessionId": "s", "title": "T"}))


def test_a_cancellation_is_about_the_session() -> None:
    method, cancel = V2.cancel("s")
    assert (method, json.loads(msgspec.json.encode(cancel))) == ("session/cancel", {"sessionId": "s"})
