"""Speaks JSON-RPC 2.0 over a byte stream, one JSON message a line; knows nothing of ACP."""

import json
import threading
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
    """An error answer: one that we send, or one that the client sent."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Call:
    """One request of ours; its box gets the answer, or None when nobody waits for it any more."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._box: SimpleQueue[Json | None] = SimpleQueue()

    def settle(self, answer: Json | None) -> None:
        """Wake whoever waits, with the client's answer, or with None to give the call up."""
        self._box.put(answer)

    def wait(self) -> Any:
        """The result; None when the call was given up. Raises RpcError for an error answer."""
        answer = self._box.get()
        if answer is None:
            return None
        error = answer.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            raise RpcError(code if isinstance(code, int) else 0, str(error.get("message", "no reason given")))
        return answer.get("result")


class Peer:
    """The other end: sends from any thread, and gives each answer to the call that waits for it."""

    def __init__(self, output: BinaryIO) -> None:
        self._output = output
        self._sending = threading.Lock()
        self._numbering = threading.Lock()
        self._next = 0
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
        """A call that can be settled from now on, but is not sent yet."""
        with self._numbering:
            call = Call(self._next)
            self._next += 1
            self._calls[call.number] = call
        return call

    def send_call(self, call: Call, method: str, params: Json) -> None:
        """Send a call that `new_call` has made; its `wait` gets the answer."""
        self._send({"id": call.number, "method": method, "params": params})

    def forget(self, call: Call) -> None:
        """Drop a call: an answer that comes later goes nowhere."""
        self._calls.pop(call.number, None)

    def settle(self, answer: Json) -> None:
        """Hand an answer to its call; answers to nothing (late, doubled, odd ids) are dropped."""
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
    """The JSON object in a line; RpcError says what else it is."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise RpcError(PARSE_ERROR, "That line is not JSON.") from None
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "A message has to be a JSON object.")
    return message
