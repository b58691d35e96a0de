"""A client for tests of agents: plain JSON-RPC over the pipes of a real process, nothing cleverer."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Self

from tests.support.waiting import LIMIT

Json = dict[str, Any]
Handler = Callable[[Json], Any]


class AnswerError(Exception):
    """An error answer, from the agent, or raised by a handler to send one."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


class RawClient:
    """Starts an agent and keeps all that it sends, in `messages`; its requests are answered by `handlers`.

    A handler gets the params and returns the result, or raises AnswerError. Requests without a handler stay unanswered.
    """

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> None:
        pipe = subprocess.PIPE
        given = {**os.environ, **(env or {})}
        self.process = subprocess.Popen(argv, cwd=cwd, env=given, stdin=pipe, stdout=pipe, stderr=pipe)
        self.messages: list[Json] = []
        self.handlers: dict[str, Handler] = {}
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._errors: list[bytes] = []
        self._answers: dict[Any, Json] = {}
        self._next_id = 0
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.close_stdin()
        for reader in self._readers:
            reader.join(LIMIT)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    # To the agent

    def send_raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Json) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def start(self, method: str, params: Any) -> int:
        """Send a request; `finish` waits for its answer."""
        self._next_id += 1
        self.send({"id": self._next_id, "method": method, "params": params})
        return self._next_id

    def finish(self, request_id: Any, limit: float = LIMIT) -> Any:
        if request_id not in self._answers:
            self.take_until(lambda message: request_id in self._answers, limit)
        answer = self._answers.pop(request_id)
        if "error" in answer:
            raise AnswerError(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def request(self, method: str, params: Any) -> Any:
        return self.finish(self.start(method, params))

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # of what was not flushed, when the agent is gone
            self.process.stdin.close()

    # From the agent

    def take_until(self, found: Callable[[Json], object], limit: float = LIMIT) -> Json:
        """Take messages, and answer requests, until one is the right one; returns it."""
        end = time.monotonic() + limit
        while True:
            message = self._take(end)
            if found(message):
                return message

    def updates(self, kind: str | None = None) -> list[Json]:
        """The session updates so far, of one kind or all."""
        updates = [m["params"]["update"] for m in self.messages if m.get("method") == "session/update"]
        return [update for update in updates if kind is None or update["sessionUpdate"] == kind]

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "".join(update["content"]["text"] for update in self.updates(kind))

    def requests(self, method: str) -> list[Json]:
        """The params of the agent's requests so far."""
        return [message["params"] for message in self.messages if message.get("method") == method]

    def wait_exit(self, limit: float = LIMIT) -> int:
        return self.process.wait(limit)

    def stderr(self, limit: float = LIMIT) -> str:
        """All of stderr, once the agent has ended; what there is of it, after the limit."""
        self._readers[1].join(limit)
        return b"".join(self._errors).decode(errors="replace")

    def _take(self, end: float) -> Json:
        try:
            line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
        except Empty:
            raise AssertionError(f"the agent is silent; the last it sent: {self.messages[-5:]}") from None
        assert line is not None, f"the agent closed its stdout; its stderr: {self.stderr(0.5)}"
        message: Json = json.loads(line)
        self.messages.append(message)
        if "method" not in message:
            self._answers[message.get("id")] = message
        elif "id" in message and message["method"] in self.handlers:
            self._answer(message)
        return message

    def _answer(self, message: Json) -> None:
        try:
            result = self.handlers[message["method"]](message["params"])
        except AnswerError as error:
            self.send({"id": message["id"], "error": {"code": error.code, "message": error.message}})
        else:
            self.send({"id": message["id"], "result": result})

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._errors.append(line)
