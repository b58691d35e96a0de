"""The judge of what we send: it knows what is wrong."""

from __future__ import annotations

import pytest

from tests.peers.record import complaints

ASKED = {7: "session/request_permission"}
PROMPT = {"sessionId": "a", "prompt": [{"type": "text", "text": "hi"}]}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": PROMPT},
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "a"}},
        {"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}},
        {"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "no"}},
    ],
)
def test_what_is_right_has_no_complaints(version: int, message: dict[str, object]) -> None:
    assert list(complaints(version, message, ASKED)) == []


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {**PROMPT, "prompt": [{"type": "text"}]}},
        {"jsonrpc": "2.0", "id": 1, "method": "session/prompt"},
        {"jsonrpc": "2.0", "id": [], "method": "session/prompt", "params": PROMPT},
        {"jsonrpc": "2.0", "id": 1, "method": "session/ponder", "params": {}},
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": 1}},
        {"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "selected"}}},
        {"jsonrpc": "2.0", "id": 7, "error": {"code": "no", "message": "no"}},
    ],
)
def test_what_is_wrong_has_some(version: int, message: dict[str, object]) -> None:
    assert list(complaints(version, message, ASKED)) != []
