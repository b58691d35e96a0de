"""Ledger and checkpoints survive odd names, large files, full disks and kills; what is rejected can be brought back."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGKILL
from typing import Any

import anyio
import pytest

from acp_nvim.contract import events, review_events
from acp_nvim.limits import MAX_FILE_BYTES
from acp_nvim.process.group import NO_PID, members, send
from acp_nvim.review import contents, entry_files
from acp_nvim.snapshots import found_files
from acp_nvim.snapshots.objects import LooseObjects
from tests.core.session.host import Host, running_host
from tests.core.session.test_review import do, hunks, place, reviews, shown
from tests.core.session.test_review_trouble import check_log
from tests.support.agent_edits import AGENT, OLD, WORKS, Tree, Work, look

pytestmark = pytest.mark.anyio

WORK = WORKS["edits"]
LARGE = MAX_FILE_BYTES + 1024 * 1024


@asynccontextmanager
async def next_host(host: Host, directory: Path) -> AsyncIterator[Host]:
    """Another one with the same state, after the first one was killed with its agents: it writes nothing any more.

    What it has told is written down before: it tells of the end of a turn a moment earlier.
    """

    async def dead(*args: object) -> None: ...

    await host.app.reviews.keep()
    for workspace in host.app.reviews.workspaces.all.values():
        async with workspace._saving:
            workspace.saved.save = workspace.saved.drop_turns = dead  # type: ignore[method-assign, assignment]
    host.app.reviews.conclude = dead  # type: ignore[method-assign, assignment]
    host.app.reviews.close()
    for peer in host.app.peers.known():
        send(members(NO_PID, peer.mark), SIGKILL)
    await anyio.Path(directory).mkdir()
    async with running_host(directory, host) as other:
        yield other


async def load(host: Host, cwd: Path) -> None:
    """What was left to review there is taken up."""
    host.app.receive("review_load", {"cwd": str(cwd)})
    await host.until("the directory", lambda: str(cwd) in host.app.reviews._opened)


async def checkpoints(host: Host, cwd: Path) -> list[review_events.CheckpointView]:
    """Return the checkpoints, newest first."""
    known = len(host.editor.all(review_events.CheckpointsListed))
    host.app.receive("checkpoints", {"cwd": str(cwd)})
    await host.until("the list", lambda: len(host.editor.all(review_events.CheckpointsListed)) > known)
    return host.editor.all(review_events.CheckpointsListed)[-1].checkpoints


async def restore(host: Host, cwd: Path, checkpoint_id: str) -> review_events.Restored:
    """Restore the files of a checkpoint."""
    known = len(host.editor.all(review_events.Restored))
    host.app.receive("restore", {"cwd": str(cwd), "id": checkpoint_id})
    await host.until("the restore", lambda: len(host.editor.all(review_events.Restored)) > known)
    return host.editor.all(review_events.Restored)[-1]


async def undo(host: Host, cwd: Path) -> review_events.Restored | None:
    """Undo the last restore, like `:AcpRestore undo`; None if there is nothing to undo."""
    last = next((one for one in await checkpoints(host, cwd) if one.undo), None)
    return None if last is None else await restore(host, cwd, last.id)


async def reject_all(host: Host, cwd: Path) -> None:
    """Reject all changes and wait until that is done."""
    host.app.receive("review", {"action": "reject"})
    await host.until("nothing to be left", lambda: not shown(host, cwd))


def errors(host: Host) -> str:
    """What the user was told that could not be done."""
    return "\n".join(one.text for one in host.editor.all(events.Error) if one.code == "review")


def kept_names(host: Host, cwd: Path) -> set[str]:
    """The files that a summary names."""
    return names_of(host.of(review_events.Summary)[-1].files, cwd)


def names_of(found: Iterable[Any], cwd: Path) -> set[str]:
    """Return the paths, relative to the workspace."""
    return {os.path.relpath(one.path, cwd) for one in found}


# --- odd names ------------------------------------------------------------------------------------------------------

ODD = {
    "not UTF-8": b"caf\xe9.txt",
    "a newline": b"new\nline.txt",
    "quotes": b"q\"u'o`te $x.txt",
    "long": b"x" * 251 + b".txt",
    "in a directory that is not UTF-8": b"d\xff\xfe/a.txt",
    "control characters": b"a\x01\x1b\x7f\r.txt",
}


@pytest.mark.parametrize("kind", ODD)
async def test_odd_names(host: Host, tmp_path: Path, kind: str) -> None:
    name = os.fsdecode(ODD[kind])
    before = {name: OLD, "b.txt": OLD}
    after = {name: OLD.replace(b"two", b"TWO"), "b.txt": OLD.replace(b"two", b"TWO")}
    printed = "".join(f"\\0{byte:03o}" for byte in ODD[kind])
    command = f"""n=$(printf '%b' '{printed}'); sed -i s/two/TWO/ "$n" b.txt"""
    work = Work(before, after, command, {one: ("modify", 1, 1, None) for one in before})
    cwd = place(host, "repository", work)
    await do(host, work, "a command", cwd)
    assert look(cwd) == after
    assert shown(host, cwd) == work.shown
    assert kept_names(host, cwd) == set(before)
    assert names_of(host.of(events.FileChanged), cwd) == set(before)
    async with next_host(host, tmp_path / "next") as other:
        await load(other, cwd)
        assert shown(other, cwd) == work.shown
        assert await hunks(other, cwd, name) == [(1, 1, ["two"])]
        await reject_all(other, cwd)
        assert look(cwd) == before
        assert (await undo(other, cwd)).problem is None
        assert look(cwd) == after
        assert shown(other, cwd) == work.shown
        turn = next(one for one in await checkpoints(other, cwd) if one.kind == "turn")
        assert (await restore(other, cwd, turn.id)).problem is None
        assert look(cwd) == before
    check_log(host)


# --- large files ----------------------------------------------------------------------------------------------------

BIG = b"0123456789abcde\n" * 8192


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of more than 64 kB are large: to write and to compare 33 MB takes its time."""
    monkeypatch.setattr(contents, "MAX_FILE_BYTES", 64 * 1024)
    monkeypatch.setattr(found_files, "SNAPSHOT_FILE_BYTES", 64 * 1024)


def large_work(what: str) -> tuple[Tree, str]:
    """What there is, and what the agent does to it beside changing `a.txt` and making `new.txt`."""
    return {
        "appends": ({"big": BIG}, "echo more >>big"),
        "makes": ({}, f"head -c {len(BIG)} /dev/zero >big"),
        "deletes": ({"big": BIG}, "rm big"),
        "makes small": ({"big": BIG}, "echo small >big"),
        "makes large": ({"big": b"small\n"}, f"head -c {len(BIG)} /dev/zero >big"),
    }[what]


@pytest.mark.parametrize("what", ["appends", "makes", "deletes", "makes small", "makes large"])
@pytest.mark.usefixtures("small_limit")
async def test_large_files(host: Host, tmp_path: Path, what: str) -> None:
    before, command = large_work(what)
    before |= {"a.txt": OLD}
    work = Work(before, {}, f"{command}; sed -i s/two/TWO/ a.txt; echo new >new.txt", {})
    cwd = place(host, "repository", work)
    await do(host, work, "a command", cwd)
    after = look(cwd)
    assert set(shown(host, cwd)) == kept_names(host, cwd) == {"a.txt", "big", "new.txt"}
    assert "cannot be rejected" in str(reviews(host, cwd)["big"].note)
    turn = (await checkpoints(host, cwd))[0]
    assert turn.files == 3
    host.app.receive("review", {"action": "reject"})
    await host.until("the words", lambda: errors(host))
    assert "big was left as it is" in errors(host)
    rest = {name: data for name, data in after.items() if name not in ("a.txt", "new.txt")}
    await host.until("the others", lambda: set(shown(host, cwd)) == {"big"})
    assert look(cwd) == rest | {"a.txt": OLD}
    assert (await undo(host, cwd)).problem is None
    assert look(cwd) == after
    restored = await restore(host, cwd, turn.id)
    assert "big was left as it is" in str(restored.problem)
    assert look(cwd) == rest | {"a.txt": OLD}
    check_log(host)


async def test_what_the_user_does_after_a_turn_with_a_large_file_is_not_reviewed(host: Host, tmp_path: Path) -> None:
    big = BIG * (LARGE // len(BIG))
    work = Work({"big": big, "mine.txt": OLD}, {}, "echo more >>big", {})
    cwd = place(host, "repository", work)
    await do(host, work, "a command", cwd)
    await host.app.reviews.keep()
    async with next_host(host, tmp_path / "next") as other:
        (cwd / "mine.txt").write_bytes(b"the user's\n")
        await load(other, cwd)
        assert set(shown(other, cwd)) == {"big"}
        with (cwd / "big").open("ab") as file:
            file.write(b"the user's\n")
        other.app.receive("review", {"action": "reject"})
        await other.until("no more", lambda: not shown(other, cwd) or errors(other))
        assert (cwd / "big").stat().st_size == len(big) + len(b"more\nthe user's\n")
    check_log(host)


# --- full disks -----------------------------------------------------------------------------------------------------


def fill(monkeypatch: pytest.MonkeyPatch, host: Host, kind: int = errno.ENOSPC) -> Callable[[], None]:
    """No byte can be written below the state directory any more; what is returned makes room again."""
    state, write, make = str(host.log_path.parent.with_name("state")), os.write, os.open
    full = [True]

    def is_state(path: object) -> bool:
        return full[0] and str(path).startswith(state) and not str(path).endswith(".lock")

    def failing(descriptor: int, data: bytes) -> int:
        if is_state(os.readlink(f"/proc/self/fd/{descriptor}")):
            raise OSError(kind, os.strerror(kind))
        return write(descriptor, data)

    def refusing(path, flags: int, *args, **kwargs) -> int:
        if flags & os.O_EXCL and is_state(path):
            raise OSError(kind, os.strerror(kind))
        return make(path, flags, *args, **kwargs)

    def no_object(objects: LooseObjects, oid_kind: bytes, data: bytes) -> str:
        if full[0]:
            raise OSError(kind, os.strerror(kind))
        return store(objects, oid_kind, data)

    store = LooseObjects.write
    monkeypatch.setattr(os, "write", failing)
    monkeypatch.setattr(os, "open", refusing)
    monkeypatch.setattr(LooseObjects, "write", no_object)
    return lambda: full.__setitem__(0, False)


def trouble(host: Host) -> list[str]:
    """What was said of what cannot be written."""
    return [one for one in host.notices() if "No space is left" in one or "cannot be written" in one]


@pytest.mark.parametrize("kind", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
async def test_a_disk_that_is_full_in_mid_turn(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: int
) -> None:
    cwd = place(host, "repository", Work({"f": OLD, "mine.txt": OLD}, {}, "", {}))
    go = tmp_path / "go"
    work = Work({}, {}, f"touch {tmp_path}/began; while ! [ -e {go} ]; do sleep 0.01; done; sed -i s/two/TWO/ f", {})
    prompt = json.loads(work.prompt("a tool with locations", cwd)) | {"names": [str(cwd / "f")]}
    host.script(AGENT)
    host.open(cwd=str(cwd))
    workspace = host.app.reviews.workspaces.at(str(cwd))
    await host.until("the first snapshot", lambda: workspace.scanner.last is not None)
    host.prompt(json.dumps(prompt))
    await host.until("the agent to work", lambda: (tmp_path / "began").exists())
    fill(monkeypatch, host, kind)
    go.touch()
    await host.until("the summary", lambda: host.of(review_events.Summary))
    await host.app.reviews.keep()
    await host.app.reviews.keep()
    assert len(trouble(host)) == 1, host.notices()
    assert set(shown(host, cwd)) == {"f"}
    assert [one.kind for one in await checkpoints(host, cwd)] == ["turn"]
    monkeypatch.undo()
    async with next_host(host, tmp_path / "next") as other:
        (cwd / "mine.txt").write_bytes(b"the user's\n")
        await load(other, cwd)
        assert "mine.txt" not in shown(other, cwd)
        other.app.receive("review", {"action": "reject"})
        await other.app.reviews.keep()
        assert (cwd / "mine.txt").read_bytes() == b"the user's\n"
    check_log(host)


async def test_nothing_is_rejected_that_cannot_be_stored(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    cwd = place(host, "repository", WORK)
    await do(host, WORK, "a command", cwd)
    make_room = fill(monkeypatch, host)
    host.app.receive("review", {"action": "reject"})
    await host.until("the words", lambda: errors(host))
    assert all(f"{name} was left as it is" in errors(host) for name in WORK.shown)
    assert look(cwd) == WORK.after
    host.app.receive("review", {"action": "reject", "path": str(cwd / "f"), "hunks": [1]})
    await host.until("the words", lambda: errors(host).count(f"{cwd / 'f'} was left as it is") == 2)
    assert (look(cwd), shown(host, cwd)) == (WORK.after, WORK.shown)
    make_room()
    await reject_all(host, cwd)
    assert look(cwd) == WORK.before
    assert (await undo(host, cwd)).problem is None
    assert look(cwd) == WORK.after
    check_log(host)


# --- kills ----------------------------------------------------------------------------------------------------------


async def test_a_line_that_was_cut_off_does_not_damage_the_next_one(host: Host, tmp_path: Path) -> None:
    cwd = place(host, "repository", WORK)
    await do(host, WORK, "a command", cwd)
    [file] = host.log_path.parent.with_name("state").glob("workspaces/*/checkpoints.jsonl")
    whole = file.read_bytes()
    for end in (1, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole + whole[:end])
        more = Work({}, {}, "echo x >>f", {})
        known = len(host.of(review_events.Summary))
        await do(host, more, "a command", cwd)
        assert len(host.of(review_events.Summary)) == known + 1
        found = await checkpoints(host, cwd)
        assert [one.id for one in found][:1] == [host.of(review_events.Summary)[-1].id]
        assert found[-1].id == host.of(review_events.Summary)[0].id
    check_log(host)


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        ("half", "*.json"),
        ("another version", "*.json"),
        ("empty", "*.turns"),
        ("half", "*.turns"),
        ("zeros", "../checkpoints.jsonl"),
        ("no object", "../checkpoints.jsonl"),
    ],
)
async def test_nothing_half_written_is_believed(host: Host, tmp_path: Path, damage: str, name: str) -> None:
    cwd = place(host, "repository", WORK)
    go = tmp_path / "go"
    host.script(AGENT)
    await do(host, WORK, "a command", cwd)
    host.prompt(
        Work({}, {}, f"touch {tmp_path}/began; while ! [ -e {go} ]; do sleep 0.01; done", {}).prompt("a command", cwd)
    )
    await host.until("the agent to work", lambda: (tmp_path / "began").exists())
    await host.app.reviews.keep()
    [review] = host.log_path.parent.with_name("state").glob("workspaces/*/review")
    [file] = review.glob(name)
    data = file.read_bytes()
    damaged = {
        "empty": b"",
        "half": data[: len(data) // 2],
        "another version": data.replace(b'{"version":1', b'{"version":99'),
        "zeros": bytes(len(data)),
        "no object": b"[1]\n",
    }[damage]
    async with next_host(host, tmp_path / "next") as other:
        file.write_bytes(damaged)
        (cwd / "mine.txt").write_bytes(b"the user's\n")
        await load(other, cwd)
        if name == "*.json":
            assert file.read_bytes() == damaged  # it may be of a newer version
        elif name == "../checkpoints.jsonl":
            assert file.read_bytes().startswith(damaged)
        whole = {"*.json": {}, "*.turns": WORK.shown}.get(name, WORK.shown | {"mine.txt": ("add", 1, 0, None)})
        assert shown(other, cwd) == whole
        if name == "../checkpoints.jsonl":
            assert [one.kind for one in await checkpoints(other, cwd)] == ["turn"]
        said = "is not what this version writes" in other.log_path.read_text()
        assert said or damage == "empty"
        go.touch()
        await host.until("the end", lambda: len(host.of(events.TurnEnd)) == 2)


# --- undo -----------------------------------------------------------------------------------------------------------

LINES = b"".join(b"line %d\n" % number for number in range(30))
THREE = LINES.replace(b"line 3\n", b"LINE 3\n").replace(b"line 13\n", b"").replace(b"line 23\n", b"line 23\nmore\n")
THREE_WORK = Work(
    {"f": LINES, "g": OLD},
    {"f": THREE},
    "sed -i -e 's/^line 3$/LINE 3/' -e '/^line 13$/d' -e '/^line 23$/a more' f; rm g; echo new >new",
    {},
)


async def reject_hunk(host: Host, cwd: Path, name: str, number: int) -> None:
    """Reject the hunk with that index."""
    await hunks(host, cwd, name)
    there = reviews(host, cwd)[name].hunks or []
    host.app.receive("review", {"action": "reject", "path": str(cwd / name), "hunks": [there[number].id]})
    await host.until("the rejection", lambda: len(reviews(host, cwd)[name].hunks or []) == len(there) - 1)


@pytest.mark.parametrize("restarted", [False, True])
async def test_undo_goes_back_one_rejection_after_the_other(host: Host, tmp_path: Path, restarted: bool) -> None:
    cwd = place(host, "repository", THREE_WORK)
    await do(host, THREE_WORK, "a command", cwd)
    states = [(look(cwd), shown(host, cwd))]
    for name, number in (("f", 1), ("f", 0)):
        await reject_hunk(host, cwd, name, number)
        states.append((look(cwd), shown(host, cwd)))
    host.app.receive("review", {"action": "reject", "path": str(cwd / "g")})
    await host.until("the file", lambda: "g" not in shown(host, cwd))
    states.append((look(cwd), shown(host, cwd)))
    await reject_all(host, cwd)
    assert look(cwd) == THREE_WORK.before

    async def check(host: Host) -> None:
        for files, reviewed in reversed(states):
            done = await undo(host, cwd)
            assert done is not None
            assert (done.problem, done.conflicts) == (None, [])
            assert (look(cwd), shown(host, cwd)) == (files, reviewed)
        assert await undo(host, cwd) is None
        await reject_all(host, cwd)
        assert look(cwd) == THREE_WORK.before

    if restarted:
        async with next_host(host, tmp_path / "next") as other:
            await load(other, cwd)
            await check(other)
    else:
        await check(host)
    check_log(host)


async def test_what_the_user_changed_since_stays_and_the_rest_is_reviewed_again(host: Host) -> None:
    cwd = place(host, "repository", THREE_WORK)
    await do(host, THREE_WORK, "a command", cwd)
    await reject_hunk(host, cwd, "f", 1)
    host.app.receive("review", {"action": "keep", "path": str(cwd / "f")})
    await host.until("it to be kept", lambda: "f" not in shown(host, cwd))
    (cwd / "f").write_bytes((cwd / "f").read_bytes() + b"the user's\n")
    host.app.receive("saved", {"path": str(cwd / "f")})
    assert (await undo(host, cwd)).problem is None
    assert (cwd / "f").read_bytes() == THREE + b"the user's\n"
    assert await hunks(host, cwd, "f") == [(13, 0, ["line 13"])]
    check_log(host)


async def test_a_rejection_that_was_undone_in_another_way_is_passed_over(host: Host) -> None:
    cwd = place(host, "repository", THREE_WORK)
    await do(host, THREE_WORK, "a command", cwd)
    after = look(cwd)
    await reject_hunk(host, cwd, "f", 0)
    await reject_hunk(host, cwd, "f", 0)
    (cwd / "f").write_bytes(THREE.replace(b"LINE 3\n", b"line 3\n"))
    assert (await undo(host, cwd)).files == []
    assert (await undo(host, cwd)).files == [str(cwd / "f")]
    assert look(cwd) == after
    check_log(host)


async def test_a_kill_between_writing_down_and_rejecting(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd = place(host, "repository", THREE_WORK)
    await do(host, THREE_WORK, "a command", cwd)
    after, held = look(cwd), anyio.Event()

    async def never(*args: object) -> bool:
        held.set()
        await anyio.sleep_forever()
        return False

    monkeypatch.setattr(entry_files, "write_content", never)
    host.app.receive("review", {"action": "reject"})
    await host.until("the rejection to be written down", held.is_set)
    monkeypatch.undo()
    async with next_host(host, tmp_path / "next") as other:
        await load(other, cwd)
        assert look(cwd) == after
        assert (await undo(other, cwd)).files == []
        await reject_all(other, cwd)
        assert (await undo(other, cwd)).problem is None
        assert look(cwd) == after
    check_log(host)


async def test_secret_files_come_back_only_in_the_neovim_that_rejected_them(host: Host, tmp_path: Path) -> None:
    work = Work({".env": b"KEY=1\n", "a.txt": OLD}, {}, "echo KEY=2 >.env; sed -i s/two/TWO/ a.txt", {})
    cwd = place(host, "repository", work)
    await do(host, work, "a command", cwd)
    after = look(cwd)
    await reject_all(host, cwd)
    assert any(".env: looks secret" in notice for notice in host.notices())
    assert (await undo(host, cwd)).problem is None
    assert look(cwd) == after
    await reject_all(host, cwd)
    async with next_host(host, tmp_path / "next") as other:
        await load(other, cwd)
        done = await undo(other, cwd)
        assert ".env looks secret" in str(done.problem)
        assert done.files == [str(cwd / "a.txt")]
        assert look(cwd) == after | {".env": b"KEY=1\n"}
    check_log(host)


async def test_that_all_was_told_is_told_even_when_it_fails(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    await load(host, host.cwd)
    loaded = [review_events.ReviewLoaded(cwd=str(host.cwd))]
    await host.until("word of it", lambda: host.editor.all(review_events.ReviewLoaded) == loaded)

    async def fail(_: str) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(host.app.reviews, "open", fail)
    host.app.receive("review_load", {"cwd": str(host.cwd)})
    await host.until("word of it", lambda: host.editor.all(review_events.ReviewLoaded) == loaded * 2)
