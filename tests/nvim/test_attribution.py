"""Whose a change is: the user's work is never listed as the agent's, nor taken back with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nvim.attribution import Project, texts
from tests.support.agent_edits import git
from tests.support.editor import HeadlessEditor

TREE = {"mine.txt": b"mine\n", "a.txt": b"a\n", "b.txt": b"b\n"}


# --- 1: the end of Neovim, of its host, of the guard, in mid-turn -----------------------------------------------------

NAMES = "edit('a.txt', 'a\\nby the agent\\n')"
RUNS = "run('echo made > made.txt')"
LEAVES_OPEN = "begin('sleep 1000', 'open'); write('open.txt', 'open\\n')"
HANGS = "prompt.wait_cancelled()"

ENDS = {
    "it quits": (),
    "Neovim is killed": ("nvim",),
    "the host is killed": ("host",),
    "host and guard are killed": ("guard", "host"),
    "all are killed": ("guard", "host", "nvim"),
}
EDITED, RAN, OPEN = ("e", "completed"), ("c", "completed"), ("open", "in_progress")
DEEDS = {
    "an edit": (NAMES, [EDITED], {"a.txt": "agent"}),
    "a command": (RUNS, [RAN], {"made.txt": "agent"}),
    "both": (f"{NAMES}; {RUNS}", [EDITED, RAN], {"a.txt": "agent", "made.txt": "agent"}),
    "an open command": (f"{NAMES}; {LEAVES_OPEN}", [EDITED, OPEN], {"a.txt": "agent", "open.txt": "agent"}),
}


def other_branch(project: Project) -> None:
    """Make a branch with a file of its own."""
    git(project.cwd, "checkout", "-q", "-b", "feat")
    (project.cwd / "feat.txt").write_text("of the branch\n")
    git(project.cwd, "rm", "-q", "b.txt")
    git(project.cwd, "add", "-A")
    git(project.cwd, "commit", "-q", "-m", "feat")
    git(project.cwd, "checkout", "-q", "-")


def append(path: Path, text: str) -> None:
    """Append to the file, as the user."""
    with path.open("a") as file:
        file.write(text)


def ended(start: Callable[..., HeadlessEditor], directory: Path, first: Project, end: str, work: Callable[[], None]):
    """It ends so, then the user works, then there is a host again."""
    if ENDS[end]:
        first.kill(*ENDS[end])
    is_left = "host" in ENDS[end] and "nvim" not in ENDS[end]
    if not is_left:
        first.nvim.close()
    work()
    if not is_left:
        project = Project(start, directory, first)
        project.nvim.command("AcpChat it")
        return project
    first.nvim.wait_until(lambda: "the host ended" in "".join(first.nvim.messages()), what="Neovim to know of it")
    first.start("pass")
    first.wait_end()
    return first


CASES = [
    ("it quits", "an edit"),
    ("it quits", "an open command"),
    ("Neovim is killed", "both"),
    ("the host is killed", "a command"),
    ("the host is killed", "an open command"),
    ("host and guard are killed", "both"),
    ("all are killed", "an open command"),
]


@pytest.mark.parametrize(("end", "deeds"), CASES)
def test_what_the_user_does_after_the_end_of_the_agent(editor, tmp_path, end, deeds) -> None:
    first = Project(editor, tmp_path)
    first.begin(TREE)
    other_branch(first)
    code, calls, agents = DEEDS[deeds]
    first.start(f"{code}; {HANGS}")
    first.until_calls(*calls)

    def work() -> None:
        append(first.cwd / "mine.txt", "and more\n")
        git(first.cwd, "checkout", "-q", "-m", "feat")

    project = ended(editor, tmp_path, first, end, work)
    if "guard" in ENDS[end]:  # nobody knows when the agent ended, nor until when its last command ran
        agents = {**agents, "mine.txt": "unknown"} | ({"open.txt": "unknown"} if "open.txt" in agents else {})
    project.until_whose(agents)
    project.reject_all()
    assert texts(project.cwd, "mine.txt", "feat.txt", "b.txt", "a.txt", "made.txt") == {
        "mine.txt": "mine\nand more\n", "feat.txt": "of the branch\n", "b.txt": None, "a.txt": "a\n", "made.txt": None,
    }  # fmt: skip


HALF = "prompt.tool('h', 'Edit', kind='edit', status='in_progress', locations=[{'path': os.path.abspath('a.txt')}])"
EDITS = {"done": (NAMES, EDITED), "half done": (f"{HALF}; write('a.txt', 'a\\nby the agent\\n')", ("h", "in_progress"))}


@pytest.mark.parametrize(
    ("end", "edit"), [("it quits", "done"), ("the host is killed", "half done"), ("all are killed", "half done")]
)
def test_the_user_edits_the_very_file_of_the_agent_after_its_end(editor, tmp_path, end, edit) -> None:
    first = Project(editor, tmp_path)
    first.begin(TREE)
    code, call = EDITS[edit]
    first.start(f"{code}; agent.note(did=True); {HANGS}")
    first.until_calls(call)
    first.script.wait_note("did")
    project = ended(editor, tmp_path, first, end, lambda: append(first.cwd / "a.txt", "by the user\n"))
    project.nvim.wait_until(lambda: "a.txt" in project.whose(), what="a.txt")
    assert project.whose().keys() == {"a.txt"}
    project.reject_all()
    project.restore()
    assert "by the user" in (project.cwd / "a.txt").read_text()
