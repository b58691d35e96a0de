"""Gemini's generateContent."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from tests.interop.model.reply import Asked, Call, Reply, Say, Think, text_of
from tests.interop.model.tools import anything

PATH = "enerateContent"
USAGE = {"promptTokenCount": 1200, "candidatesTokenCount": 300, "totalTokenCount": 1500}


def parse(body: dict[str, Any]) -> Asked:
    """What is asked; the model's name is in the path."""
    asked = Asked(str(body.get("model")))
    for content in body.get("contents") or []:
        if content.get("role", "user") == "user":
            asked.user(text_of(content.get("parts")))
            asked.results += sum("functionResponse" in part for part in content.get("parts") or [])
    for tool in body.get("tools") or []:
        for one in tool.get("functionDeclarations") or []:
            asked.tools[one["name"]] = one.get("parametersJsonSchema") or one.get("parameters") or {}
    return asked


def _answer(asked: Asked, parts: list[Any], reason: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": asked.model}


def _call(part: Call) -> dict[str, Any]:
    call = {"id": uuid.uuid4().hex[:20], "name": part.name, "args": part.arguments}
    return {"functionCall": call, "thoughtSignature": "c2lnbmVk"}


def stream(asked: Asked, reply: Reply) -> Iterator[tuple[str, Any]]:
    """Names (none here) and data of the events."""
    for part in reply.parts:
        if isinstance(part, Think):
            yield "", _answer(asked, [{"text": f"**Looking**\n{part.text}", "thought": True}])
        elif isinstance(part, Say):
            yield from (("", _answer(asked, [{"text": piece}])) for piece in part.pieces())
        else:
            yield "", _answer(asked, [_call(part)])
    yield "", _answer(asked, [{"text": ""}], "STOP")


def whole(asked: Asked, reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    """Return the whole reply as one message; as JSON if the request has a schema."""
    config = body.get("generationConfig") or {}
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    text = json.dumps(anything(schema)) if schema else reply.text
    return _answer(asked, [{"text": text}], "STOP")
