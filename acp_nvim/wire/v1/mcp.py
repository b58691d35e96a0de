"""MCP servers that we tell the agent of (version 1)."""

from __future__ import annotations

from typing import TypeAlias

from acp_nvim.wire.base import Wire
from acp_nvim.wire.facts import EnvVariable, HttpHeader


class McpServerHttp(Wire, tag_field="type", tag="http"):
    """A server that is reached by HTTP."""

    name: str
    url: str
    headers: list[HttpHeader]


class McpServerSse(Wire, tag_field="type", tag="sse"):
    """A server that is reached by HTTP with server-sent events."""

    name: str
    url: str
    headers: list[HttpHeader]


class McpServerStdio(Wire):
    """A server that the agent starts; it has no `type` on the wire."""

    name: str
    command: str
    args: list[str]
    env: list[EnvVariable]


McpServer: TypeAlias = McpServerHttp | McpServerSse | McpServerStdio
"""To be sent only: what has no tag cannot be told from the rest."""
