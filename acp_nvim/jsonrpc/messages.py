"""JSON-RPC messages: their members, their encoding, and the error codes (JSON-RPC 2.0 §5.1, ACP "Error")."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from acp_nvim import decoders
from acp_nvim.limits import LEFT_OUT, LOGGED_LINE_CHARS

ERROR_CHARS: Final = 10_000
"""Length of the message of an error answer: some agents put a whole traceback there."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

CANCEL_REQUEST: Final = "$/cancel_request"
"""The notification that withdraws a request; either side may send it."""


class CancelRules(msgspec.Struct, frozen=True):
    """How a peer withdraws its requests: the `method` of the notification, and whether such a request is answered."""

    method: str
    is_answered: bool


ACP_CANCEL: Final = CancelRules(CANCEL_REQUEST, True)

ABSENT: Final = msgspec.Raw()
"""The value of a member that the message does not have."""
NULL: Final = msgspec.Raw(b"null")
"""The id of an answer to a message without a readable id."""


class Incoming(msgspec.Struct, gc=False):
    """Any message of the peer; members that it lacks are `ABSENT` (or `UNSET` for `method`).

    `id`, `params`, `result` and `error` stay undecoded, as views into their line: ids are echoed unchanged, the others
    are decoded as their own types. `left_out` is present when the message was cut.
    """

    id: msgspec.Raw = ABSENT
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw = ABSENT
    result: msgspec.Raw = ABSENT
    error: msgspec.Raw = ABSENT
    left_out: msgspec.Raw = msgspec.field(name=LEFT_OUT, default=ABSENT)


class Invalid(msgspec.Struct):
    """JSON that is not a JSON-RPC message: the reason, and its `id` if it has one."""

    reason: str
    id: msgspec.Raw = ABSENT


REASONS = ("details", "detail", "message", "reason", "error", "description")
"""Members of an error's `data` in which agents explain it; the protocol does not define any."""
REASON_DEPTH = 4
"""Depth to which a reason is looked for: agents put the error of their provider there as it is."""


class RpcError(Exception):
    """An error answer: received for a call to the peer, or raised by a handler to be sent to the peer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def __repr__(self) -> str:
        return f"RpcError({self.code}, {self.message!r})"

    def describe(self) -> str:
        """Return the message, with the reason that some agents put into `data`."""
        reason = _reason_in(self.data)
        if reason and reason not in self.message:
            return f"{self.message}: {reason}"
        return self.message


def _reason_in(data: Any, depth: int = REASON_DEPTH) -> str:
    """Return the first text in the `data` of an error that explains it; "" if there is none."""
    if isinstance(data, str) or not depth:
        return data if isinstance(data, str) else ""
    inner = [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
    if isinstance(data, dict):
        inner = [data[name] for name in REASONS if name in data]
    found = (_reason_in(one, depth - 1) for one in inner)
    return next((text for text in found if text), "")


class PeerGoneError(Exception):
    """The peer closed its side of the connection; no answer will come."""


_call_id = msgspec.json.Decoder(int | float)


def decode_call_id(raw: msgspec.Raw) -> int | None:
    """Decode the id of an answer; None for one that no call of the client can have."""
    try:
        call_id = _call_id.decode(raw)
    except msgspec.DecodeError:
        return None
    return int(call_id) if call_id == call_id // 1 else None  # some languages write 1.0 for 1


def decode_error(raw: msgspec.Raw) -> RpcError:
    """Decode the error of an answer; malformed members get defaults."""
    try:
        members = decoders.decode(raw, dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        members = {}
    code, message = _decoded(members.get("code")), _decoded(members.get("message"))
    if not isinstance(message, str):
        message = f"an error without words: {show(raw)}"
    if len(message) > ERROR_CHARS:
        message = f"{message[:ERROR_CHARS]}… {len(message) - ERROR_CHARS:,} more characters"
    return RpcError(code if type(code) is int else INTERNAL_ERROR, message, _decoded(members.get("data")))


def _decoded(raw: msgspec.Raw | None) -> Any:
    """Decode a JSON value; None if it is missing, or too much for Python."""
    try:
        return None if raw is None else msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


def show(raw: msgspec.Raw | bytes | bytearray) -> str:
    """Return the beginning of a line, for the log."""
    return bytes(memoryview(raw)[:LOGGED_LINE_CHARS]).decode("utf-8", "replace")


def encode_call(call_id: int, method: str, params: Any) -> bytes:
    """Encode a request; as for all messages here, without its newline."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params})


def encode_notification(method: str, params: Any) -> bytes:
    """Encode a message without an id, which the peer does not answer."""
    return msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params})


def encode_result(request_id: msgspec.Raw, result: Any) -> bytes:
    """Encode the answer to a request of the peer."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: msgspec.Raw, error: RpcError) -> bytes:
    """Encode an error answer. Never raises: what cannot be encoded as UTF-8 is replaced, or left out."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    try:
        return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": body})
    except Exception:  # whatever the data contains, the peer waits for an answer
        body = {"code": error.code, "message": error.message.encode("utf-8", "replace").decode()}
        return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": body})
