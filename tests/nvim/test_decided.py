"""What the user rejects is named above the prompt, and goes to the agent with it, unless the user removes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

AGENT = """
    def turn(agent, prompt):
        if prompt.text == "write":
            prompt.write(os.path.abspath("a.txt"), "one\\nagent\\n")
        prompt.say("done")
"""
BAR = """
local session = require("acp_nvim.host.sessions").current()
vim.api.nvim_set_current_win(vim.fn.bufwinid(session.prompt_bufnr))
return require("acp_nvim.chat.winbar").bar()
"""


def ask(nvim: HeadlessEditor, text: str) -> None:
    before = len(nvim.events("AcpTurnEnd"))
    nvim.command(f"AcpPrompt {text}")
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) > before, what="the end of the turn")


def last(script: AgentScript) -> list[str]:
    """The texts of the last prompt."""
    return [block["text"] for block in script.received("session/prompt")[-1]["params"]["prompt"]]


@pytest.mark.parametrize("removed", [False, True])
def test_a_rejection_is_told_with_the_next_prompt(
    editor: Callable[..., HeadlessEditor], tmp_path: Path, removed: bool
) -> None:
    script = agent_script(tmp_path, AGENT)
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    path = nvim.project / "a.txt"
    path.write_text("one\n")
    nvim.command("AcpChat")
    ask(nvim, "write")
    nvim.wait_until('#require("acp_nvim").review() == 1', what="the review")
    nvim.command("AcpReview rejectall")
    nvim.wait_until(lambda: "your review: 1 rejected" in nvim.lua(BAR), what="the line above the prompt")
    assert path.read_text() == "one\n"
    if removed:
        nvim.command("nmap <F5> <Plug>(AcpDropContext)")
        nvim.keys("<Esc><F5>")
        assert "your review" not in nvim.lua(BAR)
    ask(nvim, "next")
    assert last(script)[0] == "next"
    assert [("a.txt: rejected" in text, "-agent" in text) for text in last(script)[1:]] == [(True, True)] * (
        not removed
    )
    nvim.wait_until(lambda: "your review" not in nvim.lua(BAR), what="nothing to be told")
    assert ("The agent is told what you have decided: 1 rejected." in nvim.chat_text()) != removed
    ask(nvim, "once more")
    assert last(script) == ["once more"]
