"""OpenAI's responses."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from typing import Any

from tests.interop.model.reply import Asked, Call, Part, Reply, Say, Think, pieces, text_of
from tests.interop.model.tools import as_json

PATH = "/responses"
USAGE = {
    "input_tokens": 1200,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 300,
    "output_tokens_details": {"reasoning_tokens": 10},
    "total_tokens": 1500,
}
Event = tuple[str, dict[str, Any]]
SUBAGENTS = "multi_agent_v1"
SEARCHED: dict[str, Any] = {
    "spawn_agent": {"properties": {"message": {}}},
    "wait_agent": {
        "properties": {"targets": {"type": "array"}, "timeout_ms": {"enum": [10_000]}},
        "required": ["timeout_ms"],
    },
}
"""Codex's tools for subagents: who has a tool to search for tools finds them, in the namespace `SUBAGENTS`."""
EDITOR = "mcp__nvim"
OF_EDITOR: dict[str, Any] = {
    "diagnostics": {"properties": {"path": {}}},
    "rename": {"properties": {"path": {}, "line": {"type": "integer"}, "symbol": {}, "new_name": {}}},
}
"""Tools of the editor, which are found in the same way, in the namespace `EDITOR`."""
SUBAGENT = re.compile(r'"agent_id" *: *"([^"]+)"')


def parse(body: dict[str, Any]) -> Asked:
    """Read the question from a request."""
    asked = Asked(str(body.get("model")))
    given = body.get("input") or []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        if item.get("role") == "user":
            asked.user(text_of(item.get("content")))
        elif str(item.get("type")).endswith("_output"):
            asked.results += 1
            asked.subagent = next(iter(SUBAGENT.findall(str(item.get("output")))), asked.subagent)
    more = [tool for item in given if isinstance(item, dict) for tool in item.get("tools") or []]
    for tool in [*(body.get("tools") or []), *more]:
        if tool.get("type") == "tool_search":
            asked.tools |= SEARCHED | OF_EDITOR
        for one in tool.get("tools") or [tool]:
            if one.get("type") in ("function", "custom"):
                asked.tools[one["name"]] = (one.get("parameters") or {}) if one["type"] == "function" else None
    return asked


def _name(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


def _item(part: Part) -> dict[str, Any]:
    """The finished item of a part."""
    if isinstance(part, Think):
        summary = [{"type": "summary_text", "text": part.text}]
        return {"id": _name("rs"), "type": "reasoning", "summary": summary, "encrypted_content": None}
    if isinstance(part, Say):
        content = [{"type": "output_text", "text": part.text, "annotations": []}]
        return {"id": _name("msg"), "type": "message", "role": "assistant", "status": "completed", "content": content}
    kind, key = ("custom_tool_call", "input") if isinstance(part.arguments, str) else ("function_call", "arguments")
    head = {"id": _name("fc"), "type": kind, "status": "completed", "call_id": _name("call"), "name": part.name}
    if part.name in SEARCHED:
        head["namespace"] = SUBAGENTS
    elif part.name in OF_EDITOR:
        head["namespace"] = EDITOR
    return {**head, key: as_json(part.arguments)}


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it stands when it is announced."""
    empty = {"summary": [], "content": [], "input": "", "arguments": "", "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


def _says(part: Say, item: dict[str, Any], place: dict[str, Any]) -> Iterator[Event]:
    place = {**place, "item_id": item["id"], "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield "response.content_part.added", {**place, "part": empty}
    for piece in part.pieces():
        yield "response.output_text.delta", {**place, "delta": piece}
    yield "response.output_text.done", {**place, "text": part.text}
    yield "response.content_part.done", {**place, "part": item["content"][0]}


def _thinks(part: Think, item: dict[str, Any], place: dict[str, Any]) -> Iterator[Event]:
    place = {**place, "item_id": item["id"], "summary_index": 0}
    yield "response.reasoning_summary_part.added", {**place, "part": {"type": "summary_text", "text": ""}}
    for piece in pieces(part.text, 3):
        yield "response.reasoning_summary_text.delta", {**place, "delta": piece}
    yield "response.reasoning_summary_text.done", {**place, "text": part.text}
    yield "response.reasoning_summary_part.done", {**place, "part": item["summary"][0]}


def _calls(part: Call, item: dict[str, Any], place: dict[str, Any]) -> Iterator[Event]:
    is_text = isinstance(part.arguments, str)
    name = "response.custom_tool_call_input" if is_text else "response.function_call_arguments"
    place = {**place, "item_id": item["id"]}
    for piece in pieces(as_json(part.arguments), 3):
        yield f"{name}.delta", {**place, "delta": piece}
    yield f"{name}.done", {**place, "input" if is_text else "arguments": as_json(part.arguments)}


def _events(asked: Asked, reply: Reply) -> Iterator[Event]:
    response = _response(asked, [], "in_progress")
    yield "response.created", {"response": response}
    yield "response.in_progress", {"response": response}
    done = []
    for index, part in enumerate(reply.parts):
        item, place = _item(part), {"output_index": index}
        yield "response.output_item.added", {**place, "item": _begun(item)}
        if isinstance(part, Say):
            yield from _says(part, item, place)
        elif isinstance(part, Think):
            yield from _thinks(part, item, place)
        else:
            yield from _calls(part, item, place)
        yield "response.output_item.done", {**place, "item": item}
        done.append(item)
    yield "response.completed", {"response": {**response, "status": "completed", "output": done, "usage": USAGE}}


def _response(asked: Asked, output: list[Any], status: str) -> dict[str, Any]:
    head = {"id": _name("resp"), "object": "response", "created_at": int(time.time()), "status": status}
    rest = {"model": asked.model, "output": output, "parallel_tool_calls": True, "tools": [], "tool_choice": "auto"}
    return {**head, **rest, "usage": None}


def stream(asked: Asked, reply: Reply) -> Iterator[tuple[str, Any]]:
    """Names and data of the events."""
    for number, (name, data) in enumerate(_events(asked, reply)):
        yield name, {"type": name, "sequence_number": number, **data}


def whole(asked: Asked, reply: Reply, _: dict[str, Any]) -> dict[str, Any]:
    """Return the whole reply as one message."""
    return {**_response(asked, [_item(part) for part in reply.parts], "completed"), "usage": USAGE}
