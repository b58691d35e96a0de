"""A Neovim in which what an agent did is reviewed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.agent_edits import Tree, Work, git, lay_out
from tests.support.agent_scripts import AgentScript
from tests.support.below import below
from tests.support.editor import HeadlessEditor

TROUBLE = re.compile(r"\bW1[0-9]\b|\bE\d+:|[Tt]raceback|Error executing|Press ENTER")
SHOWN = """
local found = {}
for _, one in ipairs(require("acp_nvim.review.files").hunks(...)) do
  found[#found + 1] = { one.row, one.count, one.old }
end
return found
"""
REVIEWS = """
local found = {}
for _, one in ipairs(require("acp_nvim.review.files").all()) do
  found[#found + 1] = { one.path, one.operation, one.added or 0, one.removed or 0, one.old_path or "" }
end
return found
"""

TOLD = "local one = require('acp_nvim.review.files').get(...) return one ~= nil and one.hunks ~= nil"
ANSWER = """
local asked = require("acp_nvim").permissions()[1]
require("acp_nvim").answer(asked.id, asked.options[1].option_id)
"""


class Desk:
    """One Neovim, and a project in a repository of the user's."""

    def __init__(self, start: Callable[..., HeadlessEditor], script: AgentScript, **given: Any) -> None:
        self.script = script
        self.nvim = start(agents={"it": {"command": script.argv}}, config={"follow": {"enabled": False}}, **given)
        self.nvim.command("set hidden noswapfile")
        self.cwd = self.nvim.project

    def begin(self, tree: Tree) -> None:
        """Commit these files."""
        lay_out(self.cwd, tree)
        git(self.cwd, "init", "-q")
        git(self.cwd, "add", "-A")
        git(self.cwd, "commit", "-q", "--allow-empty", "-m", "first")

    def go_on_in(self, name: str) -> None:
        """A directory of its own in the project, with a session of its own; buffers of others stay."""
        self.cwd = self.nvim.project / name.replace(" ", "-")
        self.cwd.mkdir()
        ready = len(self.nvim.events("AcpSessionReady"))
        self.nvim.command(f"enew | cd {self.cwd}")
        self.nvim.lua('assert(require("acp_nvim.sessions.client").session("it", true))')
        self.nvim.wait_until(lambda: len(self.nvim.events("AcpSessionReady")) > ready, what="the session")

    def do(self, work: Work, way: str) -> None:
        """The agent does that work, to the end of its turn."""
        ends = len(self.nvim.events("AcpTurnEnd"))
        self.nvim.lua('require("acp_nvim").prompt(...)', work.prompt(way, self.cwd))
        if way == "a terminal":
            self.nvim.wait_until('#require("acp_nvim").permissions() > 0', what="the question")
            self.nvim.lua(ANSWER)
        self.nvim.wait_until(lambda: len(self.nvim.events("AcpTurnEnd")) > ends, what="the end of the turn")

    def shell(self, command: str, way: str) -> None:
        """The agent is told to run that; nobody waits for it."""
        self.nvim.lua('require("acp_nvim").prompt(...)', Work({}, {}, command, {}).prompt(way, self.cwd))

    def reviews(self) -> dict[str, tuple[str, int, int, str | None]]:
        """What Lua knows of files to review."""
        return {
            Path(path).relative_to(self.cwd).as_posix(): (
                operation,
                added,
                removed,
                Path(old).relative_to(self.cwd).as_posix() if old else None,
            )
            for path, operation, added, removed, old in self.nvim.lua(REVIEWS)
        }

    def until_reviews(self, shown: Mapping[str, Any]) -> None:
        """Wait until exactly these files are under review."""
        self.nvim.wait_until(lambda: self.reviews() == shown, what=lambda: f"{shown}, not {self.reviews()}")

    def told(self) -> dict[str, tuple[str, int, int]]:
        """What autocommands have heard of each file last."""
        return {
            Path(one["path"]).relative_to(self.cwd).as_posix(): (one["operation"], one["added"], one["removed"])
            for one in self.nvim.events("AcpFileChanged")
            if Path(one["path"]).is_relative_to(self.cwd)
        }

    def until_told(self, shown: Mapping[str, Any]) -> None:
        """Wait until autocommands were told the same."""
        wanted = {name: one[:3] for name, one in shown.items()}
        self.nvim.wait_until(
            lambda: {name: told for name, told in self.told().items() if name in wanted} == wanted,
            what=lambda: f"{wanted} to be told, not {self.told()}",
        )

    def until_nothing_is_left(self) -> None:
        """Wait until nothing is left to review."""
        self.nvim.wait_until(
            lambda: all(one[0] == "none" for one in self.reviews().values()),
            what=lambda: f"no more of {self.reviews()}",
        )

    def shown_hunks(self, bufnr: int) -> list[tuple[int, int, list[str]]]:
        """What is seen in a buffer: first row, number of rows, old lines."""
        return [(row, count, old) for row, count, old in self.nvim.lua(SHOWN, bufnr)]

    def until_hunks(self, name: str, hunks: list[tuple[int, int, list[str]]]) -> None:
        """Open the file and wait until exactly these hunks are shown."""
        self.nvim.command(f"edit {self.cwd / name}")
        buffer = self.nvim.api("get_current_buf")
        self.nvim.wait_until(
            lambda: self.nvim.lua(TOLD, str(self.cwd / name)) and self.shown_hunks(buffer) == hunks,
            what=lambda: f"the hunks of {name} to be {hunks}, not {self.shown_hunks(buffer)}",
        )

    def check_silence(self) -> None:
        """Check that nothing was complained of, and nobody asks anything."""
        said = "\n".join([self.nvim.printed(), *self.nvim.messages()])
        for log in below(self.nvim.places.directory / "state", "*.log"):
            said += log.read_text(encoding="utf-8", errors="replace")
        assert not TROUBLE.search(said), said
        assert self.nvim.api("get_mode")["mode"] == "n"
