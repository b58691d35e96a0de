"""Comments on lines of a file, as tests write them and look at them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import AgentScript
from tests.support.editor import HeadlessEditor

Start = Callable[..., HeadlessEditor]

COMMENTS = """
local found = {}
for _, one in ipairs(require("acp_nvim.review.comments").all()) do
  found[#found + 1] = { vim.fs.basename(one.path), one.first, one.last, one.text, one.is_gone }
end
return found
"""
SHOWN = """
local namespace = vim.api.nvim_get_namespaces()["acp_nvim.comments.shown"]
local found = {}
for _, mark in ipairs(namespace and vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true }) or {}) do
  found[#found + 1] = { mark[2] + 1, mark[4].virt_lines[1][1][1], mark[4].virt_lines[1][1][2] }
end
return found
"""
GONE = "(the lines are gone)"
NUMBERS = "one\ntwo\nthree\nfour\nfive\n"


class Desk:
    """A Neovim that shows the file `f` with five lines."""

    def __init__(
        self,
        start: Start,
        script: AgentScript | None = None,
        *,
        project: Path | None = None,
        state: Path | None = None,
        **config: object,
    ) -> None:
        """With `project` and `state`: where several Neovims work, one after the other or together."""
        self.script = script
        agents = {"it": {"command": script.argv}} if script else {}
        env = {"XDG_STATE_HOME": str(state)} if state else {}
        self.nvim = start(agents=agents, config=config, env=env)
        self.nvim.command("set hidden noswapfile")
        if project:
            self.nvim.command(f"cd {project}")
        self.path = (project or self.nvim.project) / "f"
        if not self.path.exists():
            self.path.write_text(NUMBERS)
        self.nvim.command(f"edit {self.path}")

    def comments(self) -> list[list[object]]:
        """File, first line, last line, text, and whether the lines are gone."""
        return list(self.nvim.lua(COMMENTS))

    def until_shown(self, *lines: tuple[int, str]) -> None:
        """Wait until these texts are below these lines of the current buffer."""
        wanted = sorted([line, text, "AcpReviewComment"] for line, text in lines)
        self.nvim.wait_until(
            lambda: sorted(self.nvim.lua(SHOWN)) == wanted, what=lambda: f"{wanted}, not {self.nvim.lua(SHOWN)}"
        )

    def until_said(self, words: str) -> None:
        """Wait until a message contains these words."""
        self.nvim.wait_until(lambda: any(words in one for one in self.nvim.messages()), what=f"the message {words!r}")


def prompts(script: AgentScript) -> list[str]:
    return [one["params"]["prompt"][0]["text"] for one in script.received("session/prompt")]
