"""Serves `mcp/message`: an agent uses an MCP server of ours over its own connection (ACP unstable, "MCP over ACP")."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Final
from uuid import uuid4

import msgspec

from acp_nvim import decoders
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.mcp.servers import SessionServer

METHOD: Final = "mcp/message"
NONE: Final = msgspec.Raw(b"{}")
"""The parameters of a message without any."""


class _Message(msgspec.Struct, rename="camel"):
    """The definition `MessageMcpRequest` of the official schema."""

    server_id: str
    method: str
    params: msgspec.Raw = NONE


class McpMessages:
    """The servers that one agent was given, by their ids."""

    def __init__(self) -> None:
        self._servers: dict[str, SessionServer] = {}

    def __repr__(self) -> str:
        return f"<McpMessages {len(self._servers)} servers>"

    def add(self, server: SessionServer) -> str:
        """Serve the agent, and return the id of the server for it."""
        server_id = uuid4().hex
        self._servers[server_id] = server
        return server_id

    def remove(self, server: SessionServer) -> None:
        """Serve nothing of that server any more."""
        self._servers = {name: one for name, one in self._servers.items() if one is not server}

    def serve(self, params: msgspec.Raw) -> Awaitable[dict[str, Any]]:
        """Return an awaitable of the answer. Raises `RpcError` if there is no such server."""
        try:
            message = decoders.decode(params, _Message)
        except msgspec.DecodeError as error:
            raise RpcError(INVALID_PARAMS, f"{METHOD}: {error}") from error
        server = self._servers.get(message.server_id)
        if server is None:
            raise RpcError(INVALID_PARAMS, f"{METHOD}: there is no MCP server {message.server_id[:100]!r}")
        return self._answer(server, message)

    async def _answer(self, server: SessionServer, message: _Message) -> dict[str, Any]:
        """Return the result of the server, or its error, which is no error of the agent's connection."""
        try:
            params = NONE if bytes(message.params) == b"null" else message.params
            return {"result": await server.client.serve(message.method, params)}
        except RpcError as error:
            data = {} if error.data is None else {"data": error.data}
            return {"error": {"code": error.code, "message": error.message, **data}}
