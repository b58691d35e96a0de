"""Kinds that nobody knows are kept, whatever they look like; only what is known and wrong is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest

from acp_nvim.acp import decoding
from acp_nvim.acp import schema_v1 as v1
from acp_nvim.acp import schema_v2 as v2
from acp_nvim.acp.schema_common import TextContent, UnknownContentBlock
from tests.core.acp.schema.encoding import encode

V1 = v1.SessionNotification
V2 = v2.UpdateSessionNotification
ODD = {"type": "acp_nvim/unknown", "original": {"type": "text", "text": "hello"}}
TEXT = {"type": "text", "text": "hello"}


def notification(**update: Any) -> bytes:
    return json.dumps({"sessionId": "s", "update": update}).encode()


def decode_v2(**update: Any) -> Any:
    return decoding.decode(notification(**update), V2).update


def again(value: Any) -> Any:
    return json.loads(encode(value))


# --- unknown kinds


def test_an_unknown_update_is_kept_whole() -> None:
    update = {"sessionUpdate": "odd", "deep": [{"type": "text"}], "_meta": None}
    found = decoding.decode(notification(**update), V1)
    assert found == v1.SessionNotification(session_id="s", update=v1.UnknownSessionUpdate(original=update))
    assert again(found)["update"] == update


def test_what_is_beside_an_unknown_block_is_known() -> None:
    update = {"sessionUpdate": "user_message", "messageId": "m", "content": [TEXT, {"type": "odd"}, ODD]}
    found = decode_v2(**update)
    assert [type(block) for block in found.content] == [TextContent, UnknownContentBlock, UnknownContentBlock]
    assert found.content[2].original == ODD
    assert again(found) == update


@pytest.mark.parametrize(
    "block", [ODD, {**ODD, "original": 1}, {"type": "acp_nvim/unknown"}, {"type": "acp_nvim/untagged", "x": 1}]
)
def test_an_agent_that_uses_our_word_for_unknown_things_is_not_misread(block: dict[str, Any]) -> None:
    found = decode_v2(sessionUpdate="agent_message_chunk", messageId="m", content=block)
    assert found.content == UnknownContentBlock(original=block)
    assert again(found)["content"] == block


def test_free_json_is_not_looked_at() -> None:
    free = {"type": "odd", "sessionUpdate": "odd", "content": [ODD], "update": ODD}
    update = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t",
        "title": "x",
        "rawInput": free,
        "rawOutput": [free, ODD],
        "_meta": {**free, "type": "acp_nvim/unknown"},
        "content": [{"type": "odd"}],  # so that it is looked at with care
    }
    assert again(decoding.decode(notification(**update), V1))["update"] == update


@pytest.mark.parametrize("members", [{}, {"until": "noon"}, {"background": 7}])
def test_an_unknown_state_is_an_unknown_update(members: dict[str, Any]) -> None:
    update = {"sessionUpdate": "state_update", "state": "asleep", **members}
    assert decode_v2(**update) == v2.UnknownSessionUpdate(original=update)


def test_an_unknown_stop_reason_is_a_word() -> None:
    update = decode_v2(sessionUpdate="state_update", state="idle", stopReason="odd")
    assert update == v2.StateUpdate(state="idle", stop_reason="odd")


def test_members_that_nobody_knows_are_passed_over() -> None:
    found = decode_v2(sessionUpdate="agent_message_chunk", messageId="m", content={**TEXT, "odd": 1}, odd=[])
    assert found == v2.AgentMessageChunk(message_id="m", content=TextContent(text="hello"))


# --- variants without a tag


def test_a_way_to_authenticate_without_a_type_stays_without() -> None:
    methods = [{"id": "a", "name": "A"}, {"type": "terminal", "id": "b", "name": "B"}, {"type": "odd", "id": "c"}]
    raw = json.dumps({"protocolVersion": 1, "authMethods": methods}).encode()
    found = decoding.decode(raw, v1.InitializeResponse)
    assert found.auth_methods == [
        v1.AuthMethodAgent(id="a", name="A"),
        v1.AuthMethodTerminal(id="b", name="B"),
        v1.UnknownAuthMethod(original={"type": "odd", "id": "c"}),
    ]
    assert again(found)["authMethods"] == methods


def test_a_missing_tag_is_a_mistake_where_there_must_be_one() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"required field `type` - at `\$.update.content`"):
        decode_v2(sessionUpdate="agent_message_chunk", messageId="m", content={"text": "hello"})


# --- mistakes


def test_a_mistake_beside_something_unknown_has_the_path_that_the_agent_knows() -> None:
    content = [{"type": "odd"}, {"type": "terminal", "terminalId": 7}]
    with pytest.raises(msgspec.ValidationError) as raised:
        decode_v2(sessionUpdate="tool_call_update", toolCallId="t", content=content)
    assert str(raised.value) == "Expected `str`, got `int` - at `$.update.content[1].terminalId`"


def test_a_tag_that_is_no_text_is_a_mistake() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"`\$.update.content.type`"):
        decode_v2(sessionUpdate="agent_message_chunk", messageId="m", content={"type": 7})


def test_a_state_that_is_no_text_is_a_mistake() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"`\$.update.state`"):
        decode_v2(sessionUpdate="state_update", state=7)


def test_what_is_no_json_is_a_mistake() -> None:
    with pytest.raises(msgspec.DecodeError):
        decoding.decode(b'{"sessionId": "s", "update": ', V1)


@pytest.mark.parametrize("update", ["plan", "odd"])
def test_what_is_nested_too_deeply_is_a_mistake(update: str) -> None:
    raw = notification(sessionUpdate=update, entries=[], _meta={"deep": 7}).replace(
        b"7", b"[" * 100_000 + b"]" * 100_000
    )
    with pytest.raises(msgspec.ValidationError, match="nested too deeply"):
        decoding.decode(raw, V1)


# --- shapes


@pytest.mark.parametrize(
    ("diff", "known"),
    [
        ({"changes": [{"operation": "add", "path": "/a"}]}, {"changes": [v2.DiffChangeAdd(path="/a")]}),
        ({"path": "/a", "newText": "x"}, {"path": "/a", "new_text": "x"}),
        ({"path": "/a", "oldText": None, "newText": ""}, {"path": "/a", "old_text": None, "new_text": ""}),
    ],
)
def test_a_diff_of_version_2_may_look_like_one_of_version_1(diff: dict[str, Any], known: dict[str, Any]) -> None:
    update = decode_v2(sessionUpdate="tool_call_update", toolCallId="t", content=[{"type": "diff", **diff}])
    assert update.content == [v2.Diff(**known)]
    assert again(update)["content"] == [{"type": "diff", **diff}]


@pytest.mark.parametrize("diff", [{}, {"path": "/a"}, {"newText": "x"}, {"patch": None}])
def test_a_diff_without_changes_is_a_mistake(diff: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"required field `changes` or .* - at `\$.update.content\[0\]`"):
        decode_v2(sessionUpdate="tool_call_update", toolCallId="t", content=[{"type": "diff", **diff}])


def test_absent_and_null_are_not_the_same() -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": None, "rawOutput": None, "content": []}
    found = decode_v2(**update)
    assert (found.title, found.status, found.raw_input) == (None, msgspec.UNSET, msgspec.UNSET)
    assert again(found) == update


def test_a_permission_request_may_know_nothing_but_the_id() -> None:
    subject = {"type": "tool_call", "toolCall": {"toolCallId": "t"}}
    raw = json.dumps({"sessionId": "s", "title": "x", "options": [], "subject": subject}).encode()
    found = decoding.decode(raw, v2.RequestPermissionRequest)
    assert again(found)["subject"] == subject


def test_whole_numbers_may_be_written_as_fractions() -> None:
    update = decode_v2(sessionUpdate="usage_update", used=1.0, size=2e3)
    assert (update.used, update.size) == (1, 2000)


def test_models_of_older_agents_are_in_the_answers() -> None:
    models = {"availableModels": [{"modelId": "m", "name": "M", "description": None}], "currentModelId": "m"}
    for kind in (v1.NewSessionResponse, v1.LoadSessionResponse, v1.ForkSessionResponse):
        raw = json.dumps({"sessionId": "s", "models": models}).encode()
        assert again(decoding.decode(raw, kind))["models"] == models


# --- JSON that is decoded already


def test_conversion_leaves_what_it_is_given_alone() -> None:
    value = {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": [], "_meta": {"a": [ODD]}}}
    before = copy.deepcopy(value)
    assert again(decoding.convert(value, v1.SessionNotification)) == before
    value["update"]["sessionUpdate"] = before["update"]["sessionUpdate"] = "odd"
    assert again(decoding.convert(value, v1.SessionNotification)) == before
    assert value == before
