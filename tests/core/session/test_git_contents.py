"""While a command of the agent runs, the user's git changes files beside it: they are never taken for the agent's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import pytest

from acp_nvim.contract import events
from acp_nvim.evidence.git_contents import GitContents
from acp_nvim.review.scanner import Scanner
from tests.core.session.host import Host
from tests.core.session.test_review import reviews
from tests.support.agent_edits import git, look

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
        await host.nothing_comes_late()


async def test_a_stash_of_before_is_the_users_when_no_command_runs(host: Host) -> None:
    repository(host.cwd)
    begin(host.cwd)
    host.script(SCRIPT)
    host.open()
    await turn(host, "nothing", partial(git, host.cwd, "stash", "pop", "stash@{1}"))
    assert (host.cwd / "f").read_text() == MINE
    assert {name: one.by for name, one in reviews(host, host.cwd).items()} == {"built": "unknown"}


WRITES: Final = """
    def turn(agent, prompt):
        how, marks = prompt.text.splitlines()
        waits = f"until test -e {marks}/%s; do sleep 0.01; done"
        command = f"touch {marks}/begun; {waits % 'go'}; echo of a branch >f; {waits % 'end'}"
        if how == "a terminal":
            prompt.run("sh", "-c", command)
        else:
            prompt.tool("1", "make", kind="execute", rawInput={"command": "make"}, status="in_progress")
            prompt.until_heard()
            os.system(command)
            prompt.tool_update("1", status="completed")
        os.system(waits % "over")
"""


@pytest.mark.parametrize("how", ["a tool call", "a terminal"])
@pytest.mark.parametrize(("works", "by"), [("after it", "agent"), ("during it", "unknown")])
async def test_git_has_what_a_command_wrote_and_works_before_the_scan(
    free_host: Host, monkeypatch: pytest.MonkeyPatch, how: str, works: str, by: str
) -> None:
    """It is in doubt only if git has worked while the command ran."""
    host = free_host
    repository(host.cwd)
    git(host.cwd, "checkout", "-q", "main")
    noted, may_scan = list[str](), anyio.Event()
    may_scan.set()
    scan, note = Scanner.scan, GitContents.note

    async def late_scan(self: Scanner) -> None:
        await may_scan.wait()
        await scan(self)

    async def counted_note(self: GitContents) -> None:
        await note(self)
        noted.append("noted")

    monkeypatch.setattr(Scanner, "scan", late_scan)
    monkeypatch.setattr(GitContents, "note", counted_note)
    host.script(WRITES)
    host.open()
    marks = host.directory / "marks"
    marks.mkdir()
    host.prompt(f"{how}\n{marks}")
    await host.until("the command", (marks / "begun").exists)
    await host.nothing_comes_late()
    may_scan, before = anyio.Event(), len(noted)
    work = partial(git, host.cwd, "commit", "-q", "--allow-empty", "-m", "more")
    (marks / "go").touch()
    await host.until("the text", lambda: (host.cwd / "f").read_text() == "of a branch\n")
    if works == "during it":
        await anyio.to_thread.run_sync(work)
    (marks / "end").touch()
    await host.until("git to be looked at", lambda: len(noted) > before)
    if works == "after it":
        await anyio.to_thread.run_sync(work)
    may_scan.set()
    (marks / "over").touch()
    await host.until("the review", lambda: "f" in reviews(host, host.cwd))
    found = reviews(host, host.cwd)["f"]
    assert found.by == by, found.why
