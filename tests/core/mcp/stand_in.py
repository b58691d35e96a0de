"""A place for tools to work at without a session, and the server of it behind its real socket and relay."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteStream

from acp_nvim.contract.editor import ToolAnswer, WorkspaceEdit
from acp_nvim.mcp.servers import McpServers, SessionServer
from acp_nvim.mcp.tools.tool import ToolError
from acp_nvim.tasks import Tasks
from acp_nvim.workspace.conflicts import Conflicts
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.roots import Roots
from acp_nvim.workspace.saves import Saves
from tests.support.fake_editor import FakeEditor
from tests.support.waiting import LIMIT


async def ignore(what: Any) -> None:
    """Do nothing: no window follows the agent."""


class StandIn:
    """A `Workplace` in a directory, with an editor that answers as the test says."""

    def __init__(self, directory: Path) -> None:
        self.roots = Roots([str(directory)])
        self.editor = FakeEditor()
        conflicts, saves = Conflicts(directory / "conflicts"), Saves(directory / "saves")
        self.files = OpenFiles(self.editor, conflicts, saves, ignore, lambda: [str(directory)])
        self.has_debugger = False
        self.answer: Callable[[str, dict[str, Any]], ToolAnswer] = lambda tool, arguments: ToolAnswer([tool])
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.shown: list[tuple[str, int, str | None]] = []
        self.applied: list[tuple[str, WorkspaceEdit, tuple[str, str] | None]] = []
        self.changed: list[str] = []

    async def ask(self, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        self.asked.append((tool, arguments))
        answer = self.answer(tool, arguments)
        self.has_debugger = answer.has_debugger
        if answer.error is not None:
            raise ToolError(answer.error)
        return answer

    async def until_ready(self) -> None:
        """Return at once: the editor is always ready."""

    async def readable(self, path: str) -> str:
        return self.roots.resolve(os.path.join(self.roots.directories[0], path))

    async def changed_files(self) -> list[str]:
        return self.changed

    def show(self, path: str, line: int, note: str | None) -> None:
        self.shown.append((path, line, note))

    async def apply(self, title: str, edit: WorkspaceEdit, renamed: tuple[str, str] | None = None) -> str:
        self.applied.append((title, edit, renamed))
        return f"{title}: done"


class Wire:
    """A client of the server without its relay: sends and receives messages as they are."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self._data = b""

    async def send(self, message: Any) -> None:
        await self.stream.send(json.dumps(message).encode() + b"\n")

    async def line(self) -> bytes:
        """The next line. Raises `anyio.EndOfStream` at the end."""
        while b"\n" not in self._data:
            self._data += await self.stream.receive()
        line, _, self._data = self._data.partition(b"\n")
        return line

    async def receive(self) -> Any:
        return json.loads(await self.line())


class Stage:
    """A server and what it serves; `bugs` are the exceptions that should not have been."""

    def __init__(self, directory: Path, tasks: Tasks, bugs: list[Exception]) -> None:
        self.place = StandIn(directory)
        self.servers = McpServers(self.place.editor, tasks, directory, str(directory))
        self.calls: list[dict[str, int]] = []
        self.server = SessionServer(self.servers, lambda: self.place, self._called, tasks)
        self.bugs = bugs

    @asynccontextmanager
    async def wire(self) -> AsyncIterator[Wire]:
        """A client that has shown the token of a new entry."""
        entry = values(await self.server.entry())
        async with await anyio.connect_unix(entry["ACP_NVIM_SOCKET"]) as stream:
            wire = Wire(stream)
            await stream.send(entry["ACP_NVIM_TOKEN"].encode() + b"\n")
            with anyio.fail_after(LIMIT):
                assert await wire.line() == b"ok"
            yield wire

    async def raw(self, message: Any) -> Any:
        """The answer to one message of a new client."""
        async with self.wire() as wire:
            await wire.send(message)
            with anyio.fail_after(LIMIT):
                return await wire.receive()

    def _called(self) -> None:
        self.calls.append(dict(self.server.counts))


@asynccontextmanager
async def stage(directory: Path) -> AsyncIterator[Stage]:
    """A server in `directory`; it is stopped at the end, and must have had no bug."""
    bugs: list[Exception] = []
    async with anyio.create_task_group() as group:
        made = Stage(directory, Tasks(group, bugs.append), bugs)
        yield made
        made.server.close()
        made.servers.listener.stop()
        group.cancel_scope.cancel()
    assert bugs == []


def values(entry: dict[str, Any]) -> dict[str, str]:
    """The environment of an entry of `mcpServers`."""
    return {one["name"]: one["value"] for one in entry["env"]}
