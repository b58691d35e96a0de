"""Edits by the tools of the editor: once they are allowed, all files are written, whatever becomes of the call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_nvim.contract import events
from acp_nvim.contract.editor import FileEdits, LspEdit, WorkspaceEdit
from acp_nvim.mcp.session import editor_tools
from acp_nvim.mcp.tools.tool import ToolError
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio


class Held:
    """Stops writes of files until `released`; `paths` are those that were begun."""

    def __init__(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[str] = []
        self.begun, self.released = anyio.Event(), anyio.Event()
        files = host.app.sessions[1].requests.files
        self._replace = files.replace
        monkeypatch.setattr(files, "replace", self.replace)

    async def replace(self, path: str, *more: Any) -> None:
        """Write like the session's files, once it is released."""
        self.paths.append(path)
        self.begun.set()
        await self.released.wait()
        await self._replace(path, *more)


async def allowed_edit(host: Host, monkeypatch: pytest.MonkeyPatch) -> tuple[Held, editor_tools.EditorTools, Any]:
    """An edit of two files, and the tools that carry it out; permissions are given at once."""
    host.script("")
    host.hello(permissions={"rules": [{"kind": "edit", "action": "allow"}]})
    host.open()
    await host.until_state("idle")
    for name in ("a", "b"):
        (host.cwd / name).write_text("old\n")
    edit = LspEdit(line=0, character=0, end_line=0, end_character=3, text="new")
    wanted = WorkspaceEdit([FileEdits(str(host.cwd / name), [edit]) for name in ("a", "b")])
    session = host.app.sessions[1]
    services = session._services
    tools = editor_tools.EditorTools(session.presenter, session.requests, session.changes, services.mcp.calls)
    return Held(host, monkeypatch), tools, wanted


def texts(directory: Path) -> list[str]:
    return [(directory / name).read_text() for name in ("a", "b")]


async def test_a_cancelled_call_leaves_no_half(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    held, tools, wanted = await allowed_edit(host, monkeypatch)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tools.apply, "Rename", wanted)
        await held.begun.wait()
        tasks.cancel_scope.cancel()
        held.released.set()
    assert texts(host.cwd) == ["new\n", "new\n"]
    assert len(host.of(events.Permission)) == 0


async def test_what_takes_too_long_is_named(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    held, tools, wanted = await allowed_edit(host, monkeypatch)
    monkeypatch.setattr(editor_tools, "WRITE_SECONDS", 0.05)
    with pytest.raises(ToolError) as raised:
        await tools.apply("Rename", wanted)
    lines = str(raised.value).splitlines()
    assert lines == [
        "Rename: changed nothing.",
        "Not changed:",
        "a: Neovim has not answered in time",
        "b: Neovim has not answered in time",
    ]
    assert len(held.paths) == 1
    assert texts(host.cwd) == ["old\n", "old\n"]
