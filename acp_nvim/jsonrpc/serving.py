"""Requests of the peer that are being served: each is answered exactly once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from acp_nvim.jsonrpc import messages
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.tasks import Tasks

Reply = Callable[[bytes], None]
"""Where an answer goes."""


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
