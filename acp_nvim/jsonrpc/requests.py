"""Requests in both directions: calls wait for the answers of the peer, its requests are served and answered once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from acp_nvim import decoders
from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.messages import CancelRules, RpcError
from acp_nvim.tasks import Tasks

Answer = msgspec.Raw | Exception
"""The undecoded result of a call, or the error that ended it."""

Settle = Callable[[Answer], None]

Reply = Callable[[bytes], None]
"""Sends the encoded answer to a request of the peer."""

Refusal = Callable[[msgspec.Raw, RpcError], bytes]
"""Encodes the answer to a request, by its id, that is not served because of an error."""


class PendingCalls:
    """Assigns ids to calls and keeps their callbacks until the answers arrive."""

    def __init__(self) -> None:
        self._settle: dict[int, Settle] = {}
        self._next_id = 0

    def __repr__(self) -> str:
        return f"<PendingCalls waiting={len(self._settle)} made={self._next_id}>"

    def __len__(self) -> int:
        return len(self._settle)

    def add(self, settle: Settle) -> int:
        """Return a new call id, with whose answer `settle` will be called."""
        call_id = self._next_id
        self._next_id += 1
        self._settle[call_id] = settle
        return call_id

    def made(self, call_id: int | None) -> bool:
        """Return whether `call_id` is the id of a call that was made, answered or not."""
        return call_id is not None and 0 <= call_id < self._next_id

    def settle(self, call_id: int | None, answer: Answer) -> bool:
        """Pass `answer` to the caller; False if no call with that id is pending (unknown, or already answered)."""
        if call_id is None or call_id not in self._settle:
            return False
        self._settle.pop(call_id)(answer)
        return True

    def forget(self, call_id: int) -> None:
        """Drop a call whose caller no longer waits: a late answer to it is ignored."""
        self._settle.pop(call_id, None)

    def fail_all(self, error: Exception) -> None:
        """Fail every pending call with `error`: the peer is gone, and no answer will come."""
        waiting, self._settle = self._settle, {}
        for settle in waiting.values():
            settle(error)


class Serving:
    """Runs the work for each request of the peer and sends its outcome.

    `on_bug` is called with a description and the exception of failed work, `odd` with a complaint about a message.
    A request that the peer cancels with the notification `rules.cancel_method` gets an answer if `rules` say so.
    """

    def __init__(
        self,
        on_bug: Callable[[str, Exception], None],
        odd: Callable[[str], None],
        rules: CancelRules = messages.ACP_CANCEL,
    ) -> None:
        self.rules = rules
        self._on_bug = on_bug
        self._odd = odd
        self._scopes: dict[bytes, list[anyio.CancelScope]] = {}  # peers may use an id twice

    def __len__(self) -> int:
        return sum(map(len, self._scopes.values()))

    def start(
        self, tasks: Tasks, request_id: msgspec.Raw, serve: Callable[[], Awaitable[Any]], reply: Reply, refusal: Refusal
    ) -> None:
        """Call `serve` now, and await its result in `tasks`. An exception of either is answered with its `refusal`."""
        try:
            work = serve()
        except Exception as error:  # the peer must get an answer, whatever the error is
            reply(self._failure(request_id, error, refusal))
            return
        kept, scope = request_id.copy(), anyio.CancelScope()
        self._scopes.setdefault(bytes(kept), []).append(scope)
        tasks.spawn(self._answer, kept, scope, work, reply, refusal)

    def cancel(self, params: msgspec.Raw) -> None:
        """Handle the cancel notification: cancel all pending requests with its id."""
        try:
            request_id = decoders.decode(params, dict[str, msgspec.Raw])["requestId"]
        except (msgspec.DecodeError, RecursionError, KeyError):
            self._odd(f"{self.rules.method} without a requestId")
            return
        for scope in self._scopes.get(bytes(request_id), ()):
            scope.cancel()

    async def _answer(
        self, request_id: msgspec.Raw, scope: anyio.CancelScope, work: Awaitable[Any], reply: Reply, refusal: Refusal
    ) -> None:
        cancelled = RpcError(messages.REQUEST_CANCELLED, f"cancelled by {self.rules.method}")
        answer = refusal(request_id, cancelled) if self.rules.is_answered else None
        try:
            with scope:
                answer = messages.encode_result(request_id, await work)
        except Exception as error:  # the peer must get an answer, whatever the error is
            answer = self._failure(request_id, error, refusal)
        finally:  # also when something other than the peer cancelled the work
            scopes = self._scopes[bytes(request_id)]
            scopes.remove(scope)
            if not scopes:
                del self._scopes[bytes(request_id)]
            is_wanted = self.rules.is_answered or not scope.cancel_called  # the work may have ended in its own way
            if answer is not None and is_wanted:
                reply(answer)

    def _failure(self, request_id: msgspec.Raw, error: Exception, refusal: Refusal) -> bytes:
        if not isinstance(error, RpcError):
            self._on_bug("serving the agent", error)
            error = RpcError(messages.INTERNAL_ERROR, f"acp_nvim failed: {error}")
        return refusal(request_id, error)


class BatchAnswers:
    """Collects the answers to a batch array, and sends them as one array when all are there.

    ACP and JSON-RPC 2.0 (§6) require one array. A batch may contain a question to the user, who may be away: `flush`
    sends the answers that are there, and the others follow in a second array.
    """

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self.complete = anyio.Event()
        self._send = send
        self._missing = 0
        self._answers: list[bytes] = []
        self._is_closed = False

    def expect(self) -> Callable[[bytes], None]:
        """Announce a later answer; return the function to call with it, once."""
        self._missing += 1
        return self._fulfil

    def add(self, answer: bytes) -> None:
        """Add an encoded answer that was not announced with `expect`."""
        self._answers.append(answer)

    def close(self) -> None:
        """Announce no more answers: send them as soon as all expected ones are there."""
        self._is_closed = True
        self._send_if_complete()

    def flush(self) -> None:
        """Send the answers that are there as one array."""
        if self._answers:
            self._send(b"[" + b",".join(self._answers) + b"]")
            self._answers = []

    def _fulfil(self, answer: bytes) -> None:
        self._missing -= 1
        self._answers.append(answer)
        self._send_if_complete()

    def _send_if_complete(self) -> None:
        if self._is_closed and not self._missing:
            self.flush()
            self.complete.set()
