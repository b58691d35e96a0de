"""JSON-RPC 2.0 over a byte stream, one JSON message a line, without any knowledge of ACP."""

import json
import threading
from itertools import count
from queue import SimpleQueue
from typing import Any, BinaryIO

Json = dict[str, Any]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002


class RpcError(Exception):
    """An error answer, sent to the client or received from it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Call:
    """A request to the client that waits for its answer; `number` is its id."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._answers: SimpleQueue[Json | None] = SimpleQueue()

    def settle(self, answer: Json | None) -> None:
        """Pass the client's answer to the waiting thread, or None to abandon the call."""
        self._answers.put(answer)

    def wait(self) -> Any:
        """Return the result; None for an abandoned call. Raises `RpcError` for an error answer."""
        answer = self._answers.get()
        if answer is None:
            return None
        error = answer.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            raise RpcError(code if isinstance(code, int) else 0, str(error.get("message", "no reason given")))
        return answer.get("result")


class Peer:
    """The client: messages may be sent to it from any thread, and its answers are passed to the waiting calls."""

    def __init__(self, output: BinaryIO) -> None:
        self._output = output
        self._sending = threading.Lock()
        self._numbers = count()
        self._calls: dict[int, Call] = {}

    def notify(self, method: str, params: Json) -> None:
        """Send a notification: a message that the client does not answer. Raises `BrokenPipeError`."""
        self._send({"method": method, "params": params})

    def answer(self, request_id: Any, result: Json) -> None:
        """Answer the client's request of that id with a result. Raises `BrokenPipeError`."""
        self._send({"id": request_id, "result": result})

    def fail(self, request_id: Any, code: int, message: str) -> None:
        """Answer the client's request of that id with an error; `code` is one of JSON-RPC or ACP."""
        self._send({"id": request_id, "error": {"code": code, "message": message}})

    def new_call(self) -> Call:
        """Return a call that is not sent yet, but can already be settled."""
        call = Call(next(self._numbers))
        self._calls[call.number] = call
        return call

    def send_call(self, call: Call, method: str, params: Json) -> None:
        """Send a call that `new_call` has made; `Call.wait` returns the answer."""
        self._send({"id": call.number, "method": method, "params": params})

    def forget(self, call: Call) -> None:
        """Drop a call: an answer that comes later is ignored."""
        self._calls.pop(call.number, None)

    def settle(self, answer: Json) -> None:
        """Pass an answer to its call; ignore an answer to no pending call (late, repeated, unknown id)."""
        number = answer.get("id")
        call = self._calls.pop(number, None) if isinstance(number, int) else None
        if call is not None:
            call.settle(answer)

    def _send(self, message: Json) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
        with self._sending:
            self._output.write(line)
            self._output.flush()


def decode(line: bytes) -> Json:
    """Return the JSON object in a line. Raises `RpcError` for anything else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise RpcError(PARSE_ERROR, "That line is not JSON.") from None
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "A message has to be a JSON object.")
    return message
