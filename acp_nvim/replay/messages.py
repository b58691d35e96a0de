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


def failure(request_id: Any, code: int, words: str) -> Json:
    """An error answer."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": words}}
