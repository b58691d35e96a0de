"""The state directory is swept when a session begins, and what Neovims use stays."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

TURN = """
    def turn(agent, prompt):
        with open("f.txt", "a") as file:
            file.write(prompt.text)
"""


def test_old_workspaces_go_and_used_ones_stay(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    workspaces = tmp_path / "state" / "nvim" / "acp_nvim" / "workspaces"

    def plant(name: str, when: float) -> Path:
        directory = workspaces / name
        (directory / "git").mkdir(parents=True)
        for path in (directory / "git", directory):
            os.utime(path, (when, when))
        return directory

    def start() -> HeadlessEditor:
        given = {"env": {"XDG_STATE_HOME": str(tmp_path / "state")}, "config": {"state": {"megabytes": 0}}}
        return editor(agents={"it": {"command": script.argv}}, **given)

    def work(nvim: HeadlessEditor) -> None:
        nvim.lua('require("acp_nvim").prompt("x")')
        nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")

    old = plant("old", 1e9)
    first = start()
    assert old.exists()  # to start Neovim removes nothing
    work(first)
    first.wait_until(lambda: not old.exists(), what="the old workspace to be removed")
    second, unused = start(), plant("unused", time.time() - 3600)
    assert second.project != first.project
    work(second)
    second.wait_until(lambda: not unused.exists(), what="what is too much to be removed")
    roots = {os.fsdecode(file.read_bytes().partition(b" ")[2]) for file in workspaces.glob("*/root")}
    assert roots == {os.path.realpath(nvim.project) for nvim in (first, second)}
    first.command("AcpReview! rejectall")
    first.wait_until(lambda: not (first.project / "f.txt").exists(), what="the first one to reject with its checkpoint")
