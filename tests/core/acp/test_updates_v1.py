"""Every kind of `session/update` is understood; what nobody knows is kept; what is malformed names its field."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from acp_nvim.acp import answers, diff, updates
from acp_nvim.acp.fields import UNKNOWN, Original
from acp_nvim.acp.schema_common import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    UnknownContentBlock,
)
from acp_nvim.acp.schema_v1 import SessionUpdate
from acp_nvim.acp.tool_call import Location, Shown, TerminalShown, ToolCallPatch, UnknownItem
from acp_nvim.acp.updates import MessageChunk, ToolCallChanged
from acp_nvim.acp.v1 import DialectV1

decode_update = DialectV1().update
HI = TextContent(text="hi")


def decode(update: Any, session_id: Any = "s") -> updates.Update:
    """The update, through JSON, as it comes over the wire."""
    params = {"_meta": {"x": 1}, "sessionId": session_id, "update": update}
    decoded_id, decoded = decode_update(msgspec.Raw(json.dumps(params).encode()))
    assert decoded_id == session_id
    return decoded


def tool_call(**fields: Any) -> ToolCallChanged:
    """A decoded `tool_call_update` with these fields."""
    decoded = decode({"sessionUpdate": "tool_call_update", "toolCallId": "c", **fields})
    assert isinstance(decoded, ToolCallChanged)
    return decoded


KINDS = {str(one.__struct_config__.tag) for one in get_args(SessionUpdate)} - {UNKNOWN}
TEXT = {"type": "text", "text": "hi"}

KNOWN: list[tuple[dict[str, Any], updates.Update]] = [
    ({"sessionUpdate": "agent_message_chunk", "content": TEXT}, MessageChunk("agent", HI)),
    ({"sessionUpdate": "agent_thought_chunk", "content": TEXT}, MessageChunk("thought", HI)),
    ({"sessionUpdate": "user_message_chunk", "content": TEXT}, MessageChunk("user", HI)),
    (
        {"sessionUpdate": "agent_message_chunk", "content": TEXT, "messageId": "m-1"},
        MessageChunk("agent", HI, "m-1"),
    ),
    (
        {"sessionUpdate": "agent_message_chunk", "content": TEXT, "messageId": None},
        MessageChunk("agent", HI, None),
    ),
    (
        {
            "sessionUpdate": "plan",
            "entries": [{"content": "a", "status": "completed", "priority": "low"}],
        },
        updates.PlanReplaced([updates.PlanEntry("a", "completed", "low")]),
    ),
    (
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [
                {"name": "a", "description": "does a", "input": {"hint": "what"}},
                {"name": "b", "description": "does b", "input": None},
                {"name": "c", "description": "", "_meta": {"huge": "x"}},
            ],
        },
        updates.CommandsReplaced(
            [answers.Command("a", "does a", "what"), answers.Command("b", "does b"), answers.Command("c", "")]
        ),
    ),
    (
        {"sessionUpdate": "current_mode_update", "currentModeId": "https://example.org/modes#plan"},
        updates.ModeChanged("https://example.org/modes#plan"),
    ),
    (
        {
            "sessionUpdate": "config_option_update",
            "configOptions": [
                {
                    "id": "x",
                    "name": "X",
                    "category": "thinking",
                    "type": "select",
                    "currentValue": "a",
                    "options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}],
                },
                {"id": "y", "name": "Y", "type": "boolean", "currentValue": True},
                {"id": "z", "name": "Z", "type": "dial", "currentValue": 5},
            ],
        },
        updates.ConfigReplaced(
            [
                answers.ConfigOption(
                    config_id="x",
                    name="X",
                    kind="select",
                    current="a",
                    choices=[answers.Choice("a", "A", None, "G")],
                    category="thinking",
                ),
                answers.ConfigOption(config_id="y", name="Y", kind="boolean", current=True),
                answers.ConfigOption(config_id="z", name="Z", kind="dial", current="5"),
            ]
        ),
    ),
    ({"sessionUpdate": "session_info_update", "title": "T"}, updates.SessionInfoChanged("T")),
    ({"sessionUpdate": "session_info_update", "title": None}, updates.SessionInfoChanged(None)),
    ({"sessionUpdate": "session_info_update", "updatedAt": "2026-01-01T00:00:00"}, updates.SessionInfoChanged(UNSET)),
    ({"sessionUpdate": "session_info_update", "_meta": {}}, updates.SessionInfoChanged(UNSET)),
    ({"sessionUpdate": "usage_update", "used": 5, "size": 100}, updates.UsageChanged(5, 100)),
    (
        {"sessionUpdate": "usage_update", "used": 5, "size": 100, "cost": {"amount": 0.5, "currency": "USD"}},
        updates.UsageChanged(5, 100, updates.Cost(0.5, "USD")),
    ),
    ({"sessionUpdate": "usage_update", "used": 5, "size": 100, "cost": None}, updates.UsageChanged(5, 100, None)),
    (
        {"sessionUpdate": "notice", "severity": "warning", "title": "T", "description": "D"},
        updates.NoticeGiven("warning", "T", "D"),
    ),
    (
        {"sessionUpdate": "session_message", "messageId": "m", "senderSessionId": "s2", "content": [TEXT]},
        updates.SessionMessage("m", [HI], "s2"),
    ),
    (
        {"sessionUpdate": "session_message_chunk", "messageId": "m", "content": TEXT},
        updates.SessionMessageChunk("m", HI),
    ),
    (
        {"sessionUpdate": "subagent_update", "sessionId": "c", "title": "T", "capabilities": {"cancel": {}}},
        updates.SubagentChanged("c", "T", can_cancel=True),
    ),
    (
        {
            "sessionUpdate": "subagent_update",
            "sessionId": "c",
            "description": None,
            "capabilities": {"cancel": None},
            "state": {"state": "idle", "stopReason": "end_turn"},
            "cwd": "/d",
            "additionalDirectories": ["/e"],
        },
        updates.SubagentChanged("c", UNSET, None, False, updates.StateChanged("idle", "end_turn"), "/d", ["/e"]),
    ),
    (
        {"sessionUpdate": "subagent_update", "sessionId": "c", "capabilities": None, "state": None, "cwd": None},
        updates.SubagentChanged("c", can_cancel=False, state=None, cwd=None),
    ),
    (
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "failed", "error": "E"},
        updates.Compaction("k", "failed", "E"),
    ),
    (
        {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": TEXT},
        MessageChunk("thought", HI, "compaction k"),
    ),
]


@pytest.mark.parametrize(
    ("wire", "update"), KNOWN, ids=lambda value: value["sessionUpdate"] if isinstance(value, dict) else ""
)
def test_every_kind_is_understood(wire: dict[str, Any], update: updates.Update) -> None:
    assert decode(wire) == update


def test_no_kind_of_the_wire_is_left_out_here() -> None:
    tested = {wire["sessionUpdate"] for wire, _ in KNOWN}
    assert tested | {"tool_call", "tool_call_update", "plan_update", "plan_removed"} == KINDS


def test_an_update_keeps_absent_null_and_value_apart() -> None:
    patch = tool_call(title="T", status=None, rawInput={"a": [1]}).patch
    assert (patch.tool_call_id, patch.title, patch.status, patch.kind) == ("c", "T", None, UNSET)
    assert (patch.raw_input, patch.raw_output, patch.content) == ({"a": [1]}, UNSET, UNSET)


def test_a_tool_call_is_announced_an_update_is_not() -> None:
    announced = decode({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"})
    assert announced == ToolCallChanged(ToolCallPatch(tool_call_id="c", title="T", lacks_title=False), announced=True)
    assert not tool_call(title="T").announced


def test_an_update_with_only_meta_says_nothing_else() -> None:
    patch = tool_call(_meta={"terminal_output_delta": {"data": "x"}}).patch
    assert {name for name in patch.__struct_fields__ if getattr(patch, name) is not UNSET} == {"tool_call_id", "meta"}


@pytest.mark.parametrize("raw", ["text", ["a", 1], {"a": None}, 5, None])
def test_raw_output_may_be_any_json(raw: Any) -> None:
    assert tool_call(rawOutput=raw).patch.raw_output == raw


def test_lines_of_locations_may_be_null_zero_or_absent() -> None:
    wire = [{"path": "a", "line": None}, {"path": "b", "line": 0}, {"path": "c"}, {"path": "d", "line": 7}]
    assert tool_call(locations=wire).patch.locations == [
        Location("a"),
        Location("b", 0),
        Location("c"),
        Location("d", 7),
    ]


@pytest.mark.parametrize(
    ("item", "decoded"),
    [
        ({"type": "content", "content": TEXT}, Shown(HI)),
        ({"type": "diff", "path": "p", "newText": "n"}, diff.from_texts("p", None, "n")),
        ({"type": "diff", "path": "p", "newText": "n", "oldText": None}, diff.from_texts("p", None, "n")),
        ({"type": "diff", "path": "p", "newText": "n", "oldText": ""}, diff.from_texts("p", "", "n")),
        ({"type": "terminal", "terminalId": "t"}, TerminalShown("t")),
    ],
)
def test_content_of_a_tool_call(item: dict[str, Any], decoded: Any) -> None:
    assert tool_call(content=[item]).patch.content == [decoded]


@pytest.mark.parametrize(
    ("block", "decoded"),
    [
        ({"type": "text", "text": "a\x00b"}, TextContent(text="a\x00b")),
        (
            {"type": "image", "data": "AAAA", "mimeType": "image/png", "uri": None},
            ImageContent(data="AAAA", mime_type="image/png", uri=None),
        ),
        ({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}, AudioContent(data="AAAA", mime_type="audio/wav")),
        ({"type": "resource_link", "name": "n", "uri": "file:///n"}, ResourceLink(name="n", uri="file:///n")),
    ],
)
def test_content_blocks(block: dict[str, Any], decoded: Any) -> None:
    assert decode({"sessionUpdate": "agent_message_chunk", "content": block}) == MessageChunk("agent", decoded)


@pytest.mark.parametrize(("field", "value"), [("text", "words"), ("blob", "AAAA")])
def test_a_resource_holds_text_or_a_blob(field: str, value: str) -> None:
    block = {"type": "resource", "resource": {"uri": "file:///n", field: value}}
    chunk = decode({"sessionUpdate": "agent_message_chunk", "content": block})
    assert isinstance(chunk, MessageChunk)
    assert isinstance(chunk.content, EmbeddedResource)
    assert getattr(chunk.content.resource, field) == value


class TestWhatNobodyKnows:
    """The protocol grows: new kinds are kept as they came."""

    def test_an_update(self) -> None:
        wire = {"sessionUpdate": "next_edit_suggestions", "content": {"type": "hologram"}, "deep": [{"a": 1}]}
        assert decode(wire) == updates.UnknownUpdate("next_edit_suggestions", wire)

    def test_a_content_block_of_a_message(self) -> None:
        block = {"type": "hologram", "content": [{"type": "inner"}]}
        wire = {"sessionUpdate": "agent_message_chunk", "content": block}
        assert decode(wire) == MessageChunk("agent", UnknownContentBlock(original=Original(block)))

    def test_an_item_beside_known_ones(self) -> None:
        items = [{"type": "chart", "points": [1]}, {"type": "content", "content": TEXT}, {"type": "terminal"}]
        items[2]["terminalId"] = "t"
        known = [UnknownItem(items[0]), Shown(HI), TerminalShown("t")]
        assert tool_call(content=items).patch.content == known

    def test_a_block_inside_a_known_item(self) -> None:
        block = {"type": "hologram"}
        assert tool_call(content=[{"type": "content", "content": block}]).patch.content == [
            Shown(UnknownContentBlock(original=Original(block)))
        ]

    def test_a_word_where_the_protocol_has_a_list_of_words(self) -> None:
        patch = tool_call(kind="teleport", status="on_hold").patch
        assert (patch.kind, patch.status) == ("teleport", "on_hold")


@pytest.mark.parametrize(
    ("update", "field"),
    [
        ({"sessionUpdate": "agent_message_chunk"}, "content"),
        ({"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}, "text"),
        ({"sessionUpdate": "agent_message_chunk", "content": {"text": "no type"}}, "content"),
        ({"sessionUpdate": "agent_message_chunk", "content": "bare"}, "content"),
        ({"sessionUpdate": "tool_call", "title": "T"}, "toolCallId"),
        ({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": {}}, "content"),
        ({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [{"type": "diff"}]}, "content"),
        ({"sessionUpdate": "tool_call_update", "toolCallId": "c", "locations": [{"line": 1}]}, "path"),
        ({"sessionUpdate": "tool_call_update", "toolCallId": 5}, "toolCallId"),
        ({"sessionUpdate": "plan"}, "entries"),
        ({"sessionUpdate": "usage_update", "used": "many", "size": 1}, "used"),
        ({"sessionUpdate": "current_mode_update"}, "currentModeId"),
        ({"content": TEXT}, "sessionUpdate"),
        ({"sessionUpdate": 5}, "sessionUpdate"),
    ],
)
def test_what_is_malformed_raises_and_names_the_field(update: dict[str, Any], field: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=field):
        decode(update)


@pytest.mark.parametrize(
    "params", ["null", "[]", "3", '{"update":{}}', '{"sessionId":5,"update":{}}', '{"sessionId":"s"}']
)
def test_params_that_are_no_update_raise_a_validation_error(params: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_update(msgspec.Raw(params.encode()))


def test_absent_params_raise_a_decode_error() -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_update(msgspec.Raw())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "content", "a"]), inner),
    max_leaves=8,
)
fields = st.sampled_from(
    ["content", "toolCallId", "entries", "availableCommands", "title", "used", "locations", "kind"]
)


@given(st.sampled_from([*sorted(KINDS), "unknown"]), st.dictionaries(fields, json_values))
def test_any_json_is_an_update_or_a_validation_error(kind: str, rest: dict[str, Any]) -> None:
    with suppress(msgspec.ValidationError):
        assert isinstance(decode({"sessionUpdate": kind, **rest}), updates.Update)


@pytest.mark.parametrize("read", [DialectV1().update, DialectV1().rest_of_update], ids=["all", "rest"])
def test_what_is_nested_too_deeply_is_malformed(read: Any) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    update = b'{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":%b}' % deep
    with pytest.raises(msgspec.ValidationError, match="too deeply"):
        read(msgspec.Raw(b'{"sessionId":"s","update":%b}' % update))


UNSTABLE: list[tuple[dict[str, Any], updates.Update]] = [
    (
        {
            "type": "items",
            "planId": "p",
            "entries": [{"content": "a", "priority": "low", "status": "pending"}],
        },
        updates.PlanReplaced([updates.PlanEntry("a", "pending", "low")], "p"),
    ),
    ({"type": "markdown", "planId": "p", "content": "- [ ] a"}, updates.PlanReplaced([], "p", "- [ ] a")),
    ({"type": "file", "planId": "p", "uri": "file:///p"}, updates.PlanReplaced([], "p", None, "file:///p")),
    ({"type": "_verse", "planId": "p", "content": "one"}, updates.PlanReplaced([], "p", "one")),
    ({"type": "_link", "uri": "file:///p"}, updates.PlanReplaced([], None, None, "file:///p")),
    ({"type": "_map", "planId": 7}, updates.PlanReplaced([], None, "a plan of an unknown kind ('_map')")),
]


@pytest.mark.parametrize(("plan", "expected"), UNSTABLE)
def test_plans_of_the_unstable_schema(plan: dict[str, Any], expected: updates.Update) -> None:
    assert decode({"sessionUpdate": "plan_update", "plan": plan}) == expected


@pytest.mark.parametrize("entries", [None, {}, [{"content": "a"}]])
def test_such_a_plan_with_malformed_steps_raises(entries: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": entries}})


def test_plans_are_taken_back() -> None:
    assert decode({"sessionUpdate": "plan_removed", "planId": "p"}) == updates.PlanRemoved("p")
    for odd in ({"sessionUpdate": "plan_removed", "id": "p"}, {"sessionUpdate": "plan_update", "plan": "p"}):
        with pytest.raises(msgspec.ValidationError):
            decode(odd)


def test_a_malformed_step_costs_only_itself_and_long_plans_are_cut() -> None:
    good = {"content": "a", "priority": "low", "status": "pending"}

    def rest(plan: dict[str, Any]) -> updates.Update:
        params = {"sessionId": "s", "update": {"sessionUpdate": "plan_update", "plan": {"planId": "p", **plan}}}
        return DialectV1().rest_of_update(msgspec.Raw(json.dumps(params).encode()))[1]

    steps = [updates.PlanEntry("a", "pending", "low")]
    assert rest({"type": "items", "entries": [good, {"content": 7}, good]}) == updates.PlanReplaced(steps * 2, "p")
    cut = rest({"type": "items", "entries": [good] * 501})
    assert cut == updates.PlanReplaced(steps * 500, "p", left=1)
    long = rest({"type": "markdown", "content": "x" * 9_000_000})
    assert isinstance(long, updates.PlanReplaced)
    assert long.text is not None
    assert len(long.text) < 9_000_000
