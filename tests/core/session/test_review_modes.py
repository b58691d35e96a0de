"""Permissions of files: what is taken back has those that it had, whatever an agent did and however that is undone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from acp_nvim.contract import review_events
from acp_nvim.process import umask
from tests.core.session.host import Host, running_host
from tests.core.session.test_review import do, git, reviews, shown
from tests.core.session.test_review_kept import checkpoints, errors, load, next_host, reject_all, restore, undo
from tests.support.agent_edits import Work
from tests.support.cases import case
from tests.support.everything import Everything, everything

pytestmark = pytest.mark.anyio

MODES = {
    ".env": 0o600,
    "id_rsa": 0o600,
    "run.sh": 0o700,
    "clean.txt": 0o640,
    "locked.txt": 0o444,
    "shared.txt": 0o2640,
    "group.txt": 0o664,
    "plain.txt": 0o644,
    "tool": 0o755,
    "private/notes.txt": 0o600,
    "private/deeper/open.txt": 0o644,
    "team/plan.txt": 0o664,
}
DIRECTORIES = {"private": 0o700, "private/deeper": 0o750, "team": 0o2775}
SECRET = {".env", "id_rsa"}
"""Not tracked; their contents are in the memory of a host only."""
ALL = " ".join(MODES)

COMMANDS = {
    "all files are removed": f"rm -f {ALL}",
    "all directories are removed": "rm -rf private team; rm -f *.txt tool run.sh",
    "everything is readable by everybody": "chmod 777 *.txt tool run.sh .env id_rsa private/notes.txt team/plan.txt",
    "only permissions change": "chmod 600 plain.txt group.txt; chmod 644 .env run.sh; chmod 400 tool",
    "another file takes the place": f"for one in {ALL}; do cp $one $one~; echo more >> $one~; mv -f $one~ $one; done",
    "a link takes the place": "for one in run.sh clean.txt .env; do rm -f $one; ln -s plain.txt $one; done",
}


def begin(host: Host) -> Everything:
    """Commit files with these modes; return everything in the directory."""
    for name in DIRECTORIES:
        (host.cwd / name).mkdir()
    git(host.cwd, "init", "-q")
    for name in MODES:
        (host.cwd / name).write_text(f"{name}\n" * 5)
    for name in sorted(MODES.keys() - SECRET):
        git(host.cwd, "add", name)
    git(host.cwd, "commit", "-q", "-m", "first")
    for name, mode in (MODES | DIRECTORIES).items():
        (host.cwd / name).chmod(mode)
    return everything(host.cwd)


async def run(host: Host, command: str) -> None:
    """The agent runs it, in a turn of its own."""
    await do(host, Work({}, {}, command, {}), "a command", host.cwd)


async def by_rejecting_all(host: Host) -> None:
    await reject_all(host, host.cwd)


async def by_rejecting_each(host: Host) -> None:
    for name in sorted(reviews(host, host.cwd)):
        host.app.receive("review", {"action": "reject", "path": str(host.cwd / name)})
        await host.until(f"{name} to be rejected", lambda name=name: name not in shown(host, host.cwd))


async def by_restoring(host: Host) -> None:
    done = await restore(host, host.cwd, (await checkpoints(host, host.cwd))[0].id)
    assert (done.conflicts, done.problem) == ([], None)


async def by_rejecting_again(host: Host) -> None:
    """After that was undone, which brings back what the agent did with the permissions that it had given."""
    after = everything(host.cwd)
    await reject_all(host, host.cwd)
    done = await undo(host, host.cwd)
    assert done is not None
    assert (done.conflicts, done.problem) == ([], None)
    directories = {name: one for name, one in everything(host.cwd).items() if name in DIRECTORIES and name not in after}
    assert everything(host.cwd) == after | directories  # those that a rejection made stay
    await reject_all(host, host.cwd)


async def by_restoring_an_earlier_turn(host: Host) -> None:
    await run(host, "echo later > later.txt; chmod 666 *.txt 2> /dev/null || true")
    turns = [one for one in await checkpoints(host, host.cwd) if one.kind == "turn"]
    done = await restore(host, host.cwd, turns[1].id)
    assert (done.conflicts, done.problem) == ([], None)


WAYS = (
    by_rejecting_all,
    by_rejecting_each,
    by_restoring,
    by_rejecting_again,
    by_restoring_an_earlier_turn,
)


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_taken_back_has_the_permissions_that_it_had(
    host: Host, way: Callable[[Host], Awaitable[None]]
) -> None:
    before = begin(host)
    for name, command in COMMANDS.items():
        with case(name):
            await run(host, command)
            assert everything(host.cwd) != before
            await way(host)
            assert everything(host.cwd) == before
            assert (shown(host, host.cwd), errors(host)) == ({}, "")


@asynccontextmanager
async def another(tmp_path: Path, is_turn_over: bool, command: str) -> AsyncIterator[tuple[Host, Everything]]:
    """A host takes over from one that dies after the turn, or while the command runs that has done this."""
    async with running_host(tmp_path) as host:
        before = begin(host)
        if is_turn_over:
            await run(host, command)
        else:
            done = host.directory / "done"
            host.script("""
                import subprocess
                def turn(agent, prompt):
                    fields = {"title": "make", "kind": "execute", "rawInput": {"command": "make"}}
                    prompt.update("tool_call", toolCallId="1", status="in_progress", **fields)
                    prompt.until_heard()
                    subprocess.run(prompt.text, shell=True, check=True)
                    threading.Event().wait()
            """)
            host.open()
            host.prompt(f"cd {host.cwd}; {command}; touch {done}")
            await host.until("the command", done.exists)
        async with next_host(host, tmp_path / "next") as other:
            await load(other, host.cwd)
            yield other, before


@pytest.mark.parametrize("is_turn_over", [True, False], ids=["after the turn", "in the turn"])
@pytest.mark.parametrize("name", ["all directories are removed", "everything is readable by everybody"])
async def test_the_next_host_knows_the_permissions(tmp_path: Path, name: str, is_turn_over: bool) -> None:
    async with another(tmp_path, is_turn_over, COMMANDS[name]) as (host, before):
        await host.until("the review", lambda: "clean.txt" in reviews(host, host.cwd))
        host.app.receive("review", {"action": "reject"})
        await host.until("the rejection", lambda: host.editor.all(review_events.Judged))
        left = {name: one for name, one in everything(host.cwd).items() if name not in SECRET}
        assert left == {name: one for name, one in before.items() if name not in SECRET}


async def test_changes_of_permissions_are_listed(host: Host) -> None:
    begin(host)
    await run(host, "chmod 777 id_rsa; chmod 600 plain.txt; chmod 755 clean.txt; chmod 664 group.txt; chmod 711 tool")
    found = {name: (one.operation, one.note, one.by) for name, one in reviews(host, host.cwd).items()}
    assert found == {
        "id_rsa": ("mode", "executable now, mode 0600 -> 0777", "agent"),
        "plain.txt": ("mode", "mode 0644 -> 0600", "agent"),
        "clean.txt": ("mode", "executable now, mode 0640 -> 0755", "agent"),
        "tool": ("mode", "mode 0755 -> 0711", "agent"),
    }
    assert {one.path for one in host.of(review_events.Summary)[-1].files} == {str(host.cwd / name) for name in found}


async def test_permissions_that_the_user_has_set_stay(host: Host) -> None:
    begin(host)
    await run(host, "echo more >> plain.txt; chmod 666 clean.txt; rm group.txt")
    await host.nothing_comes_late()
    (host.cwd / "plain.txt").chmod(0o600)
    (host.cwd / "clean.txt").chmod(0o400)
    await reject_all(host, host.cwd)
    found = everything(host.cwd)
    assert {name: found[name][0] for name in ("plain.txt", "clean.txt", "group.txt")} == {
        "plain.txt": 0o100600,
        "clean.txt": 0o100400,
        "group.txt": 0o100664,
    }


async def test_what_is_not_known_is_the_users_alone(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints of earlier versions do not have all modes."""
    monkeypatch.setattr("acp_nvim.snapshots.comparing.with_numbers", lambda blob, path, table: blob)
    monkeypatch.setattr(umask, "of_users", lambda: 0o177)
    begin(host)
    await run(host, "rm -rf private; rm clean.txt run.sh")
    await reject_all(host, host.cwd)
    found = {name: one[0] for name, one in everything(host.cwd).items()}
    names = ["private", "private/deeper", "private/deeper/open.txt", "clean.txt", "run.sh"]
    assert [found[name] for name in names] == [0o40700, 0o40700, 0o100600, 0o100600, 0o100600]


async def test_files_that_an_agent_makes_through_us_get_the_users_umask(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(umask, "of_users", lambda: 0o027)
    (host.cwd / "old").write_text("old\n")
    (host.cwd / "old").chmod(0o4751)
    host.script("""
        def turn(agent, prompt):
            for name in ("new", "in/a/new", "old"):
                prompt.write(os.path.join(prompt.text, name), "text\\n")
    """)
    assert await host.turn(str(host.cwd)) == "end_turn"
    found = {name: one[0] for name, one in everything(host.cwd).items()}
    assert found == {"new": 0o100640, "in": 0o40750, "in/a": 0o40750, "in/a/new": 0o100640, "old": 0o104751}
