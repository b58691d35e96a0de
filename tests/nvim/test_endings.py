"""However Neovim or its host ends, no agent stays behind, nor anything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor
from tests.support.processes import Process, wait_gone

STUBBORN = """
    IGNORE_EOF = IGNORE_SIGTERM = True

    def turn(agent, prompt):
        agent.spawn(STUBBORN)
        agent.spawn(STUBBORN, setsid=True)
        prompt.say("both are running")
        return NO_ANSWER
"""
POLITE = """
    def turn(agent, prompt):
        agent.spawn(["sleep", "1000"], setsid=True)
        prompt.say("both are running")
        return NO_ANSWER
"""
AGENTS = {"stubborn": STUBBORN, "polite": POLITE}


def quit_neovim(editor: HeadlessEditor) -> None:
    with contextlib.suppress(OSError, AssertionError):
        editor.rpc.request("nvim_command", "qall!")


def kill_neovim(editor: HeadlessEditor) -> None:
    os.kill(editor.pid, signal.SIGKILL)


def kill_host(editor: HeadlessEditor) -> None:
    host = editor.host()
    assert host is not None
    os.kill(host.pid, signal.SIGKILL)


def stop_agent(editor: HeadlessEditor) -> None:
    editor.command("AcpStop")


ENDINGS = [quit_neovim, kill_neovim, kill_host, stop_agent]


def busy(start: Callable[..., HeadlessEditor], script: AgentScript) -> HeadlessEditor:
    """An editor whose agent works, with children of its own."""
    nvim = start(agents={"busy": {"command": script.argv}})
    nvim.lua('require("acp_nvim").prompt("go")')
    nvim.wait_until(lambda: "both are running" in nvim.chat_text())
    return nvim


def of_the_agent(nvim: HeadlessEditor, script: AgentScript) -> list[Process]:
    """The live processes of the agent: itself and what it spawned."""
    pids = {*script.notes("started"), *script.notes("spawned")}
    return [process for process in nvim.family() if process.pid in pids]


@pytest.mark.parametrize("end", ENDINGS, ids=lambda end: end.__name__)
@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_is_left(
    editor: Callable[..., HeadlessEditor], tmp_path: Path, agent: str, end: Callable[[HeadlessEditor], None]
) -> None:
    script = agent_script(tmp_path, AGENTS[agent])
    nvim = busy(editor, script)
    count = len(script.notes("started")) + len(script.notes("spawned"))
    nvim.wait_until(lambda: len(of_the_agent(nvim, script)) == count, what="all of them to be seen")
    end(nvim)
    wait_gone(lambda: of_the_agent(nvim, script), what="the agent and its children to end")


def test_after_a_crash_of_the_host_the_next_prompt_works(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, POLITE)
    nvim = busy(editor, script)
    before = nvim.chat_text()
    kill_host(nvim)
    nvim.wait_until('require("acp_nvim").status().state == "failed"')
    assert "host ended unexpectedly" in nvim.chat_text()
    nvim.lua('require("acp_nvim").prompt("again")')
    nvim.wait_until(lambda: nvim.chat_text().count("both are running") == 2)
    assert nvim.chat_text().startswith(before)
