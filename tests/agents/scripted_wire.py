"""The scripted agent's wire: lines in and out, answers brought to the calls that wait, everything written down.

Threads and blocking calls on purpose: a script reads from top to bottom, and no asyncio makes the start twice as fast.
"""

from __future__ import annotations

import os
import sys
import threading
from _queue import Empty, SimpleQueue  # `queue` imports what only its other classes need
from collections import deque
from collections.abc import Callable, Iterable

from tests.agents import quick_json as json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

LIMIT = 60.0  # seconds that a script waits for anything
BATCH = 256 * 1024  # bytes written at once by a flood
Json = dict[str, "Any"]


class Error(Exception):
    """An error answer: raised by `Call.result` for the client's, and raised in a script to send one."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code, self.message, self.data = code, message, data

    def as_json(self) -> Json:
        error: Json = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}


class Threads:
    """What a script's threads are made of, see `green_threads.py` for another kind."""

    Event, Condition, Lock, Thread = threading.Event, threading.Condition, threading.Lock, threading.Thread
    SimpleQueue, Empty = SimpleQueue, Empty

    class Ended(BaseException):
        """Raised in a thread to end it: never in one of these."""


class Pipes:
    """Stdin, stdout and stderr of this process."""

    def lines(self) -> Iterable[bytes]:
        return sys.stdin.buffer

    def write(self, data: bytes) -> None:
        _write_all(1, data)

    def exit(self, code: int) -> NoReturn:
        os._exit(code)


class Call:
    """A request that was sent to the client."""

    def __init__(self, method: str, threads: Any) -> None:
        self.method = method
        self.answer = threads.SimpleQueue()
        self._empty = threads.Empty

    def result(self, timeout: float = LIMIT) -> Any:
        try:
            answer = self.answer.get(timeout=timeout)
        except self._empty:
            raise TimeoutError(f"the client did not answer {self.method} in {timeout:g} s") from None
        if "error" in answer:
            error = answer["error"]
            raise Error(error.get("code"), error.get("message"), error.get("data"))
        return answer["result"]


class Record:
    """A JSONL file of all that went over the wire, written before it can have any effect."""

    def __init__(self, path: str | None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._file = None if not path else os.open(path, flags, 0o600)

    def messages(self, direction: str, lines: Iterable[bytes]) -> None:
        """Lines that are known to be JSON."""
        if self._file is not None:
            head = b'{"' + direction.encode() + b'":'
            self._write(b"".join(head + line + b"}\n" for line in lines))

    def anything(self, direction: str, data: bytes) -> None:
        """Bytes that may be JSON, and may be noise."""
        try:
            value = json.loads(data)
        except ValueError:
            value, direction = data.decode("utf-8", "backslashreplace"), f"{direction}_raw"
        self.value(direction, value)

    def value(self, kind: str, value: Any) -> None:
        self._write(json.dumps({kind: value}).encode() + b"\n")

    def close(self) -> None:
        """Take nothing more."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, data: bytes) -> None:
        if self._file is not None:
            _write_all(self._file, data)


class Wire:
    """The lines to and from the agent."""

    def __init__(self, record: Record, threads: Any, pipes: Any) -> None:
        self.record, self.threads, self.pipes = record, threads, pipes
        self.reading = threads.Event()  # cleared: stdin is left alone, and fills up
        self.reading.set()
        self._writing = threads.Lock()
        self._waiting: dict[Any, deque[Call]] = {}

    def read(self, take: Callable[[Json], None]) -> None:
        """Read until the end of stdin; answers go to their calls, all else is taken."""
        for line in self.pipes.lines():
            self.record.anything("received", line)
            message = json.loads(line)
            if "method" in message:
                take(message)
            else:
                self._settle(message)
            self.reading.wait()

    def raw(self, data: bytes) -> None:
        with self._writing:
            self.record.anything("sent", data)
            self.pipes.write(data)

    def send(self, message: Json) -> None:
        self.send_lines([json.dumps({"jsonrpc": "2.0", **message}).encode()])

    def send_lines(self, lines: Iterable[bytes]) -> None:
        """Send many messages in few large writes."""
        batch: list[bytes] = []
        size = 0
        for line in lines:
            batch.append(line)
            size += len(line)
            if size > BATCH:
                self._send_batch(batch)
                batch, size = [], 0
        self._send_batch(batch)

    def call(self, request_id: Any, method: str, params: Any) -> Call:
        call = Call(method, self.threads)
        self._waiting.setdefault(request_id, deque()).append(call)
        self.send({"id": request_id, "method": method, "params": params})
        return call

    def _send_batch(self, batch: list[bytes]) -> None:
        with self._writing:
            self.record.messages("sent", batch)
            self.pipes.write(b"".join(line + b"\n" for line in batch))

    def _settle(self, answer: Json) -> None:
        """Several calls may have one id: they are answered in their order."""
        calls = self._waiting.get(answer.get("id"))
        if calls:
            calls.popleft().answer.put(answer)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
