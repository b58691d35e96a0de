"""The upsert of tool calls, against its plain description written out: omitted keeps, null clears, a value replaces."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.acp import updates
from acp_nvim.acp.dialect import Dialect
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.tool_call import Item, Shown, TerminalShown, ToolCall, ToolCallPatch, UnknownItem
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.acp.v2 import DialectV2
from acp_nvim.transcript.blocks import CallBlock
from acp_nvim.transcript.transcript import Transcript
from tests.support.examples import examples

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
VALUES: dict[str, list[Any]] = {
    "title": ["", "Edit", "`ls`"],
    "kind": ["other", "edit", "_teleport"],
    "status": ["pending", "in_progress", "completed", "_on_hold"],
    "content": [list(items) for size in range(4) for items in product(ITEMS, repeat=size)],
    "locations": [[], [{"path": "p", "line": 3}], [{"path": "p"}, {"path": "q", "line": 1}]],
    "rawInput": [{}, {"a": 1}, "words"],
    "rawOutput": ["words", ["a"], {"b": None}],
}
OMITTED = object()
UPDATES = 8
SEQUENCES = 10
"""Of updates in an example: to draw one takes as long as to try it."""
BYTES = 2 + len(VALUES)
"""Of an update: one says which it is, one of which call, and one each field; drawn at once since that is fast."""


def fields(choices: bytes, nullable: bool = True) -> Json:
    """What an update says: a byte each field, the smallest leave it out, or clear it."""
    said = {}
    for (name, values), choice in zip(VALUES.items(), choices, strict=True):
        possible = [OMITTED, *([None] if nullable else []), *values]
        said[name] = possible[choice % len(possible)]
    return {name: value for name, value in said.items() if value is not OMITTED}


def update(kind: int, call: int, choices: bytes) -> Json:
    """Make an update of version 2: a patch or, as often, one more item."""
    which = {"toolCallId": "cd"[call % 2]}
    if kind % 2:
        item = ITEMS[choices[0] % len(ITEMS)]
        return {"sessionUpdate": "tool_call_content_chunk", **which, "content": item}
    return {"sessionUpdate": "tool_call_update", **which, **fields(choices)}


def announced(kind: int, call: int, choices: bytes) -> Json:
    """Make an update of version 1: a patch or, as often, a new call."""
    if not kind % 2:
        return update(kind, call, choices)
    said = fields(choices, nullable=False)
    said.pop("rawOutput", None)
    return {"sessionUpdate": "tool_call", "toolCallId": "cd"[call % 2], "title": "T", **said}


def several(one: Callable[[int, int, bytes], Json]) -> st.SearchStrategy[list[list[Json]]]:
    """Sequences of up to `UPDATES` of them; a byte before each says how many."""
    size = 1 + UPDATES * BYTES

    def made(drawn: bytes) -> list[Json]:
        parts = [drawn[1 + at * BYTES : 1 + (at + 1) * BYTES] for at in range(drawn[0] % (UPDATES + 1))]
        return [one(part[0], part[1], part[2:]) for part in parts]

    all_ = st.binary(min_size=SEQUENCES * size, max_size=SEQUENCES * size)
    return all_.map(lambda drawn: [made(drawn[at : at + size]) for at in range(0, len(drawn), size)])


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
        """Apply one update."""
        if self._is_another(said):
            self.calls[said["toolCallId"]] = dict(DEFAULTS)
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

    def _is_another(self, said: Json) -> bool:
        """Whether the id of a call that has ended is announced again with another kind, or input (title without)."""
        call = self.calls.get(said["toolCallId"], DEFAULTS)
        if said["sessionUpdate"] != "tool_call" or call["status"] not in ("completed", "failed"):
            return False
        now, before = said.get("rawInput"), call["rawInput"]
        if said.get("kind", "other") != call["kind"] and "other" not in (said.get("kind") or "other", call["kind"]):
            return True
        if now and before:
            is_more = isinstance(now, dict) and isinstance(before, dict) and before.items() <= now.items()
            return now != before and not is_more
        return bool(said.get("title") and call["title"] and said["title"] != call["title"])


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


@settings(max_examples=examples(250))
@given(several(update))
def test_version_2_in_any_order_is_what_the_description_says(sequences: list[list[Json]]) -> None:
    for said in sequences:
        assert fold(DialectV2(), said) == reference(said)


@settings(max_examples=examples(50))
@given(several(announced))
def test_version_1_in_any_order_is_what_the_description_says(sequences: list[list[Json]]) -> None:
    for said in sequences:
        assert fold(DialectV1(), said) == reference(said)


@given(st.binary(min_size=len(VALUES), max_size=len(VALUES)).map(fields))
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
