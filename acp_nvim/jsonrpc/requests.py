"""Requests of both sides: ours wait for the peer's answer, the peer's are served; each is answered exactly once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.tasks import Tasks

Answer = msgspec.Raw | Exception
"""The undecoded result, or what came instead of one."""

Settle = Callable[[Answer], None]

Reply = Callable[[bytes], None]
"""Where the answer to a request of the peer goes."""


class PendingCalls:
    """Hands out ids and remembers who waits for which."""

    def __init__(self) -> None:
        self._settle: dict[int, Settle] = {}
        self._next_id = 0

    def __repr__(self) -> str:
        return f"<PendingCalls waiting={len(self._settle)} made={self._next_id}>"

    def __len__(self) -> int:
        return len(self._settle)

    def add(self, settle: Settle) -> int:
        """A new id; `settle` is called with its answer."""
        call_id = self._next_id
        self._next_id += 1
        self._settle[call_id] = settle
        return call_id

    def made(self, call_id: int | None) -> bool:
        """Whether that is the id of a call of ours, waiting or not."""
        return call_id is not None and 0 <= call_id < self._next_id

    def settle(self, call_id: int | None, answer: Answer) -> bool:
        """Give `answer` to the caller; False when nobody waits for that id (unknown, or answered before)."""
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
    """Runs the work for each request and sends what came of it.

    `on_bug` is told what failed and how, `odd` of messages that a peer should not send.
    """

    def __init__(self, on_bug: Callable[[str, Exception], None], odd: Callable[[str], None]) -> None:
        self._on_bug = on_bug
        self._odd = odd
        self._scopes: dict[bytes, list[anyio.CancelScope]] = {}  # peers may use an id twice

    def __len__(self) -> int:
        return sum(map(len, self._scopes.values()))

    def start(self, tasks: Tasks, request_id: msgspec.Raw, serve: Callable[[], Awaitable[Any]], reply: Reply) -> None:
        """Call `serve` now and await what it returns in `tasks`. Both may raise: the answer is an error then."""
        try:
            work = serve()
        except Exception as error:  # whatever it is, the peer gets an answer
            reply(self._failure(request_id, error))
            return
        kept, scope = request_id.copy(), anyio.CancelScope()
        self._scopes.setdefault(bytes(kept), []).append(scope)
        tasks.spawn(self._answer, kept, scope, work, reply)

    def cancel(self, params: msgspec.Raw) -> None:
        """`$/cancel_request`, of all requests with that id; if they were answered, or never made, it does nothing."""
        try:
            request_id = msgspec.json.decode(params, type=dict[str, msgspec.Raw])["requestId"]
        except (msgspec.DecodeError, RecursionError, KeyError):
            self._odd("$/cancel_request without a requestId")
            return
        for scope in self._scopes.get(bytes(request_id), ()):
            scope.cancel()

    async def _answer(
        self, request_id: msgspec.Raw, scope: anyio.CancelScope, work: Awaitable[Any], reply: Reply
    ) -> None:
        answer: bytes | None = None
        try:
            with scope:
                answer = await self._outcome(request_id, work)
        finally:  # also when something other than the peer cancelled the work
            self._forget(bytes(request_id), scope)
            cancelled = RpcError(messages.REQUEST_CANCELLED, "cancelled by $/cancel_request")
            reply(answer or messages.encode_error(request_id, cancelled))

    def _forget(self, request_id: bytes, scope: anyio.CancelScope) -> None:
        others = self._scopes[request_id]
        others.remove(scope)
        if not others:
            del self._scopes[request_id]

    async def _outcome(self, request_id: msgspec.Raw, work: Awaitable[Any]) -> bytes:
        try:
            return messages.encode_result(request_id, await work)
        except Exception as error:  # the peer must get its answer, whatever went wrong here
            return self._failure(request_id, error)

    def _failure(self, request_id: msgspec.Raw, error: Exception) -> bytes:
        if not isinstance(error, RpcError):
            self._on_bug("serving the agent", error)
            error = RpcError(messages.INTERNAL_ERROR, f"the client failed: {error}")
        return messages.encode_error(request_id, error)


class BatchAnswers:
    """Collects answers and sends them when none is missing, or when `let_go` says that it has been long enough.

    ACP and JSON-RPC 2.0 (§6) want one array. A batch may hold a question to the user, who may be away: after `let_go`
    what is there goes out, and the rest in a second array.
    """

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self.complete = anyio.Event()
        self._send = send
        self._missing = 0
        self._answers: list[bytes] = []
        self._taken = False

    def expect(self) -> Callable[[bytes], None]:
        """One more answer will come: call what is returned with it, once."""
        self._missing += 1
        return self._fulfil

    def add(self, answer: bytes) -> None:
        """An answer that is there at once."""
        self._answers.append(answer)

    def all_taken(self) -> None:
        """The whole batch was read: send the answers as soon as all are there."""
        self._taken = True
        self._look()

    def let_go(self) -> None:
        """Send the answers that are there as one batch; those that come later go out in another one."""
        if self._answers:
            self._send(b"[" + b",".join(self._answers) + b"]")
            self._answers = []

    def _fulfil(self, answer: bytes) -> None:
        self._missing -= 1
        self._answers.append(answer)
        self._look()

    def _look(self) -> None:
        if self._taken and not self._missing:
            self.let_go()
            self.complete.set()
