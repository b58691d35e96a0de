"""Answers the requests of an MCP client, in both eras of the protocol."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

import anyio
import msgspec

from acp_nvim import decoders
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from acp_nvim.limits import PROGRESS_SECONDS
from acp_nvim.mcp import messages
from acp_nvim.mcp.tools.tool import Tool, ToolError, Workplace, bounded, page
from acp_nvim.workspace.refusals import FileRefusedError

CALLS_AT_ONCE: Final = 1000
"""Calls of one client that are carried out or wait; more are refused."""

T = TypeVar("T")

log = logging.getLogger(__name__)


class Toolset:
    """The tools for one session, and how often each was called (`counts`, by name)."""

    def __init__(self, tools: tuple[Tool, ...], workplace: Workplace, on_called: Callable[[], None]) -> None:
        self.counts: dict[str, int] = {}
        self._tools = {one.name: one for one in tools}
        self._workplace = workplace
        self._on_called = on_called
        self._running = 0

    @property
    def has_debugger(self) -> bool:
        """Whether the editor has a debugger, as far as it has told; the list of tools depends on it."""
        return self._workplace.has_debugger

    def described(self) -> list[dict[str, Any]]:
        """Return the tools as `tools/list` describes them, always in the same order."""
        return [one.described() for one in self._tools.values() if one.is_offered(self.has_debugger)]

    async def call(self, params: messages.CallParams) -> dict[str, Any]:
        """Call a tool, and return the result of `tools/call`. Raises `RpcError` for an unknown one."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
        if self._running >= CALLS_AT_ONCE:
            return messages.called(f"{CALLS_AT_ONCE} calls wait already. Try again when they are answered.", True)
        self.counts[tool.name] = self.counts.get(tool.name, 0) + 1
        self._running += 1
        self._on_called()
        try:
            arguments = tool.read(params.arguments)
            found = await tool.run(self._workplace, arguments)
            return messages.called(page(found, getattr(arguments, "cursor", None)), False)
        except (ToolError, FileRefusedError) as error:
            return messages.called(bounded(str(error)), True)
        finally:
            self._running -= 1


class McpClient:
    """Serves one client (`acp_nvim.jsonrpc.dispatcher.Handler`); `notify` sends it a notification.

    `on_bug` is called with an exception that should not have been. A client that has given a token for it is told every
    `PROGRESS_SECONDS` that its call goes on.
    """

    def __init__(self, toolset: Toolset, on_bug: Callable[[Exception], None]) -> None:
        self.notify: Callable[[str, Any], None] = lambda method, params: None
        self._toolset = toolset
        self._on_bug = on_bug
        self._has_shaken_hands = False
        self._had_debugger = toolset.has_debugger

    def serve(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        """Return an awaitable of the result of a request. Raises `RpcError`."""
        meta = self._decoded(params, messages.Params, method).meta or {}
        if messages.VERSION in meta:
            self._require_supported(method, meta)
            return self._stateless(method, params)
        return self._with_handshake(method, params)

    def _require_supported(self, method: str, meta: dict[str, msgspec.Raw]) -> None:
        """Check the `_meta` of a stateless request (2026-07-28, "Per-request protocol fields")."""
        version: object = decoders.decode(meta[messages.VERSION], object)
        if version not in messages.STATELESS_VERSIONS:
            data = {
                "supported": [*messages.STATELESS_VERSIONS, *messages.HANDSHAKE_VERSIONS],
                "requested": version if isinstance(version, str) else repr(version)[:100],
            }
            raise RpcError(messages.UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        if messages.CAPABILITIES not in meta:
            raise RpcError(INVALID_PARAMS, f"{method}: `_meta` has no {messages.CAPABILITIES}")

    def _stateless(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        match method:
            case "server/discover":
                return _ready(messages.stateless(messages.discovered()))
            case "tools/list":
                return _ready(messages.stateless(messages.listed(self._list())))
            case "tools/call":
                return self._call_stateless(self._decoded(params, messages.CallParams, method))
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")

    async def _call_stateless(self, params: messages.CallParams) -> dict[str, Any]:
        return messages.stateless(await self._call(params))

    def _with_handshake(self, method: str, params: msgspec.Raw) -> Awaitable[Any]:
        if method == "initialize":
            wanted = self._decoded(params, messages.InitializeParams, method)
            self._has_shaken_hands = True
            return _ready(messages.initialized(wanted.version))
        if method == "ping":
            return _ready({})
        if not self._has_shaken_hands:
            raise RpcError(INVALID_PARAMS, f"{method[:100]}: neither `initialize` nor `_meta` has named a version")
        match method:
            case "tools/list":
                return _ready({"tools": self._list()})
            case "tools/call":
                return self._call(self._decoded(params, messages.CallParams, method))
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")

    def _list(self) -> list[dict[str, Any]]:
        self._had_debugger = self._toolset.has_debugger
        return self._toolset.described()

    async def _call(self, params: messages.CallParams) -> dict[str, Any]:
        token = params.progress_token
        found = await (self._toolset.call(params) if token is None else self._call_with_progress(params, token))
        if self._has_shaken_hands and self._had_debugger != self._toolset.has_debugger:
            self._had_debugger = self._toolset.has_debugger
            self.notify(messages.LIST_CHANGED, {})
        return found

    async def _call_with_progress(self, params: messages.CallParams, token: str | int) -> dict[str, Any]:
        failed: Exception | None = None
        found: dict[str, Any] = {}
        async with anyio.create_task_group() as group:
            group.start_soon(self._tell_progress, token)
            try:
                found = await self._toolset.call(params)
            except Exception as error:  # raised outside of the group, which would wrap it
                failed = error
            group.cancel_scope.cancel()
        if failed is not None:
            raise failed
        return found

    async def _tell_progress(self, token: str | int) -> None:
        for count in itertools.count(1):
            await anyio.sleep(PROGRESS_SECONDS)
            self.notify(messages.PROGRESS, messages.progress(token, count))

    @staticmethod
    def _decoded(params: msgspec.Raw, kind: type[T], method: str) -> T:
        try:
            is_empty = bytes(params) in (b"", b"null")  # some languages write a member without a value as null
            return decoders.decode(msgspec.Raw(b"{}") if is_empty else params, kind)
        except (msgspec.DecodeError, RecursionError) as error:
            raise RpcError(INVALID_PARAMS, f"{method[:100]}: {error}") from error

    def notification(self, method: str, params: msgspec.Raw) -> None:
        """Ignore a notification: those of cancelled requests are handled before."""

    def odd(self, words: str) -> None:
        """Log a fault of the client that was tolerated."""
        log.warning("MCP client: %s", words)

    def noise(self, line: bytes) -> None:
        """Ignore a line that is no message; it is logged."""

    def lost(self, words: str, is_news: bool = False) -> None:
        """Log that a message was dropped; the client gets an error for a request."""
        log.warning("MCP client: %s", words)

    def bug(self, error: Exception) -> None:
        """Report that a message could not be handled, through `on_bug`."""
        self._on_bug(error)

    def parts(self, lines: list[bytes | bytearray]) -> list[list[bytes | bytearray]]:
        """Return all of them as one part."""
        return [lines]

    def text(self, lines: Sequence[bytes | bytearray]) -> bool:
        """Return False: no message of a client is that frequent."""
        return False

    def split_text(self, line: bytes | bytearray) -> bool:
        """Return False: clients send no text in pieces."""
        return False

    def caught_up(self) -> float:
        """Do nothing: each request is answered by itself."""
        return 0.0


async def _ready(result: dict[str, Any]) -> dict[str, Any]:
    return result
