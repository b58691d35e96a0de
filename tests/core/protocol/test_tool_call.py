"""The upsert of tool calls, against its plain description written out: omitted keeps, null clears, a value replaces."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.protocol import updates
from acp_nvim.protocol.dialect import Dialect
from acp_nvim.protocol.dialect_v1 import DialectV1
from acp_nvim.protocol.dialect_v2 import DialectV2
from acp_nvim.protocol.tool_call import Item, Shown, TerminalShown, ToolCall, ToolCallPatch, UnknownItem
from acp_nvim.session.blocks import CallBlock
from acp_nvim.session.transcript import Transcript
from acp_nvim.wire.content import TextContent

Json = dict[str, Any]


def text(words: str) -> Json:
    """A content item that shows words."""
    return {"type": "content", "content": {"type": "text", "text": words}}


ITEMS: list[Json] = [
    text("a"),
    text("b"),
    {"type": "terminal", "terminalId": "t"},
    {"type": "_chart", "points": [1, 2]},
]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "title": st.sampled_from(["", "Edit", "`ls`"]),
    "kind": st.sampled_from(["other", "edit", "_teleport"]),
    "status": st.sampled_from(["pending", "in_progress", "completed", "_on_hold"]),
    "content": st.lists(st.sampled_from(ITEMS), max_size=3),
    "locations": st.sampled_from([[], [{"path": "p", "line": 3}], [{"path": "p"}, {"path": "q", "line": 1}]]),
    "rawInput": st.sampled_from([{}, {"a": 1}, "words"]),
    "rawOutput": st.sampled_from(["words", ["a"], {"b": None}]),
}
CALLS = st.sampled_from(["c", "d"])

fields = st.fixed_dictionaries({}, optional={name: st.none() | values for name, values in VALUES.items()})
update = st.builds(lambda call, said: {"sessionUpdate": "tool_call_update", "toolCallId": call, **said}, CALLS, fields)
chunk = st.builds(
    lambda call, item: {"sessionUpdate": "tool_call_content_chunk", "toolCallId": call, "content": item},
    CALLS,
    st.sampled_from(ITEMS),
)
announced = st.builds(
    lambda call, said: {"sessionUpdate": "tool_call", "toolCallId": call, "title": "T", **said},
    CALLS,
    st.fixed_dictionaries(
        {}, optional={name: VALUES[name] for name in ("title", "kind", "status", "content", "locations", "rawInput")}
    ),
)


DEFAULTS: Json = {
    "title": "",
    "kind": "other",
    "status": "pending",
    "content": [],
    "locations": [],
    "rawInput": None,
    "rawOutput": None,
}


class Reference:
    """The description in the protocol's documents, sentence by sentence, over plain JSON."""

    def __init__(self) -> None:
        self.calls: dict[str, Json] = {}

    def take(self, said: Json) -> None:
        """One update."""
        # If the client has not seen the id before, it creates a new tool call; omitted fields use client defaults.
        call = self.calls.setdefault(said["toolCallId"], dict(DEFAULTS))
        if said["sessionUpdate"] == "tool_call_content_chunk":
            # A tool_call_content_chunk appends its content item to the current tool-call content.
            call["content"] = [*call["content"], said["content"]]
            return
        for name in DEFAULTS:
            if name not in said:
                continue  # An omitted patch field leaves the previous value unchanged.
            if said[name] is None:
                call[name] = DEFAULTS[name]  # null explicitly clears or unsets the field.
            else:
                call[name] = said[name]  # Any concrete value replaces the previous; collections as whole arrays.


def as_json(item: Item) -> Json:
    """An item of the model in the words of the wire."""
    match item:
        case Shown(TextContent(text=words)):
            return text(words)
        case TerminalShown(terminal_id):
            return {"type": "terminal", "terminalId": terminal_id}
        case UnknownItem(original):
            return dict(original)
        case _:
            raise AssertionError(item)


def shown(call: ToolCall) -> Json:
    """A call of the model in the words of the wire."""
    return {
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "content": [as_json(item) for item in call.content],
        "locations": [{"path": one.path, **({"line": one.line} if one.line else {})} for one in call.locations],
        "rawInput": call.raw_input,
        "rawOutput": call.raw_output,
    }


def fold(dialect: Dialect, said: list[Json]) -> dict[str, Json]:
    """The calls after these updates, through JSON and the transcript, as they come over the wire."""
    transcript = Transcript(1)
    for one in said:
        decoded = dialect.update(msgspec.Raw(json.dumps({"sessionId": "s", "update": one}).encode()))[1]
        if isinstance(decoded, updates.ToolCallChanged):
            transcript.tool_call(decoded)
        else:
            assert isinstance(decoded, updates.ToolCallContentAdded)
            transcript.add_content(decoded)
    calls = (block.call for block in transcript._blocks if isinstance(block, CallBlock))
    return {call.tool_call_id: shown(call) for call in calls}


def reference(said: list[Json]) -> dict[str, Json]:
    """The calls after these updates, by the description."""
    plain = Reference()
    for one in said:
        plain.take(one)
    return plain.calls


@pytest.mark.timeout(600)
@settings(max_examples=10_000)
@given(st.lists(update | chunk, max_size=8))
def test_version_2_in_any_order_is_what_the_description_says(said: list[Json]) -> None:
    assert fold(DialectV2(), said) == reference(said)


@settings(max_examples=1_000)
@given(st.lists(update | announced, max_size=8))
def test_version_1_in_any_order_is_what_the_description_says(said: list[Json]) -> None:
    assert fold(DialectV1(), said) == reference(said)


@given(fields)
def test_the_same_update_twice_changes_nothing_the_second_time(said: Json) -> None:
    params = {"sessionId": "s", "update": {"sessionUpdate": "tool_call_update", "toolCallId": "c", **said}}
    decoded = DialectV1().update(msgspec.Raw(json.dumps(params).encode()))[1]
    assert isinstance(decoded, updates.ToolCallChanged)
    call = ToolCall(tool_call_id="c")
    call.apply(decoded.patch)
    assert not call.apply(decoded.patch)


def test_chunks_do_not_reach_back_into_the_update_before_them() -> None:
    patch = ToolCallPatch(tool_call_id="c", content=[TerminalShown("t")])
    one, other = ToolCall(tool_call_id="c"), ToolCall(tool_call_id="d")
    for call in (one, other):
        call.apply(patch)
    one.append(TerminalShown("u"))
    assert (patch.content, other.content) == ([TerminalShown("t")], [TerminalShown("t")])


def test_cleared_lists_are_not_shared() -> None:
    one, other = ToolCall(tool_call_id="c"), ToolCall(tool_call_id="d")
    for call in (one, other):
        call.apply(ToolCallPatch(tool_call_id="c", content=None))
    one.append(TerminalShown("t"))
    assert other.content == []


@pytest.mark.parametrize(
    ("status", "finished"),
    [
        ("pending", False),
        ("in_progress", False),
        ("paused", False),
        ("completed", True),
        ("failed", True),
        ("cancelled", True),
        ("rejected", True),
        ("unfinished", True),
        ("_on_hold", False),
    ],
)
def test_who_is_unfinished(status: str, finished: bool) -> None:
    assert ToolCall(tool_call_id="c", status=status).finished is finished
