"""However Neovim, its host or an agent ends, no process stays that has escaped from the agent as a daemon does."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.process import escaping
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.processes import look_at
from tests.support.waiting import wait_until

SCRIPT = """
    def turn(agent, prompt):
        if prompt.text == "die":
            agent.die()
        for file in {files!r}:
            agent.spawn([{python!r}, "-I", "-S", {escaping!r}, *file])
        prompt.say("both are running")
"""


def quit_neovim(nvim: HeadlessEditor) -> None:
    with contextlib.suppress(OSError, AssertionError):
        nvim.rpc.request("nvim_command", "qall!")


def host_of(nvim: HeadlessEditor) -> int:
    host = nvim.host()
    assert host is not None
    return host.pid


def kill_host(nvim: HeadlessEditor) -> None:
    os.kill(host_of(nvim), signal.SIGKILL)


def kill_host_and_guard(nvim: HeadlessEditor) -> None:
    host = nvim.host()
    assert host is not None
    os.kill(host.parent, signal.SIGKILL)
    os.kill(host.pid, signal.SIGKILL)


def kill_first_process(nvim: HeadlessEditor) -> None:
    host = nvim.host()
    assert host is not None
    guard = look_at(host.parent)
    assert guard is not None
    os.kill(guard.parent, signal.SIGKILL)


def stop_agent(nvim: HeadlessEditor) -> None:
    nvim.command("AcpStop")


def crash_agent(nvim: HeadlessEditor) -> None:
    nvim.lua('require("acp_nvim").prompt("die")')


HOST_ENDS = [quit_neovim, HeadlessEditor.kill, kill_host, kill_host_and_guard, kill_first_process]
AGENT_ENDS = [stop_agent, crash_agent]


def escaped(editor: Callable[..., HeadlessEditor], directory: Path, *options: str) -> tuple[HeadlessEditor, list[int]]:
    """An editor, and the process ids of those that have escaped from its agent, with each of these options."""
    files = [directory / f"pid{number}" for number in range(len(options))]
    words = [[str(file), *option.split()] for file, option in zip(files, options, strict=True)]
    source = SCRIPT.format(files=words, python=sys.executable, escaping=escaping.__file__)
    nvim = editor(agents={"it": {"command": agent_script(directory, source).argv}})
    nvim.lua('require("acp_nvim").prompt("go")')
    wait_until(lambda: all(file.exists() for file in files), what="both to escape")
    pids = [int(file.read_text(encoding="ascii")) for file in files]
    wait_until(lambda: all(map(look_at, pids)), what="both to start their program")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    return nvim, pids


@pytest.mark.parametrize("end", HOST_ENDS, ids=lambda end: end.__name__)
def test_none_outlives_the_host(
    editor: Callable[..., HeadlessEditor], tmp_path: Path, bystander: int, end: Callable[[HeadlessEditor], None]
) -> None:
    nvim, pids = escaped(editor, tmp_path, "", "unlimited")
    end(nvim)
    wait_until(lambda: not any(map(look_at, pids)), what="those that have escaped to end")
    assert look_at(bystander)


@pytest.mark.parametrize("end", AGENT_ENDS, ids=lambda end: end.__name__)
def test_none_outlives_its_agent(
    editor: Callable[..., HeadlessEditor], tmp_path: Path, bystander: int, end: Callable[[HeadlessEditor], None]
) -> None:
    nvim, [pid] = escaped(editor, tmp_path, "")
    end(nvim)
    wait_until(lambda: not look_at(pid), what="the one that has escaped to end")
    assert look_at(bystander)
