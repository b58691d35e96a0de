"""Anthropic's messages."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from tests.interop.model.reply import Asked, Part, Reply, Say, Think, kinds, pieces, text_of
from tests.interop.model.tools import as_json

PATH = "/messages"
Event = tuple[str, dict[str, Any]]


def parse(body: dict[str, Any]) -> Asked:
    """What is asked; thoughts are told only to those who asked for them."""
    asked = Asked(str(body.get("model")))
    for message in body.get("messages") or []:
        if message.get("role") == "user":
            asked.user(text_of(message.get("content")))
            asked.results += kinds(message.get("content")).count("tool_result")
    asked.tools = {tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools") or []}
    return asked


def _block(part: Part) -> dict[str, Any]:
    if isinstance(part, Say):
        return {"type": "text", "text": part.text}
    if isinstance(part, Think):
        return {"type": "thinking", "thinking": part.text, "signature": "c2lnbmVk"}
    return {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": part.name, "input": part.arguments}


def _deltas(part: Part) -> Iterator[dict[str, Any]]:
    if isinstance(part, Say):
        yield from ({"type": "text_delta", "text": piece} for piece in part.pieces())
    elif isinstance(part, Think):
        yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces(part.text, 3))
        yield {"type": "signature_delta", "signature": "c2lnbmVk"}
    else:
        texts = pieces(as_json(part.arguments), 3)
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in texts)


def _message(asked: Asked) -> dict[str, Any]:
    head = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": asked.model}
    usage = {"input_tokens": 1200, "output_tokens": 1}
    return {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}


def _events(asked: Asked, reply: Reply) -> Iterator[Event]:
    yield "message_start", {"message": _message(asked)}
    for index, part in enumerate(part for part in reply.parts if not isinstance(part, Think)):
        empty = {"text": "", "input": {}}
        block = {key: empty.get(key, value) if key != "type" else value for key, value in _block(part).items()}
        yield "content_block_start", {"index": index, "content_block": block}
        for delta in _deltas(part):
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    reason = "tool_use" if reply.calls else "end_turn"
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield "message_delta", {"delta": delta, "usage": {"output_tokens": 300}}
    yield "message_stop", {}


def stream(asked: Asked, reply: Reply) -> Iterator[tuple[str, Any]]:
    """Names and data of the events."""
    for name, data in _events(asked, reply):
        yield name, {"type": name, **data}


def whole(asked: Asked, reply: Reply, _: dict[str, Any]) -> dict[str, Any]:
    """Return the whole reply as one message."""
    content = [_block(part) for part in reply.parts if not isinstance(part, Think)]
    return {**_message(asked), "content": content, "stop_reason": "tool_use" if reply.calls else "end_turn"}
