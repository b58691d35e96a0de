"""Files outside of the session's directories that tool calls name: reviewed, previewed, rejected, restored."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events, review_events
from acp_nvim.evidence import activities
from acp_nvim.limits import MAX_FILE_BYTES
from acp_nvim.workspace import roots
from tests.core.session.host import Host
from tests.core.session.outside_agent import (
    AGENT,
    NEW,
    OLD,
    command,
    diff,
    listed,
    place,
    step,
    summary,
    work,
)
from tests.core.session.test_review_kept import checkpoints, load, next_host, reject_all, restore, undo
from tests.support.agent_edits import git, look
from tests.support.below import below
from tests.support.cases import case

pytestmark = pytest.mark.anyio

SED = "sed -i s/two/TWO/ {path}"
EDITED = ("modify", "agent", 1, 1)


@pytest.fixture
def notes(host: Host, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory beside the project. No agent changes anything after it has told of the end."""
    monkeypatch.setattr(activities, "CALL_LATE_NS", 0)
    notes = host.directory / "notes"
    notes.mkdir()
    return notes


def steps(path: Path, cwd: Path) -> dict[str, dict[str, Any]]:
    """The ways in which a call names the file that it edits."""
    run = SED.format(path=path)
    relative = os.path.relpath(path, cwd)
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-two\n+TWO\n*** End Patch\n"
    return {
        "a diff": step(run, diff(path), ask=True),
        "a diff without a question": step(run, diff(path)),
        "a diff that is told when it is done": step(run, diff(path), late=True),
        "a diff of a part": step(run, diff(path, "two", "TWO"), late=True),
        "a diff of a call of another kind": step(run, {**diff(path), "kind": "other"}),
        "two diffs, told when they are done": step(
            f"{run}; sed -i s/one/ONE/ {path}",
            {"kind": "edit", "content": [*diff(path, "two", "TWO")["content"], *diff(path, "one", "ONE")["content"]]},
            late=True,
        ),
        "a relative path": step(run, diff(relative), ask=True),
        "a location": step(run, place(path), ask=True),
        "the input": step(run, {"kind": "edit", "rawInput": {"file_path": str(path)}}, ask=True),
        "a patch in the input": step(run, {"kind": "edit", "rawInput": {"patch": patch}}, ask=True),
        "a URI": step(run, {"kind": "edit", "rawInput": {"uri": path.as_uri()}}, ask=True),
    }


async def check_taken_back(host: Host, notes: Path, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """What the turn did is rejected, that is undone, and the turn is restored."""
    assert look(notes) == after
    await reject_all(host, host.cwd)
    assert look(notes) == before
    done = await undo(host, host.cwd)
    assert done is not None
    assert (done.problem, look(notes)) == (None, after)
    turn = next(one for one in await checkpoints(host, host.cwd) if one.kind == "turn")
    restored = await restore(host, host.cwd, turn.id)
    assert (restored.problem, restored.conflicts, look(notes)) == (None, [], before)


def news(host: Host) -> list[str]:
    """The notices, but for those that the agent is told of what was rejected."""
    return [one for one in host.notices() if not one.startswith("The agent is told what you have decided")]


async def test_what_a_call_names_is_reviewed_whichever_way(host: Host, notes: Path) -> None:
    host.script(AGENT)
    ways = list(steps(notes / "0", host.cwd))
    for number, name in enumerate(ways):
        with case(name):
            path = notes / f"{number}"
            path.write_text(OLD)
            await work(host, steps(path, host.cwd)[name])
            lines = 2 if name.startswith("two") else 1
            assert listed(host, notes) == {path.name: ("modify", "agent", lines, lines)}
            assert summary(host) == {path.name}
            told = host.of(events.FileChanged)[-1]
            assert (told.path, told.by, told.operation) == (str(path), "agent", "modify")
            await check_taken_back(host, notes, look(notes) | {path.name: OLD.encode()}, look(notes))
    assert (len(ways), news(host)) == (11, [])


async def test_other_operations_are_reviewed_too(host: Host, notes: Path) -> None:
    host.script(AGENT)
    old, new, link = notes / "old", notes / "new", host.cwd / "link"
    link.symlink_to(notes / "target")
    done: dict[str, tuple[dict[str, Any], dict[str, bytes | None], dict[str, str]]] = {
        "a new file": (step(f"printf x > {new}", diff(new, None, "x"), ask=True), {"new": b"x"}, {"new": "add"}),
        "a new file, told late": (
            step(f"printf x > {new}", diff(new, None, "x"), late=True),
            {"new": b"x"},
            {"new": "add"},
        ),
        "a new directory": (
            step(f"mkdir -p {notes}/a/b; printf x > {notes}/a/b/new", diff(notes / "a/b/new", None, "x"), ask=True),
            {"a/b/new": b"x"},
            {"a/b/new": "add"},
        ),
        "a deletion": (step(f"rm {old}", place(old, "delete"), ask=True), {"old": None}, {"old": "delete"}),
        "a move": (
            step(f"mv {old} {new}", {"kind": "move", "rawInput": {"from": str(old), "to": str(new)}}, ask=True),
            {"old": None, "new": OLD.encode()},
            {"old": "delete", "new": "add"},
        ),
        "a link from the project": (
            step(SED.format(path=notes / "target"), diff(link), ask=True),
            {"target": NEW.encode()},
            {"target": "modify"},
        ),
        "no text": (
            step(f"printf '\\000\\001' > {old}", place(old), ask=True),
            {"old": b"\0\1"},
            {"old": "binary"},
        ),
    }
    for name, (one, changes, operations) in done.items():
        with case(name):
            for path in (old, notes / "target"):
                path.write_text(OLD)
            before = look(notes)
            await work(host, one)
            after = {name: data for name, data in (before | changes).items() if data is not None}
            assert {name: line[0] for name, line in listed(host, notes).items()} == operations
            await check_taken_back(host, notes, before, after)
            await host.nothing_comes_late()
            for name in look(notes):
                (notes / name).unlink()
            await work(host)
            await host.nothing_comes_late()
    assert news(host) == []


async def test_a_file_that_is_only_read_is_not_watched(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.script(AGENT)
    await work(host, step("", place(path, "read")), command(SED.format(path=path)))
    assert listed(host, notes) == {}
    status = host.status()
    assert status is not None
    assert (status.watched, status.review) == ([], None)


async def test_a_command_changes_a_file_that_a_call_has_named(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.script(AGENT)
    await work(host, step("", diff(path), ask=True))  # allowed, but not carried out
    assert listed(host, notes) == {}
    await host.nothing_comes_late()
    path.write_text("zero\n" + OLD)  # the user, between the turns
    await work(host, command(SED.format(path=path)))
    assert listed(host, notes) == {"hosts": EDITED}
    await reject_all(host, host.cwd)
    assert path.read_text() == "zero\n" + OLD


async def test_what_the_user_does_between_turns_is_the_users(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.script(AGENT)
    await work(host, step(SED.format(path=path), diff(path), ask=True))
    host.app.receive("review", {"action": "keep"})
    await host.until("nothing to be left", lambda: not listed(host, notes))
    await host.nothing_comes_late()
    path.write_text("mine\n")
    await work(host)
    assert (listed(host, notes), path.read_text()) == ({}, "mine\n")


async def test_the_buffer_follows_and_keeps_what_was_typed(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    buffer = host.editor.open(path)
    host.script(AGENT)
    await work(host, step("", diff(path), ask=True))
    buffer.type(OLD + "typed\n")
    await work(host, step(SED.format(path=path), diff(path), ask=True))
    assert buffer.text == NEW + "typed\n"
    assert listed(host, notes) == {"hosts": EDITED}
    await reject_all(host, host.cwd)
    assert (buffer.text, path.read_text()) == (OLD + "typed\n", OLD + "typed\n")


async def test_the_text_of_an_open_buffer_is_what_a_late_call_has_changed(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.editor.open(path)
    host.script(AGENT)
    await work(host, step(SED.format(path=path), place(path), late=True))
    assert listed(host, notes) == {"hosts": EDITED}
    await reject_all(host, host.cwd)
    assert path.read_text() == OLD


async def test_a_change_whose_earlier_contents_are_not_known_is_listed_and_stays(host: Host, notes: Path) -> None:
    edited, deleted, replaced = notes / "edited", notes / "deleted", notes / "replaced"
    for path in (edited, deleted, replaced):
        path.write_text(OLD)
    os.utime(notes, (1, 1))
    host.script(AGENT)
    await work(host, step(f"printf x > {replaced}", diff(replaced, None, "x"), late=True))  # the file was there before
    await work(
        host,
        step(SED.format(path=edited), place(edited), late=True),
        step(f"rm {deleted}", place(deleted, "delete"), late=True),
    )
    shown = {name: line[:2] for name, line in listed(host, notes).items()}
    assert shown == {"edited": ("binary", "agent"), "deleted": ("delete", "agent"), "replaced": ("binary", "agent")}
    host.app.receive("review", {"action": "reject"})
    await host.until("the answer", lambda: host.editor.all(review_events.Judged))
    assert host.editor.all(review_events.Judged)[-1].files == []
    assert look(notes) == {"edited": NEW.encode(), "replaced": b"x"}


async def test_a_request_has_a_preview(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.script(AGENT)
    host.open()
    host.prompt(json.dumps([step(SED.format(path=path), diff(path), ask=True)]))
    await host.until("the preview", lambda: host.of(review_events.Preview))
    preview = host.of(review_events.Preview)[0]
    assert (preview.path, preview.operation, preview.exists) == (str(path), "modify", True)
    assert [(one.first, one.count, one.new) for one in preview.hunks] == [(1, 1, ["TWO"])]


async def test_the_place_of_a_change_is_found(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.script(AGENT)
    await work(host, step(SED.format(path=path), diff(path, "three", "THREE"), ask=True))
    await host.until("the place", lambda: (str(path), 3) in {(one.path, one.line) for one in host.of(events.Location)})


async def test_a_write_through_the_host_and_then_an_edit_with_a_tool(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.hello(fs={"outside": "ask"})
    host.script(AGENT)
    await work(host, step(fs={str(path): NEW}), command(f"sed -i s/three/THREE/ {path}"))
    assert listed(host, notes) == {"hosts": ("modify", "agent", 2, 2)}
    await reject_all(host, host.cwd)
    assert path.read_text() == OLD


async def test_what_is_watched_is_not_allowed(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.script(AGENT)
    await work(host, step(SED.format(path=path), diff(path), ask=True))
    refused = [one for one in host.app.sessions.values() if one.roots.contains(str(path))]
    assert refused == []
    host.open(2)
    host.prompt(json.dumps([step(fs={str(path): "x"})]), 2)  # another session has named nothing
    host.prompt(json.dumps([step(fs={str(path): "x"})]), 1)
    await host.until(
        "two refusals",
        lambda: len([one for one in host.sent_answers() if "error" in one and "outside" in str(one)]) == 2,
    )
    assert path.read_text() == NEW


@pytest.mark.parametrize("kind", ["a FIFO", "a directory", "of the system", "no path"])
async def test_what_is_no_regular_file_is_neither_read_nor_watched(host: Host, notes: Path, kind: str) -> None:
    path = notes / "odd"
    if kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "a directory":
        path.mkdir()
    else:
        path = Path("/proc/self/environ") if kind == "of the system" else notes / ("x" * 3000)
    host.script(AGENT)
    await work(host, step("", place(path), ask=True))
    status = await host.until_state("idle")
    assert (status.watched, listed(host, notes), host.notices()) == ([], {}, [])


async def test_a_file_that_becomes_a_fifo_is_deleted_and_can_be_restored(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.script(AGENT)
    await work(host, step(f"rm {path}; mkfifo {path}", diff(path), ask=True))
    assert listed(host, notes) == {"hosts": ("delete", "agent", 0, 3)}


async def test_only_so_many_are_watched_and_that_is_said(
    host: Host, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roots, "MAX_OUTSIDE", 3)
    host.script(AGENT)
    places = [{"path": str(notes / f"{number}")} for number in range(9)]
    for number in range(9):
        (notes / f"{number}").write_text(OLD)
    run = f"sed -i s/two/TWO/ {notes}/*"
    await work(host, step(run, {"kind": "edit", "locations": places}, ask=True))
    assert len(listed(host, notes)) == 3
    [said] = host.notices()
    assert "files outside of the session's directories" in said
    assert "(additional_directories)" in said
    await work(host, step(f"sed -i s/one/ONE/ {notes}/0", {"kind": "edit", "locations": places[:1]}, ask=True))
    assert host.notices() == [said]


@pytest.mark.parametrize("kind", ["by its name", "by its mode"])
async def test_secrets_are_kept_in_memory_only(host: Host, notes: Path, kind: str) -> None:
    path = notes / (".env" if kind == "by its name" else "token")
    old, new = "TOKEN=sesame-open-1234\n", "TOKEN=other-secret-5678\n"
    path.write_text(old)
    path.chmod(0o644 if kind == "by its name" else 0o600)
    host.script(AGENT)
    await work(host, step(f"printf '%s' '{new}' > {path}", place(path), ask=True))
    assert listed(host, notes) == {path.name: EDITED}
    await reject_all(host, host.cwd)
    assert path.read_text() == old
    done = await undo(host, host.cwd)
    assert done is not None
    assert (done.problem, path.read_text()) == (None, new)
    await host.app.reviews.keep()
    state = host.log_path.parent.with_name("state")
    for file in below(state):
        data = file.read_bytes() if file.is_file() else b""
        if file.is_file() and "objects" in file.parts and file.suffix == "":
            data = zlib.decompress(data)
        assert b"sesame" not in data, file
        assert b"other-secret" not in data, file


async def test_a_large_file_is_listed_and_left_alone(host: Host, notes: Path) -> None:
    path = notes / "large"
    path.write_text("")
    os.truncate(path, MAX_FILE_BYTES + 1)
    host.script(AGENT)
    await work(host, step(f"printf x >> {path}", place(path), ask=True))
    assert listed(host, notes)["large"][:2] == ("binary", "agent")
    host.app.receive("review", {"action": "reject"})
    await host.until("the answer", lambda: host.editor.all(review_events.Judged))
    assert path.stat().st_size == MAX_FILE_BYTES + 2


async def test_the_next_host_takes_over(host: Host, notes: Path, tmp_path: Path) -> None:
    path, other = notes / "hosts", notes / "other"
    path.write_text(OLD)
    other.write_text(OLD)
    host.script(AGENT)
    await work(host, step(SED.format(path=path), diff(path), ask=True))
    async with next_host(host, tmp_path / "next") as second:
        await load(second, host.cwd)
        assert listed(second, notes) == {"hosts": EDITED}
        await check_taken_back(second, notes, look(notes) | {"hosts": OLD.encode()}, look(notes))


STAYS = (
    AGENT.replace("def turn", "def work").replace('prompt.tool_update(call_id, status="completed")', "pass")
    + """
    def turn(agent, prompt):
        work(agent, prompt)
        agent.note(done=True)
        prompt.wait_cancelled()
"""
)
"""A turn whose calls do not end, nor does the turn."""


@pytest.mark.parametrize("has_looked", [True, False])
async def test_a_host_dies_in_a_turn(
    host: Host, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_looked: bool
) -> None:
    path, other = notes / "hosts", notes / "other"
    path.write_text(OLD)
    other.write_text(OLD)
    host.script(STAYS)
    host.open()
    if not has_looked:

        async def never(*_: object) -> bool:
            return True

        monkeypatch.setattr(host.app.reviews.outside, "begin", never)
    one, two = step(SED.format(path=path), diff(path), ask=True), step(SED.format(path=other), place(other), ask=True)
    host.prompt(json.dumps([one, two]))
    for number in (1, 2):
        await host.editor.until_event(events.Permission, number)
        host.answer(number, "allow")
    await host.until_note("done")
    async with next_host(host, tmp_path / "next") as second:
        await load(second, host.cwd)
        if has_looked:
            assert listed(second, notes) == {"hosts": EDITED, "other": EDITED}
            await reject_all(second, host.cwd)
            assert look(notes) == {"hosts": OLD.encode(), "other": OLD.encode()}
        else:
            assert {name: line[:2] for name, line in listed(second, notes).items()} == dict.fromkeys(
                ("hosts", "other"), ("binary", "agent")
            )


async def test_two_sessions_in_different_projects_name_the_same_file(host: Host, notes: Path, tmp_path: Path) -> None:
    path, elsewhere = notes / "hosts", host.directory / "elsewhere"
    elsewhere.mkdir()
    path.write_text(OLD)
    host.script(AGENT)
    await work(host, step(SED.format(path=path), diff(path), ask=True))
    host.open(2, cwd=str(elsewhere))
    await work(host, step(f"sed -i s/three/THREE/ {path}", diff(path, "three", "THREE"), ask=True), key=2)
    assert listed(host, notes) == {"hosts": ("modify", "agent", 2, 2)}
    assert (summary(host, 1), summary(host, 2)) == ({"hosts"}, {"hosts"})
    assert host.notices(1) == host.notices(2) == []
    async with next_host(host, tmp_path / "next") as second:
        for cwd in (host.cwd, elsewhere):
            await load(second, cwd)
        assert listed(second, notes) == {"hosts": ("modify", "agent", 2, 2)}
        await reject_all(second, host.cwd)
        assert path.read_text() == OLD
        done = await undo(second, elsewhere)
        assert done is not None
        assert (done.problem, path.read_text()) == (None, "one\nTWO\nTHREE\n")


async def test_its_directory_becomes_the_sessions(host: Host, notes: Path) -> None:
    path = notes / "hosts"
    path.write_text(OLD)
    host.script(AGENT)
    await work(host, step(SED.format(path=path), diff(path), ask=True))
    host.hello(additional_directories=["../notes"])
    host.open(2)
    await work(host, command(f"sed -i s/three/THREE/ {path}"), key=2)
    assert listed(host, notes) == {"hosts": ("modify", "agent", 2, 2)}
    assert host.notices(2) == []
    turns = [one for one in await checkpoints(host, host.cwd) if one.kind == "turn"]
    assert [one.files for one in turns] == [1, 1]
    for turn, text in zip(turns, (NEW, OLD), strict=True):  # each is restored by itself
        restored = await restore(host, host.cwd, turn.id)
        assert (restored.problem, restored.conflicts, look(notes)) == (None, [], {"hosts": text.encode()})


async def test_its_directory_is_removed(host: Host, notes: Path) -> None:
    path = notes / "deep" / "hosts"
    path.parent.mkdir()
    path.write_text(OLD)
    host.script(AGENT)
    await work(host, step(SED.format(path=path), diff(path), ask=True), command(f"rm -r {path.parent}"))
    assert listed(host, notes) == {"deep/hosts": ("delete", "agent", 0, 3)}
    await check_taken_back(host, notes, {"deep/hosts": OLD.encode()}, {})


async def test_what_commands_change_in_open_buffers_outside_is_said_to_be_unwatched(host: Host, notes: Path) -> None:
    paths = [notes / f"{number}" for number in range(5)]
    for path in paths:
        path.write_text(OLD)
        host.editor.open(path)
    closed = notes / "closed"
    closed.write_text(OLD)
    host.script(AGENT)
    await work(host, command(f"sed -i s/two/TWO/ {closed}"), command(SED.format(path=paths[0])))
    await host.until("a notice", host.notices)
    [first] = host.notices()
    assert first.startswith(f"{paths[0]} changed on disk while `sed -i s/two/TWO/ {notes}"[:120])
    assert first.endswith("what commands change there is not reviewed (additional_directories).")
    await work(host, command("true"))
    await work(host, command(f"sed -i s/one/ONE/ {notes}/*"))
    await host.until("another notice", lambda: len(host.notices()) > 1)
    [_, second] = host.notices()
    assert second.startswith(f"{paths[0]}, {paths[1]}, {paths[2]} and 2 more changed on disk while `sed -i s/one/ONE/ ")
    assert listed(host, notes) == {}


async def test_what_commands_change_elsewhere_in_the_repository_is_said_to_be_unwatched(host: Host) -> None:
    top, cwd = host.cwd, host.cwd / "below"
    cwd.mkdir()
    (top / "other.c").write_text(OLD)
    (cwd / "own.c").write_text(OLD)
    git(top, "init", "-q")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "first")
    (top / "other.c").write_text("mine\n" + OLD)
    host.script(AGENT)
    await work(host, command(SED.format(path=cwd / "own.c")), cwd=cwd)
    await work(host, command(SED.format(path=top / "other.c")))
    await host.until("a notice", host.notices)
    [said] = host.notices()
    assert said.startswith(f"{top / 'other.c'} changed on disk while `sed ")
    assert "not reviewed" in said
