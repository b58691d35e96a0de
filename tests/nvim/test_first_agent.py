"""The agent that the first command names starts before the host is loaded; all that can be wrong is told as ever."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

Open = Callable[..., HeadlessEditor]


def noted(directory: Path) -> tuple[list[str], Path]:
    """The command of an agent that notes each of its starts in a file."""
    log = directory / "starts"
    script = agent_script(directory, "")
    wrapper = directory / "noted.sh"
    wrapper.write_text(f'#!/bin/sh\necho $$ >> {log}\nexec "$@"\n')
    wrapper.chmod(0o755)
    return [str(wrapper), *script.argv], log


def test_it_is_started_once_and_serves_the_session(editor: Open, tmp_path: Path) -> None:
    command, log = noted(tmp_path)
    nvim = editor(agents={"it": {"command": command}})
    nvim.command("AcpChat it")
    nvim.wait_until('require("acp_nvim").status().state == "idle"')
    nvim.lua('require("acp_nvim").prompt("hello")')
    nvim.wait_until(lambda: "You said: hello" in nvim.chat_text(), what="the answer")
    assert len(log.read_text().split()) == 1
    nvim.command("AcpStop")
    nvim.wait_until(lambda: not os.path.exists(f"/proc/{log.read_text().strip()}"), what="the end of the agent")


def test_a_program_below_the_home_directory_may_be_written_short(editor: Open, tmp_path: Path) -> None:
    script = agent_script(tmp_path, "")
    nvim = editor(agents={"it": {"command": ["~/short", *script.argv[1:]]}})
    (Path(nvim.lua("return vim.uv.os_homedir()")) / "short").symlink_to(script.argv[0])
    nvim.command("AcpChat it")
    nvim.wait_until('require("acp_nvim").status().state == "idle"')


def test_a_program_that_does_not_exist_is_told_in_the_chat(editor: Open, tmp_path: Path) -> None:
    nvim = editor(agents={"it": {"command": [str(tmp_path / "nothing")]}})
    nvim.command("AcpChat it")
    nvim.wait_until('require("acp_nvim").status().state == "failed"')
    nvim.wait_until(lambda: nvim.chat_text().count("nothing") == 1, what="why")


def test_a_command_that_cannot_be_started_is_told_in_the_chat(editor: Open) -> None:
    nvim = editor(agents={"it": {"command": ["x\0y"]}})
    nvim.command("AcpChat it")
    nvim.wait_until('require("acp_nvim").status().state == "failed"')
    nvim.wait_until(lambda: "'it'" in nvim.chat_text(), what="why")
