"""The official MCP client, connected to the server that an agent was told of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support.waiting import LIMIT

T = TypeVar("T")


def parameters(entry: dict[str, Any]) -> StdioServerParameters:
    """Return how to start the server of an entry of `mcpServers`."""
    env = {one["name"]: one["value"] for one in entry["env"]}
    return StdioServerParameters(command=entry["command"], args=entry["args"], env=env)


def with_client(entry: dict[str, Any], use: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    """Return what `use` returns of a client; `mode`: "legacy" or "auto"."""

    async def run() -> T:
        with anyio.fail_after(LIMIT):
            async with Client(stdio_client(parameters(entry)), mode=mode) as client:
                return await use(client)

    return anyio.run(run)


def call(entry: dict[str, Any], tool: str, mode: str = "auto", **arguments: Any) -> tuple[str, bool]:
    """Call a tool; return the text of its result, and whether it is an error."""

    async def use(client: Client) -> tuple[str, bool]:
        result = await client.call_tool(tool, arguments)
        return "\n".join(getattr(one, "text", "") for one in result.content), bool(result.is_error)

    return with_client(entry, use, mode)
