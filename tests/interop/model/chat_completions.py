"""OpenAI's chat completions."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

from tests.interop.model.reply import Asked, Call, Reply, Say, Think, pieces, text_of
from tests.interop.model.tools import as_json

PATH = "/chat/completions"
USAGE = {"prompt_tokens": 1200, "completion_tokens": 300, "total_tokens": 1500}


def parse(body: dict[str, Any]) -> Asked:
    """Read the question from a request."""
    asked = Asked(str(body.get("model")))
    for message in body.get("messages") or []:
        if message.get("role") == "user":
            asked.user(text_of(message.get("content")))
        elif message.get("role") == "tool":
            asked.results += 1
    functions = [tool["function"] for tool in body.get("tools") or [] if tool.get("type") == "function"]
    asked.tools = {one["name"]: one.get("parameters") or {} for one in functions}
    return asked


def _head(asked: Asked, kind: str) -> dict[str, Any]:
    return {"id": f"chat-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": asked.model}


def _call(part: Call, index: int, arguments: str) -> dict[str, Any]:
    function = {"name": part.name, "arguments": arguments}
    return {"index": index, "id": f"call_{uuid.uuid4().hex[:24]}", "type": "function", "function": function}


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    count = 0
    for part in reply.parts:
        if isinstance(part, Think):
            yield from ({"reasoning_content": piece} for piece in pieces(part.text, 3))
        elif isinstance(part, Say):
            yield from ({"content": piece} for piece in part.pieces())
        else:
            yield {"tool_calls": [_call(part, count, "")]}
            for piece in pieces(as_json(part.arguments), 3):
                yield {"tool_calls": [{"index": count, "function": {"arguments": piece}}]}
            count += 1


def stream(asked: Asked, reply: Reply) -> Iterator[tuple[str, Any]]:
    """Names (none here) and data of the events."""
    head = _head(asked, "chat.completion.chunk")
    for delta in _deltas(reply):
        yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if reply.calls else "stop"
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield "", {**head, "choices": [], "usage": USAGE}
    yield "", "[DONE]"


def whole(asked: Asked, reply: Reply, _: dict[str, Any]) -> dict[str, Any]:
    """Return the whole reply as one message."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    calls = [part for part in reply.parts if isinstance(part, Call)]
    if calls:
        message["tool_calls"] = [_call(part, index, as_json(part.arguments)) for index, part in enumerate(calls)]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {**_head(asked, "chat.completion"), "choices": [choice], "usage": USAGE}
