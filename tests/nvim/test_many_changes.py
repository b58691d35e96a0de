"""A command changes many files, and the user rejects all of it as soon as the turn is over, or leaves meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nvim.reviewing import Desk
from tests.support.agent_edits import Tree, look
from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

COUNT = 150
BEFORE: Tree = {f"f{number}": f"{number}\nmiddle\nend\n".encode() for number in range(COUNT)}
AGENT = """
    import subprocess

    def turn(agent, prompt):
        command = "for f in f*; do echo theirs >> $f; done"
        call = {"toolCallId": "c", "kind": "execute", "title": command, "rawInput": {"command": command}}
        agent.update(prompt.session_id, {"sessionUpdate": "tool_call", "status": "in_progress", **call})
        subprocess.run(["sh", "-c", command], check=True)
        agent.update(prompt.session_id, {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})
"""
SEEN = """
_G.seen = { what = {} }
vim.api.nvim_create_autocmd("User", { pattern = "AcpTurnEnd", callback = function(event)
  _G.seen.at_end = event.data.collecting and require("acp_nvim").status().review_progress.what
  vim.schedule(function() vim.cmd("AcpReview rejectall") end)
end })
require("acp_nvim.progress.review").on_change(function()
  local one = require("acp_nvim").status().review_progress
  if one then _G.seen.what[one.what] = true end
end)
"""


@pytest.fixture
def script(tmp_path: Path) -> AgentScript:
    return agent_script(tmp_path, AGENT)


def begun(start: Callable[..., HeadlessEditor], script: AgentScript) -> Desk:
    """A turn has begun, at whose end the user rejects all."""
    desk = Desk(start, script)
    desk.begin(BEFORE)
    nvim = desk.nvim
    nvim.command(f"cd {desk.cwd} | AcpChat it")
    nvim.wait_until('require("acp_nvim").status().state == "idle"', what="the session")
    nvim.lua(SEEN)
    nvim.lua('require("acp_nvim").prompt("go")')
    return desk


def changed(desk: Desk) -> int:
    """The number of files that are not as they were."""
    now = look(desk.cwd)
    return len([name for name, data in BEFORE.items() if now.get(name) != data])


def test_all_is_rejected_as_soon_as_the_turn_is_over(
    editor: Callable[..., HeadlessEditor], script: AgentScript
) -> None:
    desk = begun(editor, script)
    nvim = desk.nvim
    nvim.wait_until(lambda: any("rejected: " in one for one in nvim.messages()), what="the rejection")
    assert f"rejected: {COUNT} files; undo it with :AcpRestore undo" in nvim.messages()[-1]
    assert changed(desk) == 0
    assert nvim.lua("return _G.seen.at_end") == "collecting"
    assert "collecting" in nvim.lua("return _G.seen.what")
    nvim.wait_until('require("acp_nvim").status().review_progress == nil', what="the end of all")
    assert nvim.lua('return #require("acp_nvim").review()') == 0
    assert not [one for one in nvim.messages() if "nothing" in one]
    nvim.command("AcpRestore undo")
    nvim.wait_until(lambda: f"undone: {COUNT} files restored" in nvim.messages()[-1], what="the undoing")
    assert changed(desk) == COUNT


def test_who_leaves_meanwhile_finds_the_rest_in_the_next_neovim(
    editor: Callable[..., HeadlessEditor], script: AgentScript
) -> None:
    desk = begun(editor, script)
    desk.nvim.wait_until(lambda: desk.nvim.events("AcpTurnChanges"), what="all changes to be known")
    desk.nvim.wait_until(lambda: changed(desk) < COUNT, what="some of it to be rejected")
    state, cwd = desk.nvim.places.directory / "state", desk.cwd
    desk.nvim.close()
    left = changed(desk)
    later = Desk(editor, script, env={"XDG_STATE_HOME": str(state)})
    later.cwd = cwd
    nvim = later.nvim
    nvim.command(f"cd {cwd} | AcpReview")
    nvim.wait_until(lambda: len(nvim.lua('return require("acp_nvim").review()')) == left, what=f"{left} files")
    nvim.command("AcpReview rejectall")
    nvim.wait_until(lambda: changed(later) == 0, what="the rest to be rejected")
