"""One JSON-RPC peer: calls with their answers, requests served exactly once, notifications in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import anyio
import anyio.abc
import msgspec

from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.framing import LineFramer
from acp_nvim.jsonrpc.messages import ABSENT, Incoming, PeerGoneError, RpcError
from acp_nvim.jsonrpc.pending import Answer, PendingCalls
from acp_nvim.limits import LOGGED_LINE_CHARS, READ_BYTES


class ByteSource(Protocol):
    """Where bytes come from; raises `anyio.EndOfStream` at their end."""

    async def receive(self, max_bytes: int) -> bytes:
        """At least one byte."""


class ByteSink(Protocol):
    """Where bytes go."""

    async def send(self, item: bytes) -> None:
        """All of them."""


class Handler(Protocol):
    """Who the peer talks to. All three are called in the order of the peer's messages."""

    def notification(self, method: str, params: msgspec.Raw) -> None:
        """A message that wants no answer."""

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """A message that wants one: awaiting gives the result, or raises `RpcError`."""

    def odd(self, words: str) -> None:
        """Something that a peer should not send; it was survived."""


class Connection:
    """The peer behind a pair of byte streams.

    `run` serves it until its stream ends; then every waiting call fails with `PeerGoneError`.
    """

    def __init__(self, source: ByteSource, sink: ByteSink, handler: Handler) -> None:
        self._source = source
        self._sink = sink
        self._handler = handler
        self._framer = LineFramer()
        self._calls = PendingCalls()
        self._serving: dict[bytes, anyio.CancelScope] = {}
        self._outbox: deque[bytes] = deque()
        self._outbox_filled = anyio.Event()
        self._tasks: anyio.abc.TaskGroup | None = None
        self.closed = False

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<Connection {state} {self._calls!r} serving={len(self._serving)} {self._framer!r}>"

    async def run(self) -> None:
        """Read, serve and write until the peer's stream ends."""
        try:
            async with anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._write)
                await self._read()
                self._tasks.cancel_scope.cancel()
        finally:
            self.closed = True
            self._calls.fail_all(PeerGoneError())

    async def request(self, method: str, params: Any, on_answer: Callable[[Answer], None] | None = None) -> msgspec.Raw:
        """Call the peer. Raises `RpcError` for its error answer, `PeerGoneError` when it leaves without one.

        `on_answer` sees the answer at once, before any later message of the peer is looked at. When the caller is
        cancelled the peer is told so (`$/cancel_request`).
        """
        if self.closed:
            raise PeerGoneError
        arrived = anyio.Event()
        answers: list[Answer] = []

        def settle(answer: Answer) -> None:
            answers.append(answer)
            arrived.set()
            if on_answer is not None:
                on_answer(answer)

        call_id = self._calls.add(settle)
        self._send(messages.encode_call(call_id, method, params))
        try:
            await arrived.wait()
        finally:
            if not answers:
                self._calls.forget(call_id)
                self.notify("$/cancel_request", {"requestId": call_id})
        if isinstance(answers[0], Exception):
            raise answers[0]
        return answers[0]

    def notify(self, method: str, params: Any) -> None:
        """Tell the peer; nothing comes back. A closed connection takes it silently."""
        self._send(messages.encode_notification(method, params))

    def _send(self, line: bytes) -> None:
        if not self.closed:
            self._outbox.append(line)
            self._outbox_filled.set()

    async def _write(self) -> None:
        while True:
            await self._outbox_filled.wait()
            self._outbox_filled = anyio.Event()
            while self._outbox:
                try:
                    await self._sink.send(self._outbox.popleft())
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # the reading side will see the end too

    async def _read(self) -> None:
        while True:
            try:
                data = await self._source.receive(READ_BYTES)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return
            skipped = self._framer.skipped
            lines = self._framer.feed(data)
            if self._framer.skipped != skipped:
                self._handler.odd("a message over the size limit was skipped")
            for line in lines:
                self._take_line(line)

    def _take_line(self, line: bytes) -> None:
        try:
            incoming = messages.decode(line)
        except msgspec.DecodeError as error:
            shown = line[:LOGGED_LINE_CHARS].decode("utf-8", "replace")
            self._handler.odd(f"not a JSON-RPC message ({error}): {shown}")
            return
        for message in incoming:
            self._take(message)

    def _take(self, message: Incoming) -> None:
        if message.method is None:
            self._take_answer(message)
        elif message.method == "$/cancel_request":
            self._cancel_served(message.params)
        elif message.id is ABSENT:
            self._notified(message.method, message.params)
        else:
            self._serve(message.id, message.method, message.params)

    def _notified(self, method: str, params: msgspec.Raw) -> None:
        try:
            self._handler.notification(method, params)
        except Exception as error:  # one message must not end the conversation
            self._handler.odd(f"a bug of ours while taking {method}: {error!r}")

    def _take_answer(self, message: Incoming) -> None:
        if message.error is ABSENT and message.result is ABSENT:
            self._handler.odd("a message that is neither request nor answer")
            return
        answer: Answer
        answer = message.result if message.error is ABSENT else messages.decode_error(message.error)
        call_id = None if message.id is ABSENT else messages.decode_call_id(message.id)
        if not self._calls.settle(call_id, answer):
            words = repr(answer) if isinstance(answer, RpcError) else "a result"
            self._handler.odd(f"an answer to no call of ours (id {bytes(message.id)!r}): {words}")

    def _serve(self, request_id: msgspec.Raw, method: str, params: msgspec.Raw) -> None:
        assert self._tasks is not None
        scope = anyio.CancelScope()
        self._serving[bytes(request_id)] = scope
        try:
            work = self._handler.serve(method, params)
        except Exception as error:  # whatever it is, the peer gets an answer
            work = _refuse(error)
        self._tasks.start_soon(self._answer, request_id.copy(), scope, work)

    async def _answer(self, request_id: msgspec.Raw, scope: anyio.CancelScope, work: Awaitable[Any]) -> None:
        cancelled = RpcError(messages.REQUEST_CANCELLED, "cancelled by $/cancel_request")
        line = messages.encode_error(request_id, cancelled)
        with scope:
            try:
                line = messages.encode_result(request_id, await work)
            except RpcError as error:
                line = messages.encode_error(request_id, error)
            except Exception as error:  # the peer must get its answer, whatever went wrong here
                self._handler.odd(f"a bug of ours while serving the agent: {error!r}")
                bug = RpcError(messages.INTERNAL_ERROR, f"the client failed: {error}")
                line = messages.encode_error(request_id, bug)
        if self._serving.get(bytes(request_id)) is scope:
            del self._serving[bytes(request_id)]
        self._send(line)

    def _cancel_served(self, params: msgspec.Raw) -> None:
        try:
            request_id = msgspec.json.decode(params, type=dict[str, msgspec.Raw])["requestId"]
        except (msgspec.DecodeError, KeyError):
            self._handler.odd("$/cancel_request without a requestId")
            return
        scope = self._serving.get(bytes(request_id))
        if scope is not None:
            scope.cancel()


async def _refuse(error: Exception) -> Any:
    raise error
