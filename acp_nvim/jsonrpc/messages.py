"""JSON-RPC messages: their members, their encoding, and the error codes (JSON-RPC 2.0 §5.1, ACP "Error")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
CAUSES = ("cause", "causes", "errors", "inner", "innerError", "inner_error", "originalError", "source", "data", "body")
"""Members with the error behind an error."""
REASON_DEPTH = 8
"""Depth to which a reason is looked for: agents put the error of their provider there as it is."""
REASON_ENTRIES = 20
"""Entries of one list in which a reason is looked for."""


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
        """Return the message, with the reasons that some agents put into `data`: the outer and the innermost one."""
        found = [self.data] if isinstance(self.data, str) else reasons_in(self.data)
        return ends_of([self.message, *found[:1], *found[-1:]])


def ends_of(reasons: Sequence[str]) -> str:
    """Return reasons in one text, without those that the ones before contain."""
    said = ""
    for one in reasons:
        if one and one not in said:
            said = f"{said}: {one}" if said else one
    return said


def reasons_in(data: Any, read: Callable[[str], str] = str.strip, depth: int = REASON_DEPTH) -> list[str]:
    """Return the texts in the `data` of an error that explain it: one of each level, the innermost last.

    `read` returns the words in a text, "" if there are none; `depth` is the number of objects inside each other.
    """
    if not depth or not isinstance(data, dict | list):
        return []
    inner: list[Any] = []
    own = ""
    if isinstance(data, list):
        inner, depth = [one for one in data[:REASON_ENTRIES] if isinstance(one, dict)], depth + 1
    else:
        inner = [data[name] for name in (*REASONS, *CAUSES) if name in data]
        texts = (read(data[name]) for name in REASONS if isinstance(data.get(name), str))
        own = next(filter(None, texts), "") or next((read(one) for one in inner if isinstance(one, str)), "")
    chains = [reasons_in(one, read, depth - 1) for one in inner]
    return ([own] if own else []) + max(chains, key=len, default=[])


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
