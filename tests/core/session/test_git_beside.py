"""While a command of the agent runs, the user's git changes files beside it: they are never taken for the agent's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import anyio.to_thread
import pytest

from acp_nvim.ui import events
from tests.core.session.host import Host
from tests.core.session.test_review import reviews
from tests.support.five_ways import git, look

pytestmark = pytest.mark.anyio

SCRIPT: Final = """
    def turn(agent, prompt):
        command, marks = prompt.text.splitlines()
        if command != "nothing":
            prompt.tool("1", command, kind="execute", rawInput={"command": command}, status="in_progress")
        prompt.until_heard()
        os.system(f"echo {marks} >built; touch {marks}/begun; until test -e {marks}/go; do sleep 0.01; done")
        if command != "nothing":
            prompt.tool_update("1", status="completed")
"""
MINE: Final = "of the user\n"


def repository(top: Path, *options: str) -> None:
    """A repository with `f`, and another branch."""
    git(top, "init", "-q", "-b", "main", *options)
    for branch, text in (("main", "one\n"), ("other", "of a branch\n")):
        if branch != "main":
            git(top, "checkout", "-q", "-b", branch)
        (top / "f").write_text(text)
        git(top, "add", "f")
        git(top, "commit", "-q", "-m", branch)


def begin(top: Path) -> None:
    """The first commit, and two stashes, of which the user's text is the older one."""
    git(top, "reset", "-q", "--hard")
    git(top, "checkout", "-q", "main")
    git(top, "reset", "-q", "--hard", "other^")
    git(top, "stash", "clear")
    for text in (MINE, "newer\n"):
        (top / "f").write_text(text)
        git(top, "stash")


async def turn(host: Host, command: str, act: Callable[[], object]) -> None:
    """A turn in which the agent's command runs while the user acts, to the review of what it has made."""
    marks = host.directory / f"marks {len(host.of(events.TurnEnd))}".replace(" ", "")
    marks.mkdir()
    ends = len(host.of(events.TurnEnd))
    host.prompt(f"{command}\n{marks}")
    await host.until("the command", (marks / "begun").exists)
    await anyio.to_thread.run_sync(act)
    (marks / "go").touch()
    await host.until("the end of the turn", lambda: len(host.of(events.TurnEnd)) > ends)
    await host.until("the review", lambda: "built" in reviews(host, host.cwd))


Case = tuple[str, list[str], str, str]
"""The agent's command, the words of the user's git, the text that `f` has then, and whose it is."""

CASES: Final[dict[str, Case]] = {
    "a stash of before, not the newest": ("make test", ["stash", "pop", "stash@{1}"], MINE, "unknown"),
    "the newest one": ("make test", ["stash", "pop"], "newer\n", "unknown"),
    "applied": ("make test", ["stash", "apply", "stash@{1}"], MINE, "unknown"),
    "a branch": ("make test", ["checkout", "-q", "other"], "of a branch\n", "unknown"),
    "a file of a branch": ("make test", ["restore", "--source=other", "f"], "of a branch\n", "unknown"),
    "a merge": ("make test", ["merge", "-q", "other"], "of a branch\n", "unknown"),
    "beside a script that may call git": ("make release", ["stash", "pop", "stash@{1}"], MINE, "unknown"),
    "beside a command that only looks": ("git status && make", ["stash", "pop", "stash@{1}"], MINE, "unknown"),
    "beside the agent's git": ("git checkout other", ["checkout", "-q", "other"], "of a branch\n", "agent"),
}


@pytest.mark.parametrize("options", [[], ["--object-format=sha256"]], ids=["sha1", "sha256"])
async def test_all_is_rejected_but_what_the_user_made(host: Host, options: list[str]) -> None:
    repository(host.cwd, *options)
    begin(host.cwd)
    git(host.cwd, "pack-refs", "--all")
    git(host.cwd, "gc", "-q", "--prune=now")
    host.script(SCRIPT)
    host.open()
    for number, (name, (command, words, text, by)) in enumerate(CASES.items()):
        if number:
            begin(host.cwd)
        await turn(host, command, partial(git, host.cwd, *words))
        await host.until("the file", lambda: "f" in reviews(host, host.cwd))
        found = reviews(host, host.cwd)
        assert (found["built"].by, found["f"].by) == ("agent", by), (name, found["f"].why)
        repository_before = look(host.cwd / ".git", git=True)
        host.app.receive("review", {"action": "reject"})
        await host.until("the rejection", lambda: not (host.cwd / "built").exists())
        if by == "unknown":
            assert (host.cwd / "f").read_text() == text, name
        assert look(host.cwd / ".git", git=True) == repository_before, name
        host.app.receive("review", {"action": "keep", "force": True})
        await host.until("nothing to review", lambda: not reviews(host, host.cwd))


async def test_a_stash_of_before_is_the_users_when_no_command_runs(host: Host) -> None:
    repository(host.cwd)
    begin(host.cwd)
    host.script(SCRIPT)
    host.open()
    await turn(host, "nothing", partial(git, host.cwd, "stash", "pop", "stash@{1}"))
    assert (host.cwd / "f").read_text() == MINE
    assert {name: one.by for name, one in reviews(host, host.cwd).items()} == {"built": "unknown"}
