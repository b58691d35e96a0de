"""The MCP server of each session: what its agent is told to run, and what serves it then."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_nvim.agents.mcp_servers import RESERVED
from acp_nvim.contract.editor import Editor, ToolAnswer
from acp_nvim.jsonrpc.connection import ByteSink, ByteSource, Connection
from acp_nvim.mcp.listener import Listener
from acp_nvim.mcp.project_servers import ProjectServersTrust
from acp_nvim.tasks import Tasks

if TYPE_CHECKING:  # what serves clients is loaded with the first one
    from acp_nvim.mcp.editor_calls import EditorCalls
    from acp_nvim.mcp.server import McpClient, Toolset
    from acp_nvim.mcp.tools.tool import Workplace

RELAY: Final = str(Path(__file__).with_name("relay.py"))
MESSAGE_BYTES: Final = 1024 * 1024
"""Size of a message of a client: arguments of tools are short."""


class McpServers:
    """What the MCP servers of all sessions share.

    `is_enabled` is the configured `mcp.enabled`, `configured` are the user's servers for all agents. `state` is the
    directory of what outlives this Neovim, `temporary` of what does not.
    """

    def __init__(self, editor: Editor, tasks: Tasks, state: Path, temporary: str | None) -> None:
        self.is_enabled = True
        self.configured: Any = {}
        self.projects = ProjectServersTrust(state, editor.publish)
        self._editor = editor
        self._tasks = tasks
        self._calls: EditorCalls | None = None
        self.listener = Listener(tasks, temporary)

    @property
    def calls(self) -> EditorCalls:
        """The calls that the editor carries out."""
        if self._calls is None:
            from acp_nvim.mcp.editor_calls import EditorCalls

            self._calls = EditorCalls(self._editor)
        return self._calls

    def answered(self, call_id: int, answer: ToolAnswer) -> None:
        """Take the answer of the editor to a call that it began before."""
        if self._calls is not None:
            self._calls.answered(call_id, answer)


class SessionServer:
    """The MCP server of one session; `workplace` makes what its tools work on, with the first client.

    `on_called` is called when a tool was called.
    """

    def __init__(
        self,
        servers: McpServers,
        workplace: Callable[[], Workplace],
        on_called: Callable[[], None],
        tasks: Tasks,
    ) -> None:
        self._servers = servers
        self._make_workplace = workplace
        self._on_called = on_called
        self._tasks = tasks
        self._token: str | None = None
        self._toolset: Toolset | None = None
        self._client: McpClient | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How often the agent has called each tool, by name."""
        return {} if self._toolset is None else self._toolset.counts

    async def entry(self) -> dict[str, Any]:
        """Return the server as the agent is told of it: a program to run (ACP "Session Setup", MCP servers).

        An earlier entry is not valid any more. Raises `OSError` if there can be no socket.
        """
        self.close()
        path, self._token = await self._servers.listener.open(self._serve)
        env = {"ACP_NVIM_SOCKET": path, "ACP_NVIM_TOKEN": self._token}
        return {
            "name": RESERVED,
            "command": sys.executable,
            "args": ["-I", "-S", RELAY],
            "env": [{"name": name, "value": value} for name, value in env.items()],
        }

    def close(self) -> None:
        """End the present client; the token of the latest entry is not valid any more."""
        if self._token is not None:
            self._servers.listener.close(self._token)
            self._token = None

    @property
    def toolset(self) -> Toolset:
        """The tools of the session, which are loaded when they are first needed."""
        if self._toolset is None:
            from acp_nvim.mcp.server import Toolset
            from acp_nvim.mcp.tools import language, reading, writing

            tools = (*reading.TOOLS, *language.TOOLS, *writing.TOOLS)
            self._toolset = Toolset(tools, self._make_workplace(), self._on_called)
        return self._toolset

    @property
    def client(self) -> McpClient:
        """What serves the agent over its own connection."""
        if self._client is None:
            self._client = self._new_client()
        return self._client

    def _new_client(self) -> McpClient:
        from acp_nvim.mcp.server import McpClient

        return McpClient(self.toolset, self._tasks.on_failure)

    async def _serve(self, source: ByteSource, sink: ByteSink) -> None:
        from acp_nvim.mcp.messages import CANCELLED

        client = self._new_client()
        connection = Connection(source, sink, client, limit=MESSAGE_BYTES, cancel=CANCELLED)
        client.notify = connection.notify
        await connection.run()
