"""Every kind of version 2's `session/update` is understood; the shapes that are its own."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from acp_nvim.acp import answers, updates
from acp_nvim.acp.diff import Diff, FileChange, Piece, from_texts
from acp_nvim.acp.fields import UNKNOWN
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.schema_v2 import SessionUpdate
from acp_nvim.acp.terminal import Exit, TerminalPatch
from acp_nvim.acp.tool_call import Shown, TerminalShown, ToolCallPatch, UnknownItem
from acp_nvim.acp.v2 import DialectV2

V2 = DialectV2()
KINDS = {str(one.__struct_config__.tag) for one in get_args(SessionUpdate)} - {UNKNOWN}
TEXT = {"type": "text", "text": "hi"}
HI = TextContent(text="hi")


def decode(update: Any) -> updates.Update:
    """The update, through JSON, as it comes over the wire."""
    params = {"sessionId": "s", "update": update}
    return V2.update(msgspec.Raw(json.dumps(params).encode()))[1]


def b64(data: bytes) -> str:
    """Encode bytes as base64."""
    return base64.b64encode(data).decode()


KNOWN: list[tuple[dict[str, Any], updates.Update]] = [
    *(
        ({"sessionUpdate": f"{name}_chunk", "messageId": "m", "content": TEXT}, updates.MessageChunk(role, HI, "m"))
        for name, role in (("agent_message", "agent"), ("agent_thought", "thought"), ("user_message", "user"))
    ),
    *(
        ({"sessionUpdate": name, "messageId": "m", "content": [TEXT]}, updates.MessageReplaced(role, "m", [HI]))
        for name, role in (("agent_message", "agent"), ("agent_thought", "thought"), ("user_message", "user"))
    ),
    ({"sessionUpdate": "agent_message", "messageId": "m"}, updates.MessageReplaced("agent", "m", UNSET)),
    (
        {"sessionUpdate": "agent_message", "messageId": "m", "content": None},
        updates.MessageReplaced("agent", "m", None),
    ),
    *(
        (
            {"sessionUpdate": "tool_call_update", "toolCallId": "c", "capabilities": said},
            updates.ToolCallChanged(ToolCallPatch(tool_call_id="c", cancellable=can)),
        )
        for said, can in ((None, False), ({}, False), ({"cancel": None}, False), ({"cancel": {"x": 1}}, True))
    ),
    (
        {"sessionUpdate": "terminal_update", "terminalId": "t", "capabilities": {"cancel": {}}},
        updates.TerminalChanged(TerminalPatch(terminal_id="t", cancellable=True)),
    ),
    ({"sessionUpdate": "state_update", "state": "running"}, updates.StateChanged("running")),
    ({"sessionUpdate": "state_update", "state": "requires_action"}, updates.StateChanged("requires_action")),
    (
        {"sessionUpdate": "state_update", "state": "idle", "stopReason": "_bored"},
        updates.StateChanged("idle", "_bored"),
    ),
    (
        {
            "sessionUpdate": "state_update",
            "state": "idle",
            "stopReason": "error",
            "error": {"code": -32603, "message": "no model"},
        },
        updates.StateChanged("idle", "error", "no model (code -32603)"),
    ),
    (
        {
            "sessionUpdate": "state_update",
            "state": "running",
            "background": [{"type": "tool_call", "toolCallId": "c"}, {"type": "terminal", "terminalId": "t"}],
        },
        updates.StateChanged("running", background=frozenset({"c"})),
    ),
    (
        {"sessionUpdate": "state_update", "state": "running", "background": None},
        updates.StateChanged("running"),
    ),
    (
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "T", "status": None, "_meta": {"a": 1}},
        updates.ToolCallChanged(
            ToolCallPatch(tool_call_id="c", title="T", status=None, lacks_title=False, meta={"a": 1})
        ),
    ),
    (
        {
            "sessionUpdate": "tool_call_content_chunk",
            "toolCallId": "c",
            "content": {"type": "content", "content": TEXT},
        },
        updates.ToolCallContentAdded("c", Shown(HI)),
    ),
    (
        {
            "sessionUpdate": "terminal_update",
            "terminalId": "t",
            "command": "make",
            "output": {"data": b64(b"\xffx")},
            "exitStatus": {"exitCode": 2, "signal": None},
        },
        updates.TerminalChanged(TerminalPatch(terminal_id="t", command="make", output=b"\xffx", exit=Exit(2))),
    ),
    (
        {"sessionUpdate": "terminal_update", "terminalId": "t", "cwd": None, "output": None, "exitStatus": None},
        updates.TerminalChanged(TerminalPatch(terminal_id="t", cwd=None, output=None, exit=None)),
    ),
    (
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": b64(b"\xe4\xb8")},
        updates.TerminalPrinted("t", b"\xe4\xb8"),
    ),
    (
        {
            "sessionUpdate": "plan_update",
            "plan": {
                "type": "items",
                "planId": "p",
                "entries": [{"content": "a", "priority": "high", "status": "cancelled"}],
            },
        },
        updates.PlanReplaced([updates.PlanEntry("a", "cancelled", "high")], "p"),
    ),
    (
        {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "p", "content": "# Plan"}},
        updates.PlanReplaced([], "p", "# Plan"),
    ),
    (
        {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "p", "uri": "file:///plan.md"}},
        updates.PlanReplaced([], "p", None, "file:///plan.md"),
    ),
    (
        {"sessionUpdate": "plan_update", "plan": {"type": "_song", "planId": "p"}},
        updates.PlanReplaced([], "p", "a plan of an unknown kind ('_song')"),
    ),
    (
        {"sessionUpdate": "plan_update", "plan": {"type": "_map", "content": {"x": 1}}},
        updates.PlanReplaced([], None, "a plan of an unknown kind ('_map')"),
    ),
    (
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [
                {"type": "command", "name": "a", "description": "d", "input": {"type": "text", "hint": "h"}},
                {"type": "command", "name": "b", "description": "d", "input": {"type": "_voice"}},
                {"type": "_macro", "name": "c", "description": "d"},
            ],
        },
        updates.CommandsReplaced(
            [answers.Command("a", "d", "h"), answers.Command("b", "d"), answers.Command("c", "d")]
        ),
    ),
    (
        {
            "sessionUpdate": "config_option_update",
            "configOptions": [
                {
                    "configId": "x",
                    "name": "X",
                    "type": "select",
                    "currentValue": "a",
                    "options": [
                        {"value": "z", "name": "Z", "description": "last"},
                        {"groupId": "g", "name": "G", "options": [{"value": "a", "name": "A"}]},
                    ],
                },
                {"configId": "y", "name": "Y", "type": "boolean", "currentValue": True, "category": "model"},
                {"configId": "z", "name": "Z", "type": "_dial", "currentValue": 5},
            ],
        },
        updates.ConfigReplaced(
            [
                answers.ConfigOption(
                    config_id="x",
                    name="X",
                    kind="select",
                    current="a",
                    choices=[answers.Choice("z", "Z", "last"), answers.Choice("a", "A", None, "G")],
                ),
                answers.ConfigOption(config_id="y", name="Y", kind="boolean", current=True, category="model"),
                answers.ConfigOption(config_id="z", name="Z", kind="_dial", current="5"),
            ]
        ),
    ),
    ({"sessionUpdate": "plan_removed", "planId": "p"}, updates.PlanRemoved("p")),
    ({"sessionUpdate": "session_info_update", "title": None}, updates.SessionInfoChanged(None)),
    ({"sessionUpdate": "usage_update", "used": 5, "size": 9}, updates.UsageChanged(5, 9)),
    ({"sessionUpdate": "notice", "severity": "info", "title": "T"}, updates.NoticeGiven("info", "T")),
    (
        {"sessionUpdate": "session_message", "messageId": "m", "recipientSessionId": "s2"},
        updates.SessionMessage("m", recipient="s2"),
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
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed", "summary": [TEXT]},
        updates.Compaction("k", "completed", None, [HI]),
    ),
    (
        {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": TEXT},
        updates.MessageChunk("thought", HI, "compaction k"),
    ),
    (
        {"sessionUpdate": "state_update", "state": "_dreaming", "depth": 3},
        updates.UnknownUpdate("state_update", {"sessionUpdate": "state_update", "state": "_dreaming", "depth": 3}),
    ),
    (
        {"sessionUpdate": "_hologram", "x": [1]},
        updates.UnknownUpdate("_hologram", {"sessionUpdate": "_hologram", "x": [1]}),
    ),
]


@pytest.mark.parametrize(
    ("wire", "update"), KNOWN, ids=lambda value: value["sessionUpdate"] if isinstance(value, dict) else ""
)
def test_every_kind_is_understood(wire: dict[str, Any], update: updates.Update) -> None:
    assert decode(wire) == update


def test_no_kind_of_the_wire_is_left_out_here() -> None:
    assert {wire["sessionUpdate"] for wire, _ in KNOWN} - {"_hologram"} == KINDS


def content(item: dict[str, Any]) -> Any:
    """Decode an item of a tool call's content."""
    changed = decode({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [item]})
    assert isinstance(changed, updates.ToolCallChanged)
    assert isinstance(changed.patch.content, list)
    return changed.patch.content[0]


PATCH = "diff --git /p/a /p/a\n--- /p/a\n+++ /p/a\n@@ -1 +1 @@\n-x\n+y\n"
MODIFY = {"operation": "modify", "path": "/p/a", "fileType": "text"}


@pytest.mark.parametrize(
    ("item", "decoded"),
    [
        ({"type": "diff", "changes": [MODIFY]}, Diff((FileChange(path="/p/a", file_type="text"),))),
        (
            {"type": "diff", "changes": [MODIFY], "patch": {"format": "git_patch", "text": PATCH}},
            Diff((FileChange(path="/p/a", file_type="text", pieces=(Piece("x\n", "y\n", 1),)),)),
        ),
        (
            {"type": "diff", "changes": [{"operation": "move", "path": "/p/b", "oldPath": "/p/a"}], "patch": None},
            Diff((FileChange(path="/p/b", operation="move", old_path="/p/a"),)),
        ),
        (
            {"type": "diff", "changes": [{"operation": "_relabel", "path": "/p/b", "label": 5}]},
            Diff((FileChange(path="/p/b", operation="_relabel"),)),
        ),
        ({"type": "diff", "path": "/p/a", "oldText": "x", "newText": "y"}, from_texts("/p/a", "x", "y")),
        ({"type": "diff", "path": "/p/a", "newText": "y"}, from_texts("/p/a", None, "y")),
        ({"type": "terminal", "terminalId": "t"}, TerminalShown("t")),
        ({"type": "_chart", "points": [1]}, UnknownItem({"type": "_chart", "points": [1]})),
    ],
)
def test_content_of_a_tool_call(item: dict[str, Any], decoded: Any) -> None:
    assert content(item) == decoded


def test_a_patch_of_an_unknown_format_is_shown_as_it_came() -> None:
    shown = content({"type": "diff", "changes": [MODIFY], "patch": {"format": "_ed", "text": "1c\ny\n."}})
    assert shown.changes[1].pieces == (Piece(None, "1c\ny\n."),)
    assert "_ed" in shown.changes[1].note


@pytest.mark.parametrize(
    ("update", "field"),
    [
        ({"sessionUpdate": "agent_message_chunk", "content": TEXT}, "messageId"),
        ({"sessionUpdate": "state_update"}, "state"),
        ({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "no base64!"}, r"update\.data`"),
        ({"sessionUpdate": "terminal_update", "terminalId": "t", "output": {"data": "A"}}, r"update\.output\.data`"),
        ({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p"}}, "entries"),
        ({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": {"type": "diff"}}, "changes"),
    ],
)
def test_what_is_malformed_raises_and_names_the_field(update: dict[str, Any], field: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=field):
        decode(update)


def test_what_is_right_of_a_malformed_update_is_the_rest() -> None:
    wrong = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": 5, "status": "completed"}
    params = msgspec.Raw(json.dumps({"sessionId": "s", "update": wrong}).encode())
    rest = updates.ToolCallChanged(ToolCallPatch(tool_call_id="c", status="completed"))
    assert V2.rest_of_update(params) == ("s", rest)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "content", "a"]), inner),
    max_leaves=8,
)
members = st.sampled_from(["content", "toolCallId", "plan", "messageId", "state", "terminalId", "data", "output"])


@given(st.sampled_from([*sorted(KINDS), "_unknown"]), st.dictionaries(members, json_values))
def test_any_json_is_an_update_or_a_validation_error(kind: str, rest: dict[str, Any]) -> None:
    with suppress(msgspec.ValidationError):
        assert isinstance(decode({"sessionUpdate": kind, **rest}), updates.Update)
