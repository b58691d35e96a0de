"""A connection to one JSON-RPC peer: calls and their answers, requests served exactly once, notifications in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import Any, Final, Literal, Protocol

import anyio
import anyio.lowlevel
import msgspec

from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.decoding import in_utf8, may_be_wide
from acp_nvim.jsonrpc.dispatcher import Dispatcher, Handler
from acp_nvim.jsonrpc.framing import Line, LineFramer, SkippedLine
from acp_nvim.jsonrpc.messages import CANCEL_REQUEST, CancelRules, PeerGoneError
from acp_nvim.jsonrpc.requests import Answer, PendingCalls
from acp_nvim.limits import READ_BYTES, SLICE_SECONDS, TAKEN_BYTES
from acp_nvim.tasks import Tasks

UNREAD_ANSWERS_BYTES: Final = 8 * 1024 * 1024
"""Size of the answers that an agent has not read: beyond it no more input of the agent is read, and no more files."""


class ByteSource(Protocol):
    """A stream from which bytes are read."""

    async def receive(self, max_bytes: int, not_before: float = 0.0) -> bytes:
        """Return between 1 and `max_bytes` bytes. Raises `anyio.EndOfStream` at the end.

        Lets other tasks run, also if it need not wait. Nobody needs what comes until `not_before` (on the clock of
        `anyio.current_time`) earlier than that: a source may read it all at once then.
        """


class ByteSink(Protocol):
    """A stream to which bytes are written."""

    async def send(self, item: bytes) -> None:
        """Write all bytes of `item`. Raises `anyio.BrokenResourceError` when the other side is closed."""


class Tap(Protocol):
    """Gets every line in both directions, exactly as on the wire and in its order, without the newline.

    A line over the size limit is replaced by a note. A tap that raises is removed.
    """

    def received(self, line: bytes) -> None:
        """Record a line of the peer, before it is handled."""

    def sent(self, line: bytes) -> None:
        """Record a line that is about to be sent to the peer."""


class Connection:
    """A JSON-RPC connection over a pair of byte streams.

    Messages have at most `limit` bytes, None for as many as those of agents. `cancel` says how the peer withdraws its
    requests; `refusals` are as in `Dispatcher`. `run` serves the peer until its stream ends; then every pending call
    fails with `PeerGoneError`.
    """

    def __init__(
        self,
        source: ByteSource,
        sink: ByteSink,
        handler: Handler,
        tap: Tap | None = None,
        *,
        limit: int | None = None,
        cancel: CancelRules = messages.ACP_CANCEL,
        refusals: Mapping[str, Any] | None = None,
    ) -> None:
        self._source = source
        self._sink = sink
        self._tap = tap
        self._framer = LineFramer() if limit is None else LineFramer(limit)
        self._calls = PendingCalls()
        answer = partial(self._send, is_answer=True)
        self._dispatcher = Dispatcher(handler, self._calls, answer, cancel, refusals)
        self._outbox: deque[tuple[bytes, bool]] = deque()  # messages, and whether they are answers
        self._outbox_filled = anyio.Event()
        self._unread = 0  # bytes of answers that the peer has not read
        self._taken = anyio.Event()
        self._is_deaf = False  # the peer has closed its stdin
        self.closed = False

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"<Connection {state} {self._calls!r} {self._dispatcher!r} {self._framer!r}>"

    async def run(self) -> None:
        """Read, serve and write until the peer's stream ends; then fail all calls."""
        try:
            async with anyio.create_task_group() as tasks:
                self._dispatcher.tasks = Tasks(tasks, lambda error: self._dispatcher.on_bug("serving the agent", error))
                tasks.start_soon(self._write)
                await self._read()
                self.closed = True  # before the cancellation, so that cancelled requests can see the reason
                tasks.cancel_scope.cancel()
        finally:
            self.closed = True
            self._calls.fail_all(PeerGoneError())

    async def request(
        self,
        method: str,
        params: Any,
        on_answer: Callable[[Answer], None] | None = None,
        on_call: Callable[[int], None] | None = None,
    ) -> msgspec.Raw:
        """Call the peer. Raises `RpcError` for its error answer, `PeerGoneError` when it leaves without one.

        `on_answer` is called with the answer before any later message of the peer is handled; its exception is raised
        here. `on_call` is called with the id of the call, for `withdraw`. If the caller is cancelled, the call is
        withdrawn (`$/cancel_request`).
        """
        if self.closed:
            raise PeerGoneError
        arrived = anyio.Event()
        answers: list[Answer] = []

        def settle(answer: Answer) -> None:
            answers.append(answer)
            arrived.set()
            if on_answer is None:
                return
            try:
                on_answer(answer)
            except Exception as error:
                self._dispatcher.on_bug(f"taking the answer to {method}", error)
                answers[:] = [error]

        encoded = msgspec.Raw(msgspec.json.encode(params))  # raises before there is a call
        call_id = self._calls.add(settle)
        try:
            self._send(messages.encode_call(call_id, method, encoded))
            if on_call is not None:
                on_call(call_id)
            await arrived.wait()
        finally:
            if not answers:
                self._calls.forget(call_id)
                self.withdraw(call_id)
        if isinstance(answers[0], Exception):
            raise answers[0]
        return answers[0]

    def notify(self, method: str, params: Any) -> None:
        """Send a notification, which gets no answer; do nothing on a closed connection."""
        self._send(messages.encode_notification(method, params))

    def withdraw(self, call_id: int) -> None:
        """Tell the peer that the answer to a call is not needed any more (`$/cancel_request`); it may still come."""
        self.notify(CANCEL_REQUEST, {"requestId": call_id})

    async def room(self) -> None:
        """Wait until the peer has read most of the answers to its requests: they are kept in memory until then."""
        while self._unread > UNREAD_ANSWERS_BYTES and not (self.closed or self._is_deaf):
            await self._taken.wait()

    # --- bytes -------------------------------------------------------------------------------------------------------

    def _send(self, message: bytes, is_answer: bool = False) -> None:
        if self.closed or self._is_deaf:
            return
        self._unread += len(message) if is_answer else 0
        self._outbox.append((message, is_answer))
        self._outbox_filled.set()

    async def _write(self) -> None:
        while True:
            await self._outbox_filled.wait()
            self._outbox_filled = anyio.Event()
            while self._outbox:
                message, is_answer = self._outbox.popleft()
                self._tapped("sent", message)
                try:
                    await self._sink.send(message + b"\n")
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    self._is_deaf = True
                    self._outbox.clear()
                    self._taken.set()
                    return  # the reading side will see the end too
                if is_answer:
                    self._unread -= len(message)
                    self._taken.set()
                    self._taken = anyio.Event()

    async def _read(self) -> None:
        not_before = 0.0
        while True:
            try:
                data = await self._source.receive(READ_BYTES, not_before)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                if rest := self._framer.rest():
                    self._tapped("received", rest)
                    self._dispatcher.take_rest(rest)
                return
            begun = perf_counter()
            for start in range(0, len(data), TAKEN_BYTES):
                for found in self._framer.feed(data[start : start + TAKEN_BYTES]):
                    if isinstance(found, SkippedLine):
                        self._tapped("received", b"(a line of %d bytes, over the limit)" % found.size)
                        self._dispatcher.take_skipped(found)
                        continue
                    is_single = self._tap is not None or len(found) == 1
                    for part in [found] if is_single else self._dispatcher.take_text(found):
                        mended = in_utf8(part)
                        lines = iter(mended) if self._tap is None else self._tap_each(part, mended)
                        is_wide = len(mended) == 1 or may_be_wide(mended)  # a single line is searched when needed
                        while not self._dispatcher.take(lines, is_wide):
                            await self._pause()
                if perf_counter() - begun > SLICE_SECONDS / 2:
                    await self._pause()
                    begun = perf_counter()
            shown_at = self._dispatcher.caught_up()
            not_before = shown_at if len(data) < TAKEN_BYTES else 0.0
            await self.room()

    async def _pause(self) -> None:
        """Let other tasks run between the slices, after what was said is shown."""
        self._dispatcher.caught_up()
        await anyio.lowlevel.checkpoint()

    def _tap_each(self, lines: list[Line], mended: list[Line]) -> Iterator[Line]:
        for line, text in zip(lines, mended, strict=True):
            self._tapped("received", bytes(line))
            yield text

    def _tapped(self, direction: Literal["received", "sent"], line: bytes) -> None:
        if self._tap is None:
            return
        try:
            getattr(self._tap, direction)(line)
        except Exception as error:  # a full disk must not end the connection
            self._tap = None
            self._dispatcher.odd(f"what is said is no longer recorded: {error!r}")
