"""Answers and requests of agents, with everything that agents leave out or add."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from acp_nvim.protocol import v1
from acp_nvim.protocol.content import ContentItem, UnknownBlock
from acp_nvim.protocol.translate_v1 import decode_tool_call


def decode(kind: type[Any], wire: Any) -> Any:
    """Through JSON."""
    return msgspec.json.decode(json.dumps(wire).encode(), type=kind)


@pytest.mark.parametrize("methods", [[], [{"id": "x", "name": "X", "vars": [{"name": "KEY"}]}], None])
def test_an_initialize_answer_may_say_little(methods: Any) -> None:
    answer = decode(v1.InitializeResponse, {"protocolVersion": 1, "authMethods": methods})
    assert (answer.protocol_version, answer.auth_methods) == (1, methods)
    assert answer.agent_info is None
    assert answer.agent_capabilities.prompt_capabilities.embedded_context is False


def test_an_initialize_answer_may_say_much() -> None:
    capabilities = {
        "promptCapabilities": {"embeddedContext": True, "smell": True},
        "providers": {},
        "loadSession": True,
    }
    info = {"name": "n", "version": "1", "title": None, "vendor": "v"}
    answer = decode(
        v1.InitializeResponse, {"protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": info, "_meta": {}}
    )
    assert answer.agent_capabilities.prompt_capabilities.embedded_context is True
    assert (answer.agent_info.name, answer.agent_info.title) == ("n", None)


def test_a_new_session_may_bring_models_modes_and_options() -> None:
    wire = {
        "sessionId": "s",
        "models": {"currentModelId": "m", "availableModels": []},
        "modes": {"currentModeId": "code", "availableModes": [{"id": "code", "name": "Code"}]},
        "configOptions": [{"id": "mode", "category": "mode", "currentValue": "code"}],
    }
    answer = decode(v1.NewSessionResponse, wire)
    assert (answer.session_id, answer.modes.current_mode_id) == ("s", "code")
    assert answer.config_options == wire["configOptions"]


@pytest.mark.parametrize("extra", [{}, {"modes": None, "configOptions": None}])
def test_a_new_session_needs_nothing_but_its_id(extra: dict[str, Any]) -> None:
    answer = decode(v1.NewSessionResponse, {"sessionId": "s", **extra})
    assert (answer.session_id, answer.modes, answer.config_options) == ("s", None, None)


def test_the_result_of_a_prompt_may_bring_its_usage() -> None:
    assert (
        decode(v1.PromptResponse, {"stopReason": "max_turn_requests", "usage": {"x": 1}}).stop_reason
        == "max_turn_requests"
    )


@pytest.mark.parametrize(("kind", "field"), [(v1.PromptResponse, "stopReason"), (v1.NewSessionResponse, "sessionId")])
def test_an_answer_without_what_it_is_for_names_the_field(kind: type[Any], field: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=field):
        decode(kind, {})


def permission(tool_call: dict[str, Any]) -> v1.RequestPermissionRequest:
    """A permission request for that tool call."""
    options = [{"optionId": "cancel", "name": "Exit", "kind": "reject_once", "_meta": {}}]
    wire = {"sessionId": "s", "toolCall": tool_call, "options": options}
    return decode_tool_call(msgspec.Raw(json.dumps(wire).encode()))


def test_a_permission_request_may_know_nothing_but_the_id_of_its_tool_call() -> None:
    request = permission({"toolCallId": "c"})
    assert request.tool_call.title is msgspec.UNSET
    assert [(one.option_id, one.kind) for one in request.options] == [("cancel", "reject_once")]


def test_a_permission_request_may_show_content_of_an_unknown_kind() -> None:
    item = {"type": "chart"}
    inner = {"type": "content", "content": {"type": "hologram"}}
    request = permission({"toolCallId": "c", "content": [item, inner]})
    assert request.tool_call.content == [UnknownBlock(item), ContentItem(UnknownBlock({"type": "hologram"}))]


def test_a_malformed_permission_request_names_the_field() -> None:
    with pytest.raises(msgspec.ValidationError, match="toolCallId"):
        permission({"title": "T"})
