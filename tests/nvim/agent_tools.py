"""A real Neovim with a session, whose tools a test calls as the agent would."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.support import mcp_clients
from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor
from tests.support.waiting import LIMIT

BIN = Path(sys.executable).parent
SERVERS = {"jedi": [str(BIN / "jedi-language-server")], "ruff": [str(BIN / "ruff"), "server"]}
"""Real language servers for Python; to start jedi takes a second."""

AGENT = """
def turn(agent, prompt):
    if prompt.text.startswith("write "):
        path = os.path.join(os.getcwd(), prompt.text[6:])
        prompt.tool("e", "Edit", kind="edit", status="in_progress", locations=[{"path": path}])
        prompt.until_heard()
        with open(path, "w") as file:
            file.write("def broken():\\n    return missing\\n")
        prompt.tool_update("e", status="completed")
        while not os.path.exists("go on"):
            time.sleep(0.01)
"""

# jedi takes 8 s of a processor to end if it wants to tell diagnostics when Neovim is gone. ruff has another option.
ENABLE = """
local silent = { diagnostics = { enable = false } }
for name, cmd in pairs(...) do
  vim.lsp.config(name, { cmd = cmd, filetypes = { "python" }, root_markers = { ".git" }, init_options = silent })
  vim.lsp.enable(name)
end
"""

MODULE = "import os\n\n\ndef area(width, height):\n    return width * height\n\n\nprint(area(1, 2))\n"
USER = "from shapes import area\n\nTOTAL = area(3, 4) + area(5, 6)\n"


class Tools:
    """The tools of a session `nvim` has begun; calls wait for no longer than `LIMIT`."""

    def __init__(self, nvim: HeadlessEditor, script: AgentScript) -> None:
        self.nvim = nvim
        self.script = script
        nvim.command("AcpChat")
        nvim.wait_until(lambda: nvim.events("AcpSessionReady"), what="the session")
        self.entry = script.received("session/new")[-1]["params"]["mcpServers"][-1]
        nvim.command("wincmd p")

    def call(self, tool: str, mode: str = "auto", **arguments: Any) -> str:
        """The result of a call that succeeds."""
        text, is_error = mcp_clients.call(self.entry, tool, mode, **arguments)
        assert not is_error, text
        return text

    def error(self, tool: str, **arguments: Any) -> str:
        """What is said of a call that does not."""
        text, is_error = mcp_clients.call(self.entry, tool, **arguments)
        assert is_error, text
        return text

    def answered(self, answer: str, tool: str, mode: str = "auto", **arguments: Any) -> tuple[str, bool]:
        """The result of a call for which the user is asked, and answers with that option."""
        before = len(self.nvim.events("AcpPermissionRequest"))
        with ThreadPoolExecutor(1) as threads:
            called = threads.submit(mcp_clients.call, self.entry, tool, mode, **arguments)
            self.choose(answer, before, called)
            return called.result(LIMIT)

    def choose(self, answer: str, before: int, called: Future[Any]) -> None:
        """Wait until the user is asked, after `before` other requests, and answer."""
        self.nvim.wait_until(
            lambda: called.done() or len(self.nvim.events("AcpPermissionRequest")) > before, what="a request"
        )
        assert not called.done(), called.result()
        request = self.nvim.events("AcpPermissionRequest")[before]["request"]
        assert self.nvim.lua('return require("acp_nvim").answer(...)', request["id"], answer) is True

    def open(self, name: str) -> None:
        """Edit a file of the project in the code window."""
        self.nvim.command(f"edit {self.nvim.project / name}")


def tools(
    editor: Callable[..., HeadlessEditor], directory: Path, servers: Iterable[str] = (), agent: str = AGENT, **more: Any
) -> Tools:
    """A session in a project with two files of Python, with these of `SERVERS` for it."""
    script = agent_script(directory, agent)
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it", **more})
    (nvim.project / ".git").mkdir()
    (nvim.project / "shapes.py").write_text(MODULE)
    (nvim.project / "main.py").write_text(USER)
    nvim.lua(ENABLE, {name: SERVERS[name] for name in servers})
    return Tools(nvim, script)


@contextlib.contextmanager
def shared_tools(directory: Path, servers: Iterable[str] = ()) -> Iterator[Tools]:
    """Tools that several tests share; the two files are restored after each test."""
    with contextlib.ExitStack() as stack:

        def start(**given) -> HeadlessEditor:
            started = HeadlessEditor(directory, **given)
            stack.callback(started.close)
            return started

        yield tools(start, directory, servers)
