"""JSON-RPC messages: what arrives, what is sent, and the error codes (JSON-RPC 2.0 §5.1, ACP "Error")."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002

ABSENT: Final = msgspec.Raw()
"""The value of a member that the message does not have."""


class Incoming(msgspec.Struct):
    """Any message of the peer; members that it lacks are `ABSENT` (or None for `method`).

    `id`, `params`, `result` and `error` stay undecoded: ids are echoed as they came, the rest has its own types.
    """

    id: msgspec.Raw = ABSENT
    method: str | None = None
    params: msgspec.Raw = ABSENT
    result: msgspec.Raw = ABSENT
    error: msgspec.Raw = ABSENT


class RpcError(Exception):
    """An error answer: raised where we called the peer, or by a handler to answer the peer with it."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def __repr__(self) -> str:
        return f"RpcError({self.code}, {self.message!r})"

    def describe(self) -> str:
        """The message, with the reason that some agents put into `data`."""
        reason = self.data
        if isinstance(reason, dict):
            reason = reason.get("details") or reason.get("message")
        if isinstance(reason, str) and reason and reason not in self.message:
            return f"{self.message}: {reason}"
        return self.message


class PeerGoneError(Exception):
    """The peer closed its side; no answer will come."""


_incoming = msgspec.json.Decoder(Incoming)
_batch = msgspec.json.Decoder(list[msgspec.Raw])
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)")
_call_id = msgspec.json.Decoder(int)


def decode(line: bytes) -> list[Incoming]:
    """The messages of one line (several when it is a batch array). Raises `msgspec.DecodeError`."""
    if _SURROGATE.search(line):
        line = _ESCAPE.sub(_mend, line)
    if line.lstrip()[:1] == b"[":
        return [_incoming.decode(raw) for raw in _batch.decode(line)]
    return [_incoming.decode(line)]


def _mend(escape: re.Match[bytes]) -> bytes:
    """Half a character (JavaScript cuts texts like that) becomes U+FFFD; pairs and all other escapes stay."""
    return rb"\ufffd" if escape.end() - escape.start() == len(rb"\ud800") else escape[0]


def decode_call_id(raw: msgspec.Raw) -> int | None:
    """The id of one of our calls, or None for an id that cannot be ours."""
    try:
        return _call_id.decode(raw)
    except msgspec.DecodeError:
        return None


def decode_error(raw: msgspec.Raw) -> RpcError:
    """The error of an answer, however loosely the peer writes it."""
    try:
        error = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        error = None
    if not isinstance(error, dict):
        return RpcError(INTERNAL_ERROR, f"an error without words: {error!r}")
    code, message = error.get("code"), error.get("message")
    return RpcError(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else f"an error without words: {error!r}",
        error.get("data"),
    )


def encode_call(call_id: int, method: str, params: Any) -> bytes:
    """One line that asks for an answer."""
    return _line({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params})


def encode_notification(method: str, params: Any) -> bytes:
    """One line that wants no answer."""
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def encode_result(request_id: msgspec.Raw, result: Any) -> bytes:
    """The answer to a request of the peer."""
    return _line({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: msgspec.Raw, error: RpcError) -> bytes:
    """The error answer to a request of the peer."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return _line({"jsonrpc": "2.0", "id": request_id, "error": body})


def _line(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode(message) + b"\n"
