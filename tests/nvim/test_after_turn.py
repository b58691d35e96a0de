"""The checks after a turn, in a real Neovim with a real language server."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nvim.agent_tools import ENABLE, SERVERS
from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

BEFORE = "import os\n\nprint(1)\n"
BROKEN = "import os\n\nprint(missing)\n"
STILL_BROKEN = "import os\n\n\nprint(missing)\n"
PROBLEM = "main.py:3:7: error: Undefined name `missing` [F821] (Ruff)"

AGENT = f"""
def turn(agent, prompt):
    agent.note(prompt=prompt.text)
    agent.stubborn = prompt.text == "leave it so" or getattr(agent, "stubborn", False)
    texts = {{"change it": {BROKEN!r}, "leave it so": {BROKEN!r}}}
    with open("main.py", "w") as file:
        file.write(texts.get(prompt.text, {STILL_BROKEN!r} if agent.stubborn else {BEFORE!r}))
    prompt.say("done")
"""


@pytest.fixture
def begin(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Callable[..., tuple[HeadlessEditor, AgentScript]]:
    """A project with one problem, whose file is open; its agent changes it with each turn."""

    def begin(**settings: object) -> tuple[HeadlessEditor, AgentScript]:
        script = agent_script(tmp_path, AGENT)
        config = {"default_agent": "it", "after_turn": settings}
        nvim = editor(agents={"it": {"command": script.argv}}, config=config)
        (nvim.project / ".git").mkdir()
        (nvim.project / "main.py").write_text(BEFORE)
        nvim.lua(ENABLE, {"ruff": SERVERS["ruff"]})
        nvim.command(f"edit {nvim.project / 'main.py'}")
        nvim.wait_until("#vim.diagnostic.get(0) == 1", what="the problem that is there before")
        nvim.command("AcpChat")
        nvim.wait_until(lambda: nvim.events("AcpSessionReady"), what="the session")
        return nvim, script

    return begin


def checks(nvim: HeadlessEditor) -> str | None:
    return str(nvim.lua('return require("acp_nvim").status().checks or ""')) or None


def until_offered(nvim: HeadlessEditor) -> None:
    nvim.wait_until(lambda: checks(nvim) == "found", what="an offer")


def test_only_new_problems_are_offered_and_one_key_sends_them(begin) -> None:
    nvim, script = begin(diagnostics="hint")
    nvim.command("AcpPrompt change it")
    until_offered(nvim)
    nvim.wait_until(lambda: "1 new problem. :AcpSendProblems sends it to the agent." in nvim.chat_text(), what="words")
    assert len(script.notes("prompt")) == 1
    nvim.command("AcpSendProblems")
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) == 2, what="another turn")
    assert script.notes("prompt")[1] == (
        "Checks after your last turn have found problems.\n\n"
        f"New diagnostics in files that you have changed:\n```\n{PROBLEM} - new in this turn\n```"
    )
    nvim.wait_until(lambda: checks(nvim) is None, what="the end of the checks")
    assert nvim.chat_text().count("new problem") == 1


def test_the_rounds_end_when_all_is_well(begin) -> None:
    nvim, script = begin(diagnostics="error", command="grep -q 'print(1)' main.py", auto=True)
    nvim.command("AcpPrompt change it")
    nvim.wait_until(lambda: len(script.notes("prompt")) == 2, what="what is sent back")
    sent = script.notes("prompt")[1]
    assert PROBLEM in sent
    assert "`grep -q 'print(1)' main.py` failed (exit code 1). No output." in sent
    nvim.wait_until(lambda: "have found nothing more" in nvim.chat_text(), what="the end")
    assert (nvim.project / "main.py").read_text() == BEFORE


def test_the_key_is_in_the_chat_and_the_command_in_it_can_be_cancelled(begin) -> None:
    nvim, script = begin(command="echo begun; sleep 600")
    nvim.command("AcpPrompt change it")
    nvim.wait_until(lambda: "begun" in nvim.chat_text(), what="the command")
    assert checks(nvim) == "running"
    nvim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid(...))", nvim.chat_buffer())
    nvim.keys("gp")
    nvim.wait_until(lambda: "have not ended yet" in nvim.chat_text(), what="words")
    nvim.command("call search('begun', 'b')")
    nvim.keys("gc")
    nvim.wait_until(lambda: "The checks after the turn were cancelled." in nvim.chat_text(), what="the end")
    assert len(script.notes("prompt")) == 1


def test_problems_that_the_agent_leaves_are_found_again(begin) -> None:
    nvim, script = begin(diagnostics="error", auto=True)
    nvim.command("AcpPrompt leave it so")
    nvim.wait_until(lambda: checks(nvim) == "found", what="an offer")
    assert (
        "1 new problem. :AcpSendProblems sends it to the agent; not by itself, since the same was" in nvim.chat_text()
    )
    assert len(script.notes("prompt")) == 2
    assert "have found nothing more" not in nvim.chat_text()


def test_a_dead_host_checks_nothing(begin) -> None:
    nvim, _ = begin(command="echo begun; sleep 600")
    nvim.command("AcpPrompt change it")
    nvim.wait_until(lambda: "begun" in nvim.chat_text(), what="the command")
    assert checks(nvim) == "running"
    os.kill(nvim.host().pid, signal.SIGKILL)
    nvim.wait_until(lambda: checks(nvim) is None, what="the end of the checks")
    nvim.command("AcpPrompt mend it")
    nvim.wait_until(lambda: checks(nvim) == "running", what="the next checks")
