"""Files that come back have the permissions that they had, also those with buffers, which Neovim would make anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nvim.reviewing import Desk
from tests.support.agent_edits import AGENT, Work
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

MODES = {".env": 0o600, "run.sh": 0o700, "locked": 0o444, "private/notes": 0o640, "private/deep/key.pem": 0o600}
DIRECTORIES = {"private": 0o700, "private/deep": 0o710}
COMMANDS = {
    "removed": "rm -rf private .env run.sh locked",
    "widened": "chmod 777 private/notes private/deep/key.pem .env run.sh locked",
    "replaced": "for one in .env run.sh locked; do sed s/two/2/ $one > $one~; chmod 666 $one~; mv -f $one~ $one; done",
}


def modes(cwd: Path) -> dict[str, str]:
    """Return the modes of all files and directories."""
    return {name: f"{(cwd / name).stat().st_mode & 0o7777:o}" for name in MODES | DIRECTORIES if (cwd / name).exists()}


@pytest.mark.parametrize("opened", [True, False], ids=["buffers", "files"])
def test_what_comes_back_is_no_wider(editor: Callable[..., HeadlessEditor], tmp_path: Path, opened: bool) -> None:
    desk = Desk(editor, agent_script(tmp_path, AGENT))
    desk.begin({name: f"{name}\ntwo\nthree".encode() for name in MODES})
    for name, mode in (MODES | DIRECTORIES).items():
        (desk.cwd / name).chmod(mode)
        if opened and name in MODES:
            desk.nvim.command(f"edit {desk.cwd / name}")
    before = modes(desk.cwd)
    for number, command in enumerate(COMMANDS.values(), 1):
        desk.do(Work({}, {}, command, {}), "a command")
        desk.nvim.wait_until(lambda: "run.sh" in desk.reviews(), what="the review")
        desk.nvim.wait_until(lambda: len(desk.reviews()) >= 3, what="all of the review")
        assert modes(desk.cwd) != before
        desk.nvim.command("AcpReview! rejectall")
        desk.until_nothing_is_left()
        desk.nvim.wait_until(
            lambda number=number: sum("rejected" in one for one in desk.nvim.messages()) >= number, what="the end"
        )
        assert modes(desk.cwd) == before
        assert {name: (desk.cwd / name).read_text() for name in MODES} == {
            name: f"{name}\ntwo\nthree" for name in MODES
        }
    desk.check_silence()
