"""Files under review get other names, from the user; files and directories take each other's place."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.evidence.work import TURN_LATE_NS
from acp_nvim.file_time import now
from tests.nvim.reviewing import Desk
from tests.support.agent_edits import AGENT, Work, git, look
from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.cases import case
from tests.support.editor import HeadlessEditor
from tests.support.waiting import wait_until

LINES = b"".join(b"line %d\n" % number for number in range(20))
FILES = {name: name.encode() + b"\n" + LINES for name in ("a.py", "b.py", "c.py", "d.py")}
RENAME = """
local old, new = ...
vim.uv.fs_rename(old, new)
vim.api.nvim_buf_set_name(vim.fn.bufnr(old), new)
"""
BUFFERS = """
local found = {}
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.bo[buffer].buftype == "" then
    found[#found + 1] = { vim.api.nvim_buf_get_name(buffer), vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1] }
  end
end
return found
"""


@pytest.fixture
def script(tmp_path: Path) -> AgentScript:
    return agent_script(tmp_path, AGENT)


def shell(desk: Desk, command: str) -> None:
    """The agent's command has run, and its changes are known."""
    known = len(desk.nvim.events("AcpTurnChanges"))
    desk.do(Work({}, {}, command, {}), "a command")
    desk.nvim.wait_until(lambda: len(desk.nvim.events("AcpTurnChanges")) > known, what="the changes of the turn")


def test_the_users_names_stay_when_all_is_rejected(editor: Callable[..., HeadlessEditor], script: AgentScript) -> None:
    desk = Desk(editor, script)
    desk.begin(FILES)
    for name in FILES:
        desk.nvim.command(f"edit {desk.cwd}/{name}")
    shell(desk, "sed -i 's/^line 3$/LINE 3/' *.py; printf 'one\\ntwo\\n' >new.py")
    changed = ("modify", 1, 1, None)
    desk.until_reviews({**dict.fromkeys(FILES, changed), "new.py": ("add", 2, 0, None)})
    later = time.time_ns() + TURN_LATE_NS  # what is renamed at once may still be the agent's doing
    wait_until(lambda: now() > later)
    git(desk.cwd, "mv", "a.py", "one.py")
    desk.nvim.command(f"edit {desk.cwd}/one.py")
    desk.nvim.lua(RENAME, f"{desk.cwd}/b.py", f"{desk.cwd}/two.py")
    desk.nvim.command(f"buffer {desk.cwd}/c.py")
    desk.nvim.command(f"saveas {desk.cwd}/three.py")
    (desk.cwd / "c.py").unlink()
    (desk.cwd / "pkg").mkdir()
    (desk.cwd / "d.py").rename(desk.cwd / "pkg/four.py")
    (desk.cwd / "new.py").rename(desk.cwd / "newer.py")
    desk.nvim.command("AcpReview")
    names = ("one.py", "two.py", "three.py", "pkg/four.py")
    desk.until_reviews({**dict.fromkeys(names, changed), "newer.py": ("add", 2, 0, None)})
    desk.nvim.keys("q")
    for name in names:
        desk.until_hunks(name, [(4, 1, ["line 3"])])
    desk.until_hunks("newer.py", [(0, 2, [])])
    desk.nvim.command("AcpReview! rejectall")
    desk.until_nothing_is_left()
    desk.nvim.wait_until(
        lambda: look(desk.cwd) == dict(zip(names, FILES.values(), strict=True)), what="the contents of before"
    )
    desk.check_silence()


def test_one_key_decides_on_a_new_file_and_one_command_on_files_in_each_others_place(
    editor: Callable[..., HeadlessEditor], script: AgentScript
) -> None:
    desk = Desk(editor, script)
    desk.begin({"f": LINES, "d/x": LINES, "d/y": b"y\n"})
    for name in ("f", "d/x"):
        desk.nvim.command(f"edit {desk.cwd}/{name}")
    shell(desk, "printf 'one\\ntwo\\n' >new.py")
    desk.until_reviews({"new.py": ("add", 2, 0, None)})
    desk.until_hunks("new.py", [(0, 2, [])])
    desk.nvim.keys("ghk")
    desk.until_reviews({})
    before = look(desk.cwd)
    shell(desk, "rm -r f d; mkdir -p f/in; echo 1 >f/in/x; echo 2 >f/y; echo 3 >d")
    shown = {"f": ("delete", 0, 20, None), "f/in/x": ("add", 1, 0, None), "f/y": ("add", 1, 0, None)}
    gone = {"d/x": ("delete", 0, 20, None), "d/y": ("delete", 0, 1, None)}
    desk.until_reviews({**shown, "d": ("add", 1, 0, None), **gone})
    done = look(desk.cwd)
    desk.nvim.command("AcpReview! rejectall")
    desk.until_nothing_is_left()
    desk.nvim.wait_until(lambda: look(desk.cwd) == before, what="the files of before")
    desk.nvim.command("AcpRestore undo")
    desk.nvim.wait_until(lambda: look(desk.cwd) == done, what="what the agent has made")
    desk.until_reviews({**shown, "d": ("add", 1, 0, None), **gone})
    desk.check_silence()


def buffers(desk: Desk) -> dict[str, str]:
    """The first lines of all buffers of files, by relative name."""
    return {
        str(Path(name).relative_to(desk.cwd)): line
        for name, line in desk.nvim.lua(BUFFERS)
        if Path(name).is_relative_to(desk.cwd)
    }


def until_buffers(desk: Desk, texts: dict[str, str]) -> None:
    """Wait until exactly these buffers are loaded."""
    desk.nvim.wait_until(lambda: buffers(desk) == texts, what=lambda: f"the buffers {texts}, not {buffers(desk)}")


def test_directories_that_a_command_renames_are_one_line_each_and_buffers_follow(
    editor: Callable[..., HeadlessEditor], script: AgentScript
) -> None:
    desk = Desk(editor, script)
    tree = {"src/a.py": b"a\n" + LINES, "src/deep/b.py": b"b\n" + LINES, "x/f": b"x\n", "y/f": b"y\n", "y/g": b"g\n"}
    desk.begin(tree)
    for name in ("src/a.py", "x/f", "y/f"):
        desk.nvim.command(f"edit {desk.cwd}/{name}")
    before = {"src/a.py": "a", "x/f": "x", "y/f": "y"}
    moved = ({"core": ("rename", 0, 0, "src")}, {"core/a.py": "a", "x/f": "x", "y/f": "y"})
    swapped = {"x": ("rename", 0, 0, "y"), "y": ("rename", 0, 0, "x")}
    for command, (shown, texts) in {
        "mv src core": moved,
        "git mv src core": moved,
        "mv x tmp; mv y x; mv tmp y": (swapped, {"src/a.py": "a", "x/f": "y", "y/f": "x"}),
    }.items():
        with case(command):
            shell(desk, command)
            desk.until_reviews(shown)
            until_buffers(desk, texts)
            desk.nvim.command("AcpReview! rejectall")
            desk.until_nothing_is_left()
            desk.nvim.wait_until(lambda: look(desk.cwd) == tree, what="the files of before")
            until_buffers(desk, before)
            git(desk.cwd, "reset", "-q")
    desk.check_silence()
