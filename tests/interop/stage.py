"""One agent, a model server, and the Neovims that talk with it, one after the other, on the same state."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.interop import installing
from tests.interop.agent_file import AgentFile, filled
from tests.interop.model.scenes import MODULE
from tests.interop.model.server import ModelServer
from tests.interop.offers import Offers
from tests.interop.wire import Wire
from tests.support.editor import HeadlessEditor
from tests.support.listening import free_port
from tests.support.places import ROOT
from tests.support.waiting import wait_until

LIMIT = 90.0
FILES = {
    "main.py": 'print("hello")\n',
    "util.py": "def add(a, b):\n    return a + b\n",
    "notes.txt": "first\nsecond\n",
    MODULE: "import os\n\n\ndef area(width, height):\n    return width * height\n\n\nprint(area(1, 2))\n",
}
ANSWER = """
local asked = require("acp_nvim").permissions()
for _, one in ipairs(asked) do
  local wanted = one.options[1]
  for _, option in ipairs(one.options) do
    wanted = option.kind == ... and option or wanted
  end
  require("acp_nvim").answer(one.id, wanted.option_id)
end
return vim.tbl_map(function(one) return one.kind end, asked)
"""
SELECT = """
local wanted = ...
_G.acp_select = { asked = {}, wanted = wanted, chosen = {} }
vim.ui.select = function(items, opts, done)
  local lines = vim.tbl_map(opts.format_item or tostring, items)
  table.insert(_G.acp_select.asked, { prompt = opts.prompt or "", lines = lines })
  local text = table.remove(_G.acp_select.wanted, 1)
  for i, line in ipairs(lines) do
    if text and line:find(text, 1, true) then
      table.insert(_G.acp_select.chosen, line)
      return done(items[i], i)
    end
  end
  done(nil, nil)
end
"""


EDIT = """
local path = ...
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  if not vim.wo[win].winfixbuf then
    vim.api.nvim_set_current_win(win)
    vim.cmd.edit(vim.fn.fnameescape(path))
    return
  end
end
error("no window for " .. path)
"""


class NotOfferedError(Exception):
    """The agent does not have it."""


class Stage:
    """Starts nothing by itself: `open` does."""

    def __init__(self, directory: Path, agent: AgentFile, model: ModelServer) -> None:
        self.agent = agent
        self.model = model
        self.home = directory / "home"
        self.project = directory / "project"
        self.state = directory / "state"
        for place in (self.home, self.project, self.state):
            place.mkdir(parents=True)
        self._directory = directory
        self._editor: HeadlessEditor | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._port = free_port()
        self.wire = Wire(self.state)
        self.failed: list[str] = []
        self.session_id = ""
        for name, text in FILES.items():
            (self.project / name).write_text(text)

    # The agent

    def lay_out(self) -> None:
        """Puts its files into its home; it must be installed."""
        for path, text in self._filled(self.agent.files).items():
            (self.home / path).parent.mkdir(parents=True, exist_ok=True)
            (self.home / path).write_text(text)

    def definition(self) -> dict[str, Any]:
        """What a user would write into `agents`."""
        path = f"{Path(installing.node()).parent}{os.pathsep}{os.environ['PATH']}"
        env = {
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "PATH": path,
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }
        command, env = self._filled(self.agent.command), {**env, **self._filled(self.agent.env)}
        if not self.agent.listens:
            return {"command": command, "env": env, **self.agent.settings}
        if self._server is None:
            everything = {**os.environ, **env}
            self._server = subprocess.Popen(command, env=everything, cwd=self.home, start_new_session=True)
            wait_until(self._accepts, LIMIT, "the agent to listen")
        return {"address": f"127.0.0.1:{self._port}"}

    def _accepts(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port)).close()
        except OSError:
            return False
        return True

    def _filled(self, value: Any) -> Any:
        places = {"port": str(self.model.port), "home": str(self.home), "root": str(ROOT)}
        places |= {"installed": str(installing.directory(self.agent)), "bin": installing.program(self.agent)}
        return filled(value, places | {"node": installing.node(), "listens": str(self._port)})

    @property
    def offers(self) -> Offers:
        """What the agent has offered so far."""
        return Offers(self.wire)

    # Neovim

    @property
    def nvim(self) -> HeadlessEditor:
        """The one that runs; there must be one."""
        assert self._editor is not None, "no Neovim runs"
        return self._editor

    def open(self) -> None:
        """Starts a Neovim in the project."""
        config = {
            "default_agent": self.agent.name,
            "log": {"traffic": True},
            "protocol": {"v2": self.agent.protocol == 2},
        }
        self._editor = HeadlessEditor(
            self._directory,
            agents={self.agent.name: self.definition()},
            config=config,
            env={"XDG_STATE_HOME": str(self.state)},
        )
        self.nvim.command(f"cd {self.project}")

    def close(self) -> None:
        """Ends Neovim; fails when something of it is left."""
        editor, self._editor = self._editor, None
        if editor:
            editor.close()

    def abandon(self) -> None:
        """End Neovim, even if processes are left."""
        with contextlib.suppress(AssertionError):
            self.close()
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGKILL)  # with the program that a loader has started
            self._server.wait(LIMIT)

    # What a user does

    def status(self) -> dict[str, Any]:
        """Return the status of the current session."""
        return dict(self.nvim.lua('return require("acp_nvim").status()'))

    def text(self) -> str:
        """The chat of the session at hand."""
        nr = self.nvim.lua('local one = require("acp_nvim.host.sessions").current() return one and one.bufnr')
        return self.nvim.buffer_text(nr) if nr else ""

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        """Waits, and fails with what Neovim shows and what went over the wire."""
        return wait_until(condition, LIMIT, what, self.describe)

    def pause_until(self, condition: Callable[[], Any], what: str) -> None:
        """Wait for a condition outside of Neovim."""
        wait_until(condition, LIMIT, what)

    def describe(self) -> str:
        """What Neovim shows, and the last messages."""
        last = [f"{way}: {str(one)[:400]}" for way, one in self.wire.messages()[-20:]]
        return "\n".join([self.nvim.describe(), "--- wire", *last])

    def turn(self, scene: str, more: str = "", kind: str = "allow_once") -> tuple[dict[str, Any], list[str]]:
        """Sends a scene, allows what is asked with options of that kind, and waits for the end.

        How it ended, and the kinds of the tool calls that were asked for, one for each request.
        """
        before, asked = len(self.ends()), []
        self.say(scene, more)
        self.wait(lambda: asked.extend(self.nvim.lua(ANSWER, kind)) or len(self.ends()) > before, f"the end of {scene}")
        return self.ends()[-1], asked

    def edit(self, path: Path) -> None:
        """Opens a file in a window that is not the plugin's: those keep their buffers."""
        self.nvim.lua(EDIT, str(path))

    def say(self, scene: str, more: str = "") -> None:
        """Sends the prompt of a scene."""
        text = self.agent.prompts.get(scene, f"scene:{scene} in:{self.project} {more}")
        answer = self.nvim.lua('return { require("acp_nvim").prompt(...) }', text)
        assert answer[0], answer

    def ends(self) -> list[dict[str, Any]]:
        """Return the events at the ends of turns."""
        return self.nvim.events("AcpTurnEnd")

    def choosing(self, *wanted: str) -> None:
        """From now on menus are answered by the entries that have these texts, one after the other; then by none."""
        self.nvim.lua(SELECT, list(wanted))

    def asked(self) -> list[dict[str, Any]]:
        """The menus that were shown since then."""
        return list(self.nvim.lua("return _G.acp_select.asked"))

    def git(self, *arguments: str) -> None:
        """Run git in the project."""
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *arguments], cwd=self.project, check=True, capture_output=True)
