"""The same edit, made in different ways, comes to the same review; what is rejected is as it was."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

import pytest

from acp_nvim.contract import events, review_events
from tests.core.session.host import Host
from tests.support.agent_edits import AGENT, NAMING, WAYS, WORKS, Tree, Work, git, lay_out, look

pytestmark = pytest.mark.anyio

PLACES = ["repository", "directory", "below a repository", "worktree"]
MINE = "mine\n"


def workspace(host: Host, kind: str) -> Path:
    """Return the workspace of a session."""
    return host.cwd / "below" / "it" if kind == "below a repository" else host.cwd


def place(host: Host, kind: str, work: Work) -> Path:
    """A workspace of that kind with what the work begins with, as a user has it."""
    top = host.cwd
    if kind == "worktree":
        main = host.directory / "main"
        main.mkdir()
        git(main, "init", "-q")
        git(main, "commit", "-q", "--allow-empty", "-m", "none")
        top.rmdir()
        git(main, "worktree", "add", "-q", str(top))
    elif kind != "directory":
        git(top, "init", "-q")
    cwd = workspace(host, kind)
    lay_out(cwd, work.before)
    if kind != "directory":
        common = top / git(top, "rev-parse", "--git-common-dir").strip()
        (common / "info" / "exclude").write_text("ignored*\n")
        git(top, "add", "-A")
        git(top, "commit", "-q", "--allow-empty", "-m", "first")
    return cwd


async def do(host: Host, work: Work, way: str, cwd: Path, asks: bool = False, key: int = 1) -> None:
    """The agent does the work, and all that it asks is allowed, to the end of the turn and its summary."""
    if "it" not in host.scripts:
        host.script(AGENT)
    if not any(one.key == key for one in host.app.sessions.values()):
        host.open(key, cwd=str(cwd))
    ends, summaries = len(host.of(events.TurnEnd, key)), len(host.of(review_events.Summary, key))
    asked = len(host.of(events.Permission, key))
    host.prompt(work.prompt(way, cwd, asks), key)
    if way == "a terminal" or (asks and way != "fs/write"):
        await host.until("the question", lambda: len(host.of(events.Permission, key)) > asked)
        request = host.of(events.Permission, key)[-1].request
        host.answer(request.id, request.options[0].option_id)
    await host.until("the end of the turn", lambda: len(host.of(events.TurnEnd, key)) > ends)
    assert host.of(events.TurnEnd, key)[-1].stop_reason == "end_turn", host.notices()
    await host.until("a summary", lambda: len(host.of(review_events.Summary, key)) > summaries)


def reviews(host: Host, cwd: Path) -> dict[str, review_events.Review]:
    """The last word on each file that has something to review, by its name."""
    last = {name_of(one, cwd): one for one in host.editor.all(review_events.Review)}
    return {name: one for name, one in last.items() if one.operation != "none"}


def shown(host: Host, cwd: Path) -> dict[str, tuple[str, int, int, str | None]]:
    """What a list of files says."""
    return {name: line(one, cwd) for name, one in reviews(host, cwd).items()}


def name_of(one: review_events.Review | review_events.FileView | events.FileChanged, cwd: Path) -> str:
    """Return the path of a change, relative to the workspace."""
    return os.path.relpath(one.path, cwd)


def line(one: review_events.Review | review_events.FileView, cwd: Path) -> tuple[str, int, int, str | None]:
    """Return the line of a list for one file: operation, added and removed lines, old name."""
    old = None if one.old_path is None else os.path.relpath(one.old_path, cwd)
    return (one.operation, one.added, one.removed, old)


async def hunks(host: Host, cwd: Path, name: str) -> list[tuple[int, int, list[str]]]:
    """What is to be seen in a file."""
    host.app.receive("review_open", {"path": str(cwd / name)})
    await host.until("the hunks", lambda: (one := reviews(host, cwd).get(name)) and one.hunks is not None)
    return [(one.first, one.count, one.old) for one in reviews(host, cwd)[name].hunks or []]


def check_summary(host: Host, work: Work, cwd: Path) -> None:
    """Check that the chat lists what the work has done in the turn."""
    summary = host.of(review_events.Summary)[-1]
    assert {name_of(one, cwd): line(one, cwd) for one in summary.files} == work.shown


async def check_told(host: Host, work: Work, cwd: Path) -> None:
    """Check that every event reports what the work has done."""
    assert shown(host, cwd) == work.shown
    assert {name: await hunks(host, cwd, name) for name in work.hunks} == work.hunks
    assert shown(host, cwd) == work.shown
    told = {name_of(one, cwd): one for one in host.of(events.FileChanged)}
    known = {name: (one.operation, one.added, one.removed) for name, one in told.items() if name in work.shown}
    assert known == {name: one[:3] for name, one in work.shown.items()}
    counts = events.ReviewCounts(
        files=len(work.shown),
        added=sum(one[1] for one in work.shown.values()),
        removed=sum(one[2] for one in work.shown.values()),
    )
    await host.until(f"the status to be {counts}", lambda: (status := host.status()) and status.review == counts)


async def judge(host: Host, action: str, cwd: Path) -> None:
    """All of it, and nothing is left."""
    host.app.receive("review", {"action": action})
    await host.until(f"to {action} all", lambda: not reviews(host, cwd))
    await host.until("the status", lambda: (status := host.status()) and status.review is None)


async def undo(host: Host, cwd: Path) -> None:
    """The last rejection is taken back."""
    restored = len(host.editor.all(review_events.Restored))
    lists: list[review_events.CheckpointsListed] = []
    while not lists or lists[-1].checkpoints[0].kind != "reject":
        known = len(host.editor.all(review_events.CheckpointsListed))
        host.app.receive("checkpoints", {"cwd": str(cwd)})
        await host.until("the list", lambda known=known: len(host.editor.all(review_events.CheckpointsListed)) > known)
        lists = host.editor.all(review_events.CheckpointsListed)
    newest = lists[-1].checkpoints[0]
    host.app.receive("restore", {"cwd": str(cwd), "id": newest.id})
    await host.until("the undoing", lambda: len(host.editor.all(review_events.Restored)) > restored)
    done = host.editor.all(review_events.Restored)[-1]
    assert (done.conflicts, done.problem) == ([], None)


async def check(host: Host, work: Work, way: str, cwd: Path, asks: bool = False) -> None:
    """The work is done, told, rejected, done again by undoing that, and kept."""
    users = users_git(host)
    await do(host, work, way, cwd, asks)
    check_summary(host, work, cwd)
    await check_rest(host, work, cwd)
    assert users_git(host) == users


async def check_rest(host: Host, work: Work, cwd: Path) -> None:
    """What is done is told, rejected, done again by undoing that, and kept."""
    assert look(cwd) == work.after
    await check_told(host, work, cwd)
    await judge(host, "reject", cwd)
    await host.until("the files of before, and nothing beside them", lambda: look(cwd) == work.before)
    await undo(host, cwd)
    assert look(cwd) == work.after
    await judge(host, "keep", cwd)
    assert look(cwd) == work.after


def users_git(host: Host) -> Tree:
    """Return every byte of the user's repositories."""
    found = {}
    for top in (host.cwd, host.directory / "main"):
        if (top / ".git").is_dir():
            found |= {f"{top.name}/{name}": data for name, data in look(top / ".git", git=True).items()}
    return found


def below(name: str, work: Work, place: Path) -> Work:
    """Return the same work for a subdirectory `name` of the workspace."""
    return Work(
        {f"{name}/{one}": data for one, data in work.before.items()},
        {f"{name}/{one}": data for one, data in work.after.items()},
        f"cd {shlex.quote(str(place / name))}; {work.shell}",
        {f"{name}/{one}": (*told[:3], told[3] and f"{name}/{told[3]}") for one, told in work.shown.items()},
        {f"{name}/{one}": hunks for one, hunks in work.hunks.items()},
    )


def in_each_way(work: Work, root: Path, ways: tuple[str, ...] = WAYS) -> dict[str, Work]:
    """Return the work for each way that can do it, in a directory that is named after the way."""
    return {way: below(way.replace("/", " "), work, root) for way in ways if way != "fs/write" or work.is_written}


def together(works: Iterable[Work]) -> Work:
    """Return all works as one, which no agent does as a whole."""
    whole = Work({}, {}, "", {}, {})
    for work in works:
        for part in ("before", "after", "shown", "hunks"):
            getattr(whole, part).update(getattr(work, part))
    return whole


async def check_ways(host: Host, work: Work, kind: str = "repository", buffers: bool = False) -> None:
    """Do the work in each way, one turn each; check what is shown, then reject, undo and keep all of it."""
    root = workspace(host, kind)
    works = in_each_way(work, root)
    whole = together(works.values())
    place(host, kind, whole)
    for name, data in whole.before.items() if buffers else ():
        if b"\0" not in data:
            host.editor.open(root / name.rstrip("*"))
    users = users_git(host)
    for way, one in works.items():
        await do(host, one, way, root)
        check_summary(host, one, root)
    await check_rest(host, whole, root)
    assert users_git(host) == users


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
async def test_the_review_does_not_depend_on_who_writes(host: Host, work: Work) -> None:
    await check_ways(host, work)


@pytest.mark.parametrize("kind", PLACES[1:])
async def test_the_review_does_not_depend_on_where_the_files_are(host: Host, kind: str) -> None:
    await check_ways(host, WORKS["edits"], kind)


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
async def test_the_review_does_not_depend_on_buffers(host: Host, work: Work) -> None:
    await check_ways(host, work, buffers=True)


@pytest.mark.parametrize("way", WAYS)
async def test_unsaved_edits_are_the_users(host: Host, way: str) -> None:
    work = WORKS["edits"]
    cwd = place(host, "repository", work)
    buffers = {name: host.editor.open(cwd / name, MINE + data.decode()) for name, data in work.before.items()}
    await do(host, work, way, cwd)
    assert shown(host, cwd) == work.shown
    for name, one in work.hunks.items():
        moved = [(first + (name in buffers), count, old) for first, count, old in one]
        assert await hunks(host, cwd, name) == moved
    for name, buffer in buffers.items():
        assert buffer.text == MINE + work.after[name].decode()
    await judge(host, "reject", cwd)
    assert {name: buffer.text for name, buffer in buffers.items()} == {
        name: MINE + data.decode() for name, data in work.before.items()
    }


@pytest.mark.parametrize("way", NAMING)
async def test_what_git_ignores_is_seen_when_it_is_named(host: Host, way: str) -> None:
    edits = WORKS["edits"]
    work = Work(
        {"ignored/f": edits.before["f"]},
        {"ignored/f": edits.after["f"], "ignored.new": b"new\n"},
        "cd ignored; sed -i -e s/two/TWO/ -e '$ a six' f; echo new >../ignored.new",
        {"ignored/f": edits.shown["f"], "ignored.new": ("add", 1, 0, None)},
        {"ignored/f": edits.hunks["f"], "ignored.new": [(0, 1, [])]},
    )
    await check(host, work, way, place(host, "repository", work), asks=True)
