"""The floods: everything that an agent may send, far more of it than any agent does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import count
from typing import Any

from tests.bench.chat.texts import SESSION, said, update_line

OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
_ids = count(1)


def _message(method: str, params: Any, **more: Any) -> bytes:
    return (
        json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}, ensure_ascii=False).encode() + b"\n"
    )


def _request(method: str, params: Mapping[str, Any], session: str = SESSION) -> bytes:
    return _message(method, {"sessionId": session, **params}, id=f"r{next(_ids)}")


def _update(session_update: str, /, **fields: Any) -> bytes:
    return update_line({"sessionUpdate": session_update, **fields})


def _many(times: int, make: Callable[[int], bytes]) -> bytes:
    return b"".join(map(make, range(times)))


def _permission(number: int, options: Iterable[Mapping[str, str]] = OPTIONS) -> bytes:
    call = {
        "toolCallId": f"p{number}",
        "title": f"Command {number}",
        "kind": "execute",
        "rawInput": {"command": f"ls {number}"},
    }
    return _request("session/request_permission", {"toolCall": call, "options": list(options)})


def _many_options(times: int) -> bytes:
    kinds = ("allow_once", "reject_once", "allow_always", "reject_always")
    return _permission(
        0, [{"optionId": f"o{one}", "name": f"Option number {one}", "kind": kinds[one % 4]} for one in range(times)]
    )


def _tool_call(number: int) -> bytes:
    text = {"type": "content", "content": {"type": "text", "text": f"output of call {number}\n" * 5}}
    return _update(
        "tool_call", toolCallId=f"c{number}", title=f"Call {number}", kind="execute", status="completed", content=[text]
    )


def _plan(times: int) -> bytes:
    entry = b'{"content":"x","priority":"low","status":"pending"},'
    return _update("plan", entries=["@"]).replace(b'"@"', (entry * times)[:-1])


def _locations(times: int) -> bytes:
    places = [{"path": f"/tmp/file{one}.py", "line": one} for one in range(times)]
    return _update("tool_call", toolCallId="l", title="Everywhere", kind="search", status="pending", locations=places)


def _deep() -> bytes:
    quotes = "".join("> " * depth + "deep\n" for depth in range(1, 400))
    lists = "".join("  " * depth + "- deep\n" for depth in range(1, 400))
    return said(quotes * 20 + lists * 20 + "*_" * 20_000 + "[" * 20_000 + "`" * 20_000 + "\n")


def _combining() -> bytes:
    return _many(100, lambda number: said("a" + "\u0301\u0489" * 10_000 + f" {number}\n"))


def _commands(times: int) -> bytes:
    listed = [{"name": f"command{one}", "description": f"does thing {one}"} for one in range(times)]
    return _update("available_commands_update", availableCommands=listed)


def _config(times: int) -> bytes:
    values = [{"value": f"v{one}", "name": f"Value {one}"} for one in range(100)]
    options = [
        {
            "id": f"o{one}",
            "name": f"Option {one}",
            "type": "select",
            "currentValue": "v1",
            "options": values if not one else values[:2],
        }
        for one in range(times)
    ]
    return _update("config_option_update", configOptions=options)


def _raw_input(size: int) -> bytes:
    return _update(
        "tool_call", toolCallId="r", title="Large", kind="edit", status="pending", rawInput={"text": "x" * size}
    )


def _elicitation(number: int) -> bytes:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return _request("elicitation/create", {"mode": "form", "message": f"Question {number}", "requestedSchema": schema})


def _elsewhere(number: int) -> bytes:
    content = {"type": "text", "text": f"piece {number}"}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return _message("session/update", {"sessionId": f"nobody-{number % 1000}", "update": update})


def _malformed(number: int) -> bytes:
    return _update("tool_call", toolCallId=number, title=["x"])


def _read(path: str) -> bytes:
    return _request("fs/read_text_file", {"path": path})


def _printed(number: int) -> bytes:
    output = {"terminal_id": "t", "data": f"{number} " * 50}
    return _update("tool_call_update", toolCallId="t", _meta={"terminal_output": output})


FLOODS: dict[str, Callable[[], bytes]] = {
    "5,000 permission requests": partial(_many, 5_000, _permission),
    "one request with 20,000 options": partial(_many_options, 20_000),
    "20,000 tool calls": partial(_many, 20_000, _tool_call),
    "a plan of 1,000,000 entries": partial(_plan, 1_000_000),
    "300,000 locations": partial(_locations, 300_000),
    "a line of 30 MB": lambda: said("words and words " * 2_000_000),
    "deeply nested markdown": _deep,
    "combining characters": _combining,
    "50,000 commands": partial(_commands, 50_000),
    "10,000 config options": partial(_config, 10_000),
    "an input of 20 MB": partial(_raw_input, 20_000_000),
    "100,000 malformed lines": partial(_many, 100_000, lambda number: b'{"method": %d, oops\n' % number),
    "100,000 malformed updates": partial(_many, 100_000, _malformed),
    "100,000 unknown notifications": partial(_many, 100_000, lambda number: _message("_x/unknown", {"number": number})),
    "100,000 unknown requests": partial(_many, 100_000, lambda number: _request("_x/unknown", {"number": number})),
    "5,000 reads of a file": partial(_many, 5_000, lambda _: _read("@DIRECTORY@/large.txt")),
    "5,000 reads of files elsewhere": partial(_many, 5_000, lambda number: _read(f"/usr/share/none-{number}")),
    "5,000 terminals": partial(
        _many, 5_000, lambda number: _request("terminal/create", {"command": "true", "args": [str(number)]})
    ),
    "100,000 updates for unknown sessions": partial(_many, 100_000, _elsewhere),
    "5,000 questions": partial(_many, 5_000, _elicitation),
    "100,000 withdrawals": partial(
        _many, 100_000, lambda number: _message("$/cancel_request", {"requestId": f"n{number}"})
    ),
    "100,000 answers to nothing": partial(
        _many, 100_000, lambda number: b'{"jsonrpc": "2.0", "id": %d, "result": {}}\n' % (number + 1000)
    ),
    "20,000 terminal outputs": partial(_many, 20_000, _printed),
    "100,000 usage updates": partial(
        _many, 100_000, lambda number: _update("usage_update", used=number, size=1_000_000)
    ),
}
"""What is sent at once, by its name; `@DIRECTORY@` stands for the directory with `large.txt`, 1 MB."""
