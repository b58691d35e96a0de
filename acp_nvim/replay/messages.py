"""What a JSON-RPC message is."""

from __future__ import annotations

import json
from typing import Any, Literal

Json = dict[str, Any]

INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
CANCEL_REQUEST = "$/cancel_request"

Kind = Literal["request", "notification", "answer", "odd"]


def kind(message: Any) -> Kind:
    """Whether it wants an answer, is one, or neither; `odd`: no message at all."""
    if not isinstance(message, dict):
        return "odd"
    if isinstance(message.get("method"), str):
        return "request" if "id" in message else "notification"
    return "answer" if "result" in message or "error" in message else "odd"


def id_key(message: Json) -> str:
    """Its id, as a key: 1 and "1" are two ids."""
    return json.dumps(message.get("id"))


def params(message: Json) -> Json:
    """Its params, if they are an object; else none."""
    found = message.get("params")
    return found if isinstance(found, dict) else {}


def session_of(message: Json) -> str | None:
    """The id of the session that a call is about, if it is about one."""
    found = params(message).get("sessionId")
    return found if isinstance(found, str) else None


def same_call(one: Any, other: Any) -> bool:
    """Whether both are requests, or both notifications, of one method."""
    return kind(one) == kind(other) and "method" in one and one["method"] == other["method"]


def is_cancellation(message: Json) -> bool:
    """Whether it withdraws a request; whether a client sends one is a matter of time, so it is not waited for."""
    return message.get("method") == CANCEL_REQUEST


def failure(request_id: Any, code: int, words: str) -> Json:
    """An error answer."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": words}}
