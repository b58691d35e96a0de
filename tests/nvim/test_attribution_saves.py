"""Whose a change is that a user saved, or git made: in any Neovim, while an agent works and between turns."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.nvim.attribution import Project, texts
from tests.support.agent_edits import git
from tests.support.cases import case

TREE = {"u.txt": b"u\n", "a.txt": b"a\n", "b.txt": b"b\n"}


def branched(project: Project) -> None:
    """There is a branch on which one file is another, one is gone, and one is new."""
    project.begin(TREE)
    git(project.cwd, "branch", "-q", "main-line")
    git(project.cwd, "checkout", "-q", "-b", "feat")
    (project.cwd / "feat.txt").write_text("of the branch\n")
    (project.cwd / "b.txt").write_text("b of the branch\n")
    git(project.cwd, "rm", "-q", "a.txt")
    git(project.cwd, "add", "-A")
    git(project.cwd, "commit", "-q", "-m", "feat")
    git(project.cwd, "checkout", "-q", "main-line")


def save(project: Project, name: str, line: str) -> None:
    """Type a line at the end of the file, and write it."""
    project.nvim.command(f"edit! {project.cwd / name}")
    project.nvim.api("buf_set_lines", 0, -1, -1, True, [line])
    project.nvim.command("write!")


# --- 5: saved, then thrown away with git ----------------------------------------------------------------------------

BY_GIT = {
    "checkout": [["checkout", "u.txt"]],
    "stash": [["stash", "-q"]],
    "stash -u": [["stash", "-q", "-u"]],
    "stash and pop": [["stash", "-q", "-u"], ["stash", "pop", "-q"]],
    "reset --hard": [["reset", "-q", "--hard"]],
    "another branch": [["checkout", "-q", "-f", "feat"]],
    "committed, then back": [["add", "-A"], ["commit", "-q", "-m", "x"], ["reset", "-q", "--hard", "HEAD~1"]],
}


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
def test_what_was_saved_and_thrown_away_with_git(editor, tmp_path: Path, is_open: bool) -> None:
    project = Project(editor, tmp_path)
    branched(project)
    for words in BY_GIT.values():
        git(project.cwd, "checkout", "-q", "-f", "main-line")
        project.turn("pass")
        save(project, "u.txt", "typed")
        save(project, "n.txt", "new")
        if not is_open:
            project.nvim.command("%bwipeout!")
        for each in words:
            git(project.cwd, *each)
        names = ("u.txt", "n.txt", "a.txt", "b.txt", "feat.txt")
        after = texts(project.cwd, *names)
        project.turn("pass")
        assert project.whose() == {}, (words, project.nvim.lua('return require("acp_nvim").review()'))
        project.nvim.command("AcpReview! rejectall")
        project.turn("pass")
        assert texts(project.cwd, *names) == after, words
    assert set().union(*project.heard().values()) <= {"user"}


# --- 6: saved in another Neovim, or changed by git, while an agent works --------------------------------------------

WAYS = {
    "nothing": ("", ""),
    "an edit": ("edit('a.txt', 'a\\nby the agent\\n')", ""),
    "a command": ("begin('sleep 1000')", "done()"),
    "an edit and a command": ("edit('a.txt', 'a\\nby the agent\\n'); begin('sleep 1000')", "done()"),
}


@pytest.mark.parametrize("has_host", [False, True], ids=["without a host", "with a host"])
def test_what_another_neovim_saves_while_an_agent_works(editor, tmp_path: Path, has_host: bool) -> None:
    project = Project(editor, tmp_path)
    project.begin(TREE)
    project.turn("pass")
    other = Project(editor, tmp_path, project)
    if has_host:
        other.nvim.command("AcpChat it")
        other.nvim.wait_until(lambda: other.nvim.events("AcpSessionReady"), what="the session")
    for number, (first, last) in enumerate(WAYS.values()):
        go = project.go(f"go{number}")
        project.start(f"{first}\nagent.note(did={number})\nuntil({go!r})\n{last}")
        project.script.wait_note("did", number + 1)
        save(other, "u.txt", f"typed {number}")
        save(other, f"n{number}.txt", "new")
        Path(go).touch()
        project.finish()
        agents = {"a.txt": "agent"} if "edit" in first else {}
        assert project.whose() == agents, project.nvim.lua('return require("acp_nvim").review()')
        project.reject_all()
        project.restore()
        names = ("u.txt", f"n{number}.txt", "a.txt")
        typed = "".join(f"typed {one}\n" for one in range(number + 1))
        assert texts(project.cwd, *names) == {"u.txt": f"u\n{typed}", names[1]: "\nnew\n", "a.txt": "a\n"}
    assert "agent" not in project.heard().get("u.txt", set())


EDITS = (
    "edit({name!r}, 'a\\nby the agent\\n', {name!r})",
    "begin('x', {name!r}); write({name!r}, 'a\\nby the agent\\n')",
)
"""The call has the name of the file, so that the agent waits until each is known."""


def test_another_neovim_saves_the_file_that_the_agent_changed(editor, tmp_path: Path) -> None:
    project = Project(editor, tmp_path)
    project.begin({f"{number}.txt": b"a\n" for number in range(4)})
    project.turn("pass")
    other = Project(editor, tmp_path, project)
    other.nvim.command("set noautoread")
    for number, (edit, has_seen) in enumerate(product(EDITS, (False, True))):
        name = f"{number}.txt"
        with case(f"{edit.format(name=name)}, saved {'on top of' if has_seen else 'over'} it"):
            check_saved(project, other, edit.format(name=name), name, has_seen)
    assert all("typed" in (text or "") for text in texts(project.cwd, *(f"{one}.txt" for one in range(4))).values())


def check_saved(project: Project, other: Project, edit: str, name: str, has_seen: bool) -> None:
    """What the user typed stays, and it is not the agent's alone."""
    file, did = project.cwd / name, len(project.script.notes("did"))
    other.nvim.command(f"edit {file}")
    go = project.go(f"go {name}")
    project.start(f"{edit}\nagent.note(did=True)\nuntil({go!r})")
    project.script.wait_note("did", did + 1)
    if has_seen:
        other.nvim.command("edit!")
    other.nvim.api("buf_set_lines", 0, -1, -1, True, ["typed"])
    other.nvim.command("write!")
    saved = file.read_text()
    Path(go).touch()
    project.finish()
    assert project.whose().get(name, "unknown") in ({"agent", "unknown"} if has_seen else {"unknown"})
    assert not has_seen or name in project.whose()
    project.reject_all()
    assert "typed" in file.read_text(), saved
    project.restore()
    assert "typed" in file.read_text(), saved


MOVES = {
    "checkout of a branch": [["checkout", "-q", "feat"]],
    "checkout of a file": [["checkout", "feat", "--", "b.txt"]],
    "rebase": [
        ["checkout", "-q", "-b", "mine"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["rebase", "-q", "feat"],
    ],
    "pull": [["pull", "-q", "--ff-only", ".", "feat"]],
    "stash": [["stash", "-q"]],
    "stash and pop": [["stash", "-q"], ["stash", "pop", "-q"]],
    "reset --hard": [["reset", "-q", "--hard", "feat"]],
    "mv": [["mv", "b.txt", "c.txt"]],
}


@pytest.mark.parametrize("runs", [False, True], ids=["", "a command runs"])
def test_what_git_does_while_an_agent_works(editor, tmp_path: Path, runs: bool) -> None:
    project = Project(editor, tmp_path)
    branched(project)
    for number, words in enumerate(MOVES.values()):
        git(project.cwd, "checkout", "-q", "-f", "-B", "work", "main-line")
        (project.cwd / "c.txt").unlink(missing_ok=True)
        if "stash" in words[0]:
            (project.cwd / "u.txt").write_text("u\nto be stashed\n")
        project.turn("pass")
        go = project.go(f"go{number}")
        project.start(
            f"{'begin(str(1))' if runs else ''}\nagent.note(did={number})\nuntil({go!r})\n{'done()' if runs else ''}"
        )
        project.script.wait_note("did", number + 1)
        for each in words:
            git(project.cwd, *each)
        names = ("u.txt", "a.txt", "b.txt", "c.txt", "feat.txt")
        after = texts(project.cwd, *names)
        Path(go).touch()
        project.finish()
        seen = project.nvim.lua('return require("acp_nvim").review()')
        assert set(project.whose().values()) <= ({"unknown"} if runs else set()), (words, seen)
        project.nvim.command("AcpReview! keepall" if runs else "AcpReview! rejectall")
        project.turn("pass")
        assert texts(project.cwd, *names) == after, (words, seen)
    assert "agent" not in set().union(*project.heard().values()), project.nvim.events("AcpFileChanged")
