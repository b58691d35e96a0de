"""The upsert of a tool call: an omitted field keeps, null clears, a value replaces."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.protocol.tool_call import ToolCall, ToolCallPatch

DEFAULTS: dict[str, Any] = {
    "title": "",
    "kind": "other",
    "status": "pending",
    "content": [],
    "locations": [],
    "rawInput": None,
    "rawOutput": None,
}

VALUES: dict[str, list[Any]] = {
    "title": ["", "Edit", "`ls`"],
    "kind": ["other", "edit", "teleport"],
    "status": ["pending", "in_progress", "completed", "failed", "on_hold"],
    "content": [
        [],
        [{"type": "terminal", "terminalId": "t"}],
        [{"type": "diff", "path": "p", "newText": "n", "oldText": None}],
    ],
    "locations": [[], [{"path": "p", "line": 3}]],
    "rawInput": [{}, {"a": 1}],
    "rawOutput": ["words", ["a"], {"b": None}],
}

patches = st.fixed_dictionaries(
    {}, optional={name: st.none() | st.sampled_from(values) for name, values in VALUES.items()}
)


def patch(fields: dict[str, Any]) -> ToolCallPatch:
    """As it comes over the wire."""
    return msgspec.json.decode(json.dumps({"toolCallId": "c", **fields}).encode(), type=ToolCallPatch)


def shown(call: ToolCall) -> dict[str, Any]:
    """The call in the words of the wire."""
    state = msgspec.to_builtins(call)
    names = {"rawInput": "raw_input", "rawOutput": "raw_output"}
    return {name: state[names.get(name, name)] for name in DEFAULTS}


@given(st.lists(patches, max_size=6))
def test_a_call_after_any_updates_is_what_the_plain_rule_says(steps: list[dict[str, Any]]) -> None:
    call = ToolCall(tool_call_id="c")
    expected = dict(DEFAULTS)
    for fields in steps:
        before = dict(expected)
        for name, value in fields.items():
            expected[name] = DEFAULTS[name] if value is None else value
        assert call.apply(patch(fields)) is (expected != before)
    assert shown(call) == expected


@given(patches)
def test_the_same_update_twice_changes_nothing_the_second_time(fields: dict[str, Any]) -> None:
    call = ToolCall(tool_call_id="c")
    call.apply(patch(fields))
    assert not call.apply(patch(fields))


@given(patches)
def test_calls_do_not_share_their_lists(fields: dict[str, Any]) -> None:
    one, other = ToolCall(tool_call_id="a"), ToolCall(tool_call_id="b")
    one.apply(patch(dict.fromkeys(fields)))
    one.content.append(object())  # type: ignore[arg-type]
    assert other.content == []
    cleared = ToolCall(tool_call_id="c")
    cleared.apply(patch({"content": [{"type": "terminal", "terminalId": "t"}]}))
    cleared.apply(patch({"content": None}))
    assert cleared.content == []


@pytest.mark.parametrize(
    ("status", "finished"),
    [("pending", False), ("in_progress", False), ("completed", True), ("failed", True), ("on_hold", True)],
)
def test_pending_and_in_progress_are_unfinished(status: str, finished: bool) -> None:
    assert ToolCall(tool_call_id="c", status=status).finished is finished
