"""A number of any size in any place of a message costs no more than that message, on every version of Python."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from acp_nvim.contract import events
from acp_nvim.jsonrpc.decoding import INT64
from tests.core.session.inner_agent import inner_host

pytestmark = pytest.mark.anyio

HERE = "a number"
"""Stands in a message for the number."""
TEXT = {"type": "text", "text": "said", "annotations": {"priority": 0.5}, "_meta": {"any": 1}}
CALL: dict[str, Any] = {
    "toolCallId": "c",
    "title": "T",
    "kind": "execute",
    "status": "completed",
    "locations": [{"path": "/a", "line": 7}],
    "rawInput": {"command": "ls", "limit": 1, "deep": [{"timeout": 1.5}]},
    "rawOutput": [{"exit_code": 0}],
    "content": [
        {"type": "content", "content": TEXT},
        {"type": "content", "content": {"type": "resource_link", "name": "n", "uri": "file:///n", "size": 1}},
        {"type": "diff", "path": "/a", "oldText": "a\n", "newText": "b\n", "_meta": {"line": 2}},
        {"type": "terminal", "terminalId": "t"},
    ],
    "_meta": {"terminal_info": {"terminal_id": "t", "cwd": "/"}, "terminal_exit": {"terminal_id": "t", "exit_code": 1}},
}
UPDATES: list[dict[str, Any]] = [
    {"sessionUpdate": "tool_call", **CALL},
    {"sessionUpdate": "tool_call_update", **CALL},
    {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": TEXT},
    {"sessionUpdate": "agent_thought_chunk", "content": TEXT},
    {"sessionUpdate": "plan", "entries": [{"content": "c", "status": "pending", "priority": "low"}]},
    {"sessionUpdate": "usage_update", "used": 5, "size": 100, "cost": {"amount": 0.5, "currency": "USD"}},
    {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "n", "description": "d"}]},
    {"sessionUpdate": "session_info_update", "title": "T", "updatedAt": "2026-01-01T00:00:00Z"},
    {"sessionUpdate": "unknown", "anything": [1, {"more": 2}]},
]
OPTIONS = [
    {"optionId": "n", "name": "No", "kind": "reject_once"},
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
]
REQUESTS: dict[str, dict[str, Any]] = {
    "session/request_permission": {"toolCall": CALL, "options": OPTIONS},
    "fs/read_text_file": {"path": "/no/such", "line": 1, "limit": 2},
    "fs/write_text_file": {"path": "/no/such", "content": "x"},
    "terminal/create": {"command": "true", "args": [], "outputByteLimit": 10},
    "terminal/output": {"terminalId": "none"},
    "no/such": {"a": 1},
}
NUMBERS = [
    *map(str, (2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63) - 1)),
    *("9" * 400, "-" + "9" * 5000, "1e300", "1E+20", "1e999", "1e-999", "1." + "1" * 5000),
    *("-0", "1.0", "NaN", "01"),
]


def integers(value: Any) -> Iterator[int]:
    """Return all integers in a value, at any depth."""
    if isinstance(value, int):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from integers(part)


def placed(value: Any) -> Iterator[Any]:
    """The value with `HERE` in the place of each of its parts in turn."""
    yield HERE
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        for one in placed(part):
            if isinstance(value, dict):
                yield {**value, key: one}
            else:
                yield [*value[:key], one, *value[key + 1 :]]


def messages() -> list[str]:
    """Messages with `HERE` in each of their places, its name included."""
    found: list[dict[str, Any]] = []
    for update in UPDATES:
        message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
        found += placed({**message, "params": {**message["params"], HERE: 1}})
    for method, params in REQUESTS.items():
        found += placed({"jsonrpc": "2.0", "id": "r", "method": method, "params": {"sessionId": "s", **params}})
    for answer in ({"result": {"stopReason": "end_turn"}}, {"error": {"code": 1, "message": "m", "data": 1}}):
        found += placed({"jsonrpc": "2.0", "id": "unknown", **answer})
    return [json.dumps(one) for one in found]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:22])
async def test_nothing_but_the_message_is_lost(tmp_path: Path, number: str) -> None:
    said = [message.replace(f'"{HERE}":', f'"{number}":').replace(f'"{HERE}"', number) for message in messages()]
    if len(number) > sys.get_int_max_str_digits():  # the agent of the test would not read it when its id is returned
        said = [message for message in said if f'"id": {number}' not in message]
    async with inner_host(tmp_path, v2=False, permissions={"rules": [{"action": "reject"}]}) as host:
        host.agent.source.put("".join(f"{one}\n" for one in said).encode())
        host.agent.say({"id": "last", "method": "no/such"})
        host.agent.update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "the end"})
        await host.editor.until("the last answer", lambda: any(one.get("id") == "last" for one in host.agent.answers()))
        await host.editor.until("the end", lambda: any("the end" in event.text for event in host.of(events.Append)))
        assert [one for one in host.of(events.Error) if one.code == "host_bug"] == []
        shown = msgspec.to_builtins(host.editor.events)
        assert [one for one in integers(shown) if one not in INT64] == []
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(host.editor.events))  # as they are sent to Neovim
    log = (tmp_path / "log" / "acp_nvim.log").read_text(encoding="utf-8")
    assert "Traceback" not in log
    assert "a bug of ours" not in log
