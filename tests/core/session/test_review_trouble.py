"""Agents die, turns are cancelled, disks are full: what was done is reviewed all the same, or it is said why not."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from acp_nvim.acp.diff import FileChange
from acp_nvim.contract import events, review_events
from acp_nvim.review import named_files
from acp_nvim.review.named_files import NamedFiles
from acp_nvim.review.reviews import Reviews
from acp_nvim.snapshots import work_tree, workspace_scanner
from acp_nvim.snapshots.objects import LooseObjects
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Snapshot
from tests.core.session.host import Host, running_host
from tests.core.session.test_review import (
    check_summary,
    check_told,
    do,
    hunks,
    in_each_way,
    judge,
    place,
    reviews,
    shown,
    together,
)
from tests.support.agent_edits import AGENT, NAMING, WAYS, WORKS, Work, look
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

WORK = WORKS["edits"]
NO_SNAPSHOT = "There is no snapshot"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, too, it takes less time to look at a file than an agent waits for it."""
    monkeypatch.setattr(named_files, "KNOWN_WAIT_SECONDS", LIMIT)


def complaints(host: Host) -> list[str]:
    """Return the notices about snapshots."""
    return [notice for notice in host.notices() if NO_SNAPSHOT in notice]


def errors(host: Host) -> list[events.Error]:
    """Return the errors that the user was shown."""
    return host.editor.all(events.Error)


def check_log(host: Host) -> None:
    """Check that the log has no traceback."""
    assert "Traceback" not in host.log_path.read_text()


async def test_the_agent_dies_in_its_turn(host: Host) -> None:
    cwd = place(host, "repository", WORK)
    host.script(
        AGENT + "\ndef by_command(prompt, work):\n"
        "    prompt.update('tool_call', toolCallId='1', kind='execute', title=work['shell'], status='in_progress')\n"
        "    prompt.until_heard()\n"
        "    subprocess.run(work['shell'], shell=True, check=True, cwd=work['cwd'])\n"
        "    prompt.agent.die()\nDO['a command'] = by_command\n"
    )
    host.open()
    host.prompt(WORK.prompt("a command", cwd))
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd))
    await host.until("the summary", lambda: host.of(review_events.Summary))
    check_summary(host, WORK, cwd)
    await check_told(host, WORK, cwd)
    await judge(host, "reject", cwd)
    assert look(cwd) == WORK.before
    check_log(host)


@pytest.mark.parametrize("force", [False, True])
async def test_the_turn_is_cancelled(host: Host, force: bool) -> None:
    cwd = place(host, "repository", WORK)
    host.script(
        AGENT + "\ndef by_command(prompt, work):\n"
        "    prompt.update('tool_call', toolCallId='1', kind='execute', title=work['shell'], status='in_progress')\n"
        "    prompt.until_heard()\n"
        "    subprocess.run(work['shell'], shell=True, check=True, cwd=work['cwd'])\n"
        "    prompt.agent.note(did=True)\n    prompt.wait_cancelled()\n"
        "DO['a command'] = by_command\n"
    )
    host.open()
    host.prompt(WORK.prompt("a command", cwd))
    await host.until_note("did")
    host.cancel(force=force)
    await host.until("the summary", lambda: host.of(review_events.Summary))
    check_summary(host, WORK, cwd)
    await check_told(host, WORK, cwd)
    await judge(host, "reject", cwd)
    assert look(cwd) == WORK.before
    check_log(host)


async def test_two_sessions_in_one_directory(host: Host) -> None:
    cwd = place(host, "repository", WORK)
    await do(host, WORK, "a command", cwd)
    assert all(one.sessions == [1] for one in reviews(host, cwd).values())
    more = Work({}, {}, "sed -i s/one/ONE/ f; echo x >other", {})
    await do(host, more, "a command", cwd, key=2)
    found = reviews(host, cwd)
    assert {name: one.sessions for name, one in found.items()} == {"f": [1, 2], "d/g": [1], "e/new": [1], "other": [2]}
    host.app.receive("review", {"action": "reject", "session": 2})
    await host.until("that", lambda: set(reviews(host, cwd)) == {"d/g", "e/new"})
    assert look(cwd) == WORK.after | {"f": WORK.before["f"]}
    check_log(host)


async def test_a_command_that_changes_so_many_files_that_the_index_is_written(host: Host) -> None:
    assert work_tree.FOLD_FILES < 110
    before = {f"d{number % 40}/f{number}": b"old\nlines\n" for number in range(110)}
    after = {name: b"NEW\nlines\n" for name in before}
    work = Work(before, after, "sed -i s/old/NEW/ d*/*", {name: ("modify", 1, 1, None) for name in before})
    cwd = place(host, "repository", work)
    await do(host, work, "a command", cwd)
    assert shown(host, cwd) == work.shown
    assert len(host.of(review_events.Summary)[-1].files) == 110
    host.app.receive("review", {"action": "reject", "path": str(cwd / "d7/f7")})
    await host.until(
        "one to be left out",
        lambda: (status := host.status()) and status.review is not None and status.review.files == 109,
    )
    assert look(cwd) == work.after | {"d7/f7": work.before["d7/f7"]}
    check_log(host)


def too_many_files(monkeypatch: pytest.MonkeyPatch, host: Host) -> None:
    monkeypatch.setattr(workspace_scanner, "SNAPSHOT_FILES", 1)


def too_many_bytes(monkeypatch: pytest.MonkeyPatch, host: Host) -> None:
    monkeypatch.setattr(work_tree, "SNAPSHOT_BYTES", 10)
    (host.directory / "project" / ".git" / "index").unlink()  # what is clean in it counts for nothing


def no_git(monkeypatch: pytest.MonkeyPatch, host: Host) -> None:
    bin_ = host.directory / "bin"
    bin_.mkdir()
    for name in ("sh", "sed", "mkdir", "echo", "env"):
        found = shutil.which(name)
        assert found is not None
        (bin_ / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(bin_))


def no_state(monkeypatch: pytest.MonkeyPatch, host: Host) -> None:
    shutil.rmtree(host.directory / "state")
    (host.directory / "state").write_text("a file in its place")


def no_room(monkeypatch: pytest.MonkeyPatch, host: Host) -> None:
    def write(objects: LooseObjects, kind: bytes, data: bytes) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(LooseObjects, "write", write)
    (host.directory / "project" / ".git" / "index").unlink()  # of what is clean in it nothing is written


TROUBLES = [too_many_files, too_many_bytes, no_git, no_state, no_room]


async def test_who_is_allowed_begins_when_it_is_known_what_was_there(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd = place(host, "repository", WORK)
    no_git(monkeypatch, host)
    look_at_it = NamedFiles._look_at

    async def late(named: NamedFiles, path: str, change: FileChange | None) -> None:
        with anyio.move_on_after(0.3):  # the agent's chance
            await host.until("the agent's work", lambda: look(cwd) == WORK.after)
        await look_at_it(named, path, change)

    monkeypatch.setattr(NamedFiles, "_look_at", late)
    await do(host, WORK, "a tool with locations", cwd, asks=True)
    assert shown(host, cwd) == WORK.shown


async def test_that_a_turn_begins_is_written_down_before_the_agent_can_do_anything(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd = place(host, "repository", WORK)
    keep, there = Reviews.keep, []

    async def late(reviews: Reviews) -> None:
        with anyio.move_on_after(0.3):  # the agent's chance
            await host.until("the agent's work", lambda: look(cwd) == WORK.after)
        there.append(look(cwd))
        await keep(reviews)

    monkeypatch.setattr(Reviews, "keep", late)
    await do(host, WORK, "a command", cwd)
    assert there[0] == WORK.before
    assert shown(host, cwd) == WORK.shown


async def test_a_prompt_does_not_wait_for_a_slow_snapshot(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    cwd = place(host, "repository", WORK)
    (cwd / "untracked").write_text("of the user\n")
    take, go_on, taken_by_now = Shadow.take, anyio.Event(), host.directory / "taken"
    work = replace(WORK, shell=f"until test -e {taken_by_now}; do sleep 0.01; done; {WORK.shell}")

    async def slow(shadow: Shadow, past: Snapshot | None, *, again: bool) -> Snapshot:
        taken = await take(shadow, past, again=again)
        taken_by_now.touch()
        await go_on.wait()
        return taken

    monkeypatch.setattr(Shadow, "take", slow)
    host.script(AGENT)
    host.hello(timeouts={"snapshot": 100})
    host.open()
    host.prompt(work.prompt("a command", cwd))
    await host.until("the end of the turn", lambda: host.of(events.TurnEnd))
    assert [one for one in host.notices() if "goes on in the background" in one]
    assert not host.of(review_events.Summary)
    go_on.set()
    await host.until("the summary", lambda: host.of(review_events.Summary))
    assert shown(host, cwd) == WORK.shown
    assert (cwd / "untracked").read_text() == "of the user\n"
    check_log(host)


def all_is_ignored(monkeypatch: pytest.MonkeyPatch, host: Host) -> None:
    (host.cwd / ".git" / "info" / "exclude").write_text("*\n")
    (host.cwd / ".git" / "index").unlink()


@pytest.mark.parametrize("trouble", [too_many_files, no_git, all_is_ignored])
async def test_that_there_is_no_snapshot_is_said_once_in_each_turn(
    host: Host, trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(host, "repository", WORK)
    trouble(monkeypatch, host)
    host.script("def turn(agent, prompt):\n    prompt.say('done')\n")
    for number in (1, 2, 3):
        await host.turn("go")
        await host.until("the notice", lambda number=number: len(_about_snapshots(host)) == number)
    await host.turn("go")
    assert len(_about_snapshots(host)) == 4


def _about_snapshots(host: Host) -> list[str]:
    return [one for one in host.notices() if NO_SNAPSHOT in one]


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_without_snapshots(host: Host, trouble, monkeypatch: pytest.MonkeyPatch) -> None:
    works = in_each_way(WORK, host.cwd)
    named, whole = together(works[way] for way in NAMING), together(works.values())
    cwd = place(host, "repository", whole)
    trouble(monkeypatch, host)
    for number, way in enumerate(NAMING, 1):
        await do(host, works[way], way, cwd, asks=True)
        # a full disk is told once until it works again, the rest once in each turn
        assert len(complaints(host)) == (1 if trouble is no_room else number), way
    for number, way in enumerate(WAYS[len(NAMING) :], len(NAMING) + 1):
        host.prompt(works[way].prompt(way, cwd))
        if way == "a terminal":
            await host.until("the question", lambda: host.of(events.Permission)[-1].request.title.startswith("Run "))
            host.answer(host.of(events.Permission)[-1].request.id, "allow_once")
        await host.until(
            f"the end of the turn with {way}", lambda number=number: len(host.of(events.TurnEnd)) == number
        )
        assert len(complaints(host)) == (1 if trouble is no_room else number), way
    assert look(cwd) == whole.after
    assert shown(host, cwd) == named.shown
    assert {name: await hunks(host, cwd, name) for name in named.hunks} == named.hunks
    if trouble in (no_state, no_room):
        host.app.receive("review", {"action": "reject"})
        await host.until("the words", lambda: any("cannot be stored" in one.text for one in errors(host)))
        assert look(cwd) == whole.after
    else:
        await judge(host, "reject", cwd)
        assert look(cwd) == together(works[way] for way in WAYS[len(NAMING) :]).after | named.before
    check_log(host)


async def test_two_neovims_in_one_directory(host: Host, tmp_path: Path) -> None:
    cwd = place(host, "repository", WORK)
    (tmp_path / "other").mkdir()
    async with running_host(tmp_path / "other", host) as other:
        other.script(AGENT)
        other.open()
        await other.until_state("idle")
        await do(host, WORK, "a command", cwd)
        assert shown(other, cwd) == {}
        more = Work({}, {}, "sed -i s/one/ONE/ f; echo x >other", {})
        await do(other, more, "a command", cwd)
        assert shown(other, cwd) == {"f": ("modify", 1, 1, None), "other": ("add", 1, 0, None)}
        other.app.receive("review", {"action": "reject"})
        await other.until("that", lambda: shown(other, cwd) == {})
    assert look(cwd) == WORK.after
    await judge(host, "reject", cwd)
    assert look(cwd) == WORK.before
    check_log(host)
