"""Files outside of the session's directories: an error, or the user is asked as for any permission of the agent."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

AGENT = """
    def attempt(agent, work):
        try:
            agent.note(result=work())
        except Error as error:
            agent.note(error=[error.code, error.message])

    def act(agent, prompt, line):
        doing, path = line.split(" ", 1)
        if doing == "read":
            attempt(agent, lambda: prompt.read(path))
        else:
            attempt(agent, lambda: prompt.write(path, "new"))

    def turn(agent, prompt):
        for line in prompt.text.splitlines():
            act(agent, prompt, line)
"""
"""Reads and writes what the prompt says, one line after the other."""

AT_ONCE = AGENT.replace(
    "        for line in prompt.text.splitlines():\n            act(agent, prompt, line)\n",
    """        import threading
        threads = [threading.Thread(target=act, args=(agent, prompt, line)) for line in prompt.text.splitlines()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
""",
)
"""Reads and writes what the prompt says, all lines at the same time."""

NOT_ALLOWED = "and the user did not allow it"


def text_of(path: Path) -> str:
    """Return the content of a file."""
    return path.read_text()


@pytest.fixture
def secret(host: Host) -> Path:
    """Make a file outside of the session's directories."""
    outside = host.directory / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    return outside / "secret"


async def asked(host: Host, text: str, count: int = 1, source: str = AGENT) -> list[events.RequestView]:
    """The agent does that; wait until it came to so many questions."""
    if "it" not in host.scripts:
        host.hello(fs={"outside": "ask"})
        host.script(source)
        host.open()
    host.prompt(text)
    await host.editor.until_event(events.Permission, count)
    return [event.request for event in host.of(events.Permission)]


async def asked_again(host: Host, count: int) -> list[events.RequestView]:
    """Wait until there were so many questions."""
    await host.editor.until_event(events.Permission, count)
    return [event.request for event in host.of(events.Permission)]


async def told(host: Host, note: str, count: int = 1) -> list[Any]:
    """What the agent got, once it got that much."""
    return await host.until_note(note, count)


async def test_without_the_wish_to_be_asked_it_is_an_error(host: Host, secret: Path) -> None:
    host.script(AGENT)
    await host.turn(f"read {secret}\nwrite {secret}")
    [read, written] = host.scripts["it"].notes("error")
    assert read == written == [-32602, f"{secret} is outside of the session's directory {host.cwd}"]
    assert host.of(events.Permission) == []
    assert text_of(secret) == "secret"


async def test_what_is_inside_is_not_asked_about(host: Host) -> None:
    host.hello(fs={"outside": "ask"})
    host.script(AGENT)
    await host.turn(f"write {host.cwd / 'f'}\nread {host.cwd / 'f'}")
    assert host.scripts["it"].notes("result") == [None, "new"]
    assert host.of(events.Permission) == []


@pytest.mark.parametrize(
    ("access", "title", "kind", "doing"), [("read", "Read", "read", "reading"), ("write", "Write", "edit", "writing")]
)
async def test_the_question_says_what_is_asked(
    host: Host, secret: Path, access: str, title: str, kind: str, doing: str
) -> None:
    [request] = await asked(host, f"{access} {secret}")
    assert (request.title, request.kind) == (f"{title} {secret}, which is outside of the session's directories", kind)
    assert (request.tool_call_id, request.description) == ("", None)
    assert request.locations == [events.FileLine(str(secret))]
    assert [(one.kind, one.name) for one in request.options] == [
        ("allow_once", "Allow once"),
        ("allow_always", f"Allow {doing} this file in this session"),
        ("reject_once", "Reject once"),
        ("reject_always", f"Reject {doing} this file in this session"),
    ]
    status = await host.until_state("waiting")
    assert status.pending_permissions == 1
    assert text_of(secret) == "secret"
    assert host.scripts["it"].notes("result") + host.scripts["it"].notes("error") == []


async def test_the_question_names_the_file_that_it_really_is(host: Host, secret: Path) -> None:
    link = host.cwd / "harmless"
    link.symlink_to(secret)
    [request] = await asked(host, f"read {link}")
    assert request.title.startswith(f"Read {secret}, ")
    assert request.description == f"The agent calls it {link}"
    host.answer(request.id, "allow_once")
    assert await told(host, "result") == ["secret"]


async def test_once_is_once(host: Host, secret: Path) -> None:
    [first] = await asked(host, f"read {secret}\nread {secret}")
    host.answer(first.id, "allow_once")
    [_, second] = await asked_again(host, 2)
    assert await told(host, "result") == ["secret"]
    host.answer(second.id, "reject_once")
    [[code, message]] = await told(host, "error")
    assert (code, message) == (-32602, f"{secret} is outside of the session's directory {host.cwd}, {NOT_ALLOWED}")
    await host.until_state("idle")
    closed = host.of(events.PermissionDone)
    assert [(done.outcome, done.name) for done in closed] == [("selected", "Allow once"), ("selected", "Reject once")]


@pytest.mark.parametrize(("option", "note"), [("allow_always", "result"), ("reject_always", "error")])
@pytest.mark.parametrize("access", ["read", "write"])
async def test_an_answer_for_the_session_is_remembered_for_that_file_and_access(
    host: Host, secret: Path, option: str, note: str, access: str
) -> None:
    link = host.cwd / "link"
    link.symlink_to(secret)
    [request] = await asked(host, f"{access} {secret}\n{access} {link}\n{access} {secret.parent}/../outside/secret")
    host.answer(request.id, option)
    assert len(await told(host, note, 3)) == 3
    await host.until_state("idle")
    assert len(host.of(events.Permission)) == 1
    assert host.of(events.Notice) == []  # who has said no knows why it failed
    other = {"read": "write", "write": "read"}[access]
    assert len(await asked(host, f"{other} {secret}", 2)) == 2
    host.answer(2, "reject_once")
    await host.until_state("idle")
    assert len(await asked(host, f"{access} {secret.parent / 'another'}", 3)) == 3


async def test_what_one_session_may_another_may_not(host: Host, secret: Path) -> None:
    [request] = await asked(host, f"read {secret}")
    host.answer(request.id, "allow_always")
    await host.editor.until_event(events.TurnEnd)
    host.open(2)
    host.prompt(f"read {secret}", 2)
    await host.editor.until_event(events.Permission, 2)
    assert len(host.of(events.Permission, 2)) == 1


async def test_a_file_that_is_allowed_is_written(host: Host, secret: Path) -> None:
    [request] = await asked(host, f"write {secret}")
    host.answer(request.id, "allow_once")
    assert await told(host, "result") == [None]
    assert text_of(secret) == "new\n"
    why = "written by it"
    told_of = events.FileChanged(1, str(secret), "agent", operation="modify", added=1, removed=1, why=why)
    assert host.of(events.FileChanged) == [told_of]


async def test_a_new_file_may_be_allowed_and_a_missing_one_is_still_missing(host: Host, secret: Path) -> None:
    new = secret.parent / "new"
    [first] = await asked(host, f"read {new}\nwrite {new}")
    host.answer(first.id, "allow_once")
    [_, second] = await asked_again(host, 2)
    assert (await told(host, "error"))[0][0] == -32002
    host.answer(second.id, "allow_once")
    assert await told(host, "result") == [None]
    assert text_of(new) == "new"


async def test_a_refused_write_leaves_the_file(host: Host, secret: Path) -> None:
    [request] = await asked(host, f"write {secret}")
    host.answer(request.id, "reject_once")
    [[_, message]] = await told(host, "error")
    assert NOT_ALLOWED in message
    assert text_of(secret) == "secret"


async def test_other_requests_go_on_while_one_waits(host: Host, secret: Path) -> None:
    (host.cwd / "f").write_text("inside")
    [request] = await asked(host, f"read {secret}\nread {host.cwd / 'f'}", source=AT_ONCE)
    assert await told(host, "result") == ["inside"]
    host.answer(request.id, "allow_once")
    assert await told(host, "result", 2) == ["inside", "secret"]


async def test_an_answer_for_the_session_answers_all_that_wait_for_the_same(host: Host, secret: Path) -> None:
    requests = await asked(host, f"read {secret}\nread {secret}\nwrite {secret}\nread {secret}", 4, AT_ONCE)
    reading = [one for one in requests if one.kind == "read"]
    host.answer(reading[1].id, "allow_always")
    assert await told(host, "result", 3) == ["secret"] * 3
    assert [done.option_id for done in host.of(events.PermissionDone)] == ["allow_always"] * 3
    status = await host.until_state("waiting")
    assert status.pending_permissions == 1
    host.cancel()
    assert len(await told(host, "error")) == 1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../secret", "not an absolute path"),
        ("{outside}/a\0b", "cannot be the path of a file"),
        ("{outside}/circle/../link", "symbolic links in a circle"),  # whose real path would be the link's own
    ],
)
async def test_what_is_no_path_is_not_asked_about(host: Host, secret: Path, path: str, words: str) -> None:
    (secret.parent / "circle").symlink_to("circle")
    (secret.parent / "link").symlink_to(secret)
    host.hello(fs={"outside": "ask"})
    host.script(AGENT)
    await host.turn("read " + path.format(outside=secret.parent))
    [[code, message]] = host.scripts["it"].notes("error")
    assert (code, words in message) == (-32602, True), message
    assert host.of(events.Permission) == []


SYSTEM = "it belongs to the system itself, and is never opened"


def in_full(words: str, path: Path, access: str) -> str:
    """Fill the names into a message."""
    done = "read" if access == "read" else "written"
    return words.format(real=os.path.realpath(path), done=done, SYSTEM=SYSTEM)


def directory(path: Path) -> None:
    """Make a directory in the place of the file."""
    path.mkdir()


def bound(path: Path) -> None:
    """A socket that was bound; its name stays."""
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))  # the path of a socket has room for about 100 bytes


def below_a_file(path: Path) -> None:
    """Replace the directory of the file by a file."""
    path.parent.rmdir()
    path.parent.write_text("")


ODD: list[tuple[Callable[[Path], Any], str]] = [
    (directory, "{real} is a directory"),
    (os.mkfifo, "{real} is a FIFO, not a regular file"),
    (bound, "{real} is a socket, not a regular file"),
    (lambda path: path.symlink_to("/dev/zero"), "/dev/zero is a device, not a regular file"),
    (lambda path: path.symlink_to("/proc/self/environ"), "{real} is no file of a project: {SYSTEM}"),
    (below_a_file, "{real} cannot be {done}: a part of its path is a file, not a directory. Check the path"),
]


async def test_what_is_no_regular_file_is_refused_without_asking(host: Host) -> None:
    host.hello(fs={"outside": "ask"})
    host.script(AGENT)
    told = []
    for number, (make, words) in enumerate(ODD):
        path = host.directory / f"outside {number}" / "odd"
        path.parent.mkdir()
        make(path)
        for access in ("read", "write"):
            await host.turn(f"{access} {path}")
            why = f"is outside of the session's directory {host.cwd}, and {in_full(words, path, access)}"
            told.append([-32602, f"{path} {why}"])
            assert host.scripts["it"].notes("error") == told
    assert host.of(events.Permission) == []


@pytest.mark.parametrize("option", ["allow_once", "allow_always"])
async def test_another_file_under_the_same_name_was_not_allowed(host: Host, secret: Path, option: str) -> None:
    note, key = secret.parent / "note", secret.parent / "key"
    note.write_text("note")
    key.write_text("key")
    [request] = await asked(host, f"read {note}")
    note.unlink()
    note.symlink_to(key)
    host.answer(request.id, option)
    [[code, message]] = await told(host, "error")
    assert (code, message) == (-32602, f"{note} is another file by now than the one that the user was asked about")


async def test_a_cancelled_turn_refuses(host: Host, secret: Path) -> None:
    [request] = await asked(host, f"read {secret}")
    host.cancel()
    [[code, message]] = await told(host, "error")
    assert (code, NOT_ALLOWED in message) == (-32602, True)
    assert [(done.id, done.outcome) for done in host.of(events.PermissionDone)] == [(request.id, "cancelled")]
    await host.editor.until_event(events.TurnEnd)
    assert (await host.until_state("idle")).pending_permissions == 0


async def test_in_a_cancelled_turn_nobody_is_asked_any_more(host: Host, secret: Path) -> None:
    await asked(host, f"read {secret}\nwrite {secret}")
    host.cancel()
    assert len(await told(host, "error", 2)) == 2
    assert [done.outcome for done in host.of(events.PermissionDone)] == ["cancelled", "cancelled"]
    assert text_of(secret) == "secret"


async def test_a_question_ends_with_the_turn_that_does_not_wait_for_it(host: Host, secret: Path) -> None:
    host.hello(fs={"outside": "ask"})
    host.script(f"""
        def turn(agent, prompt):
            agent.call("fs/read_text_file", {{"sessionId": prompt.session_id, "path": {str(secret)!r}}})
    """)
    await host.turn()
    await host.until("the question to be closed", lambda: host.of(events.PermissionDone))
    await host.until("the answer", lambda: [one for one in host.sent_answers() if NOT_ALLOWED in str(one)])
    assert (await host.until_state("idle")).pending_permissions == 0


async def test_a_question_that_the_agent_withdraws_is_closed(host: Host, secret: Path) -> None:
    host.hello(fs={"outside": "ask"})
    host.script(f"""
        def turn(agent, prompt):
            params = {{"sessionId": prompt.session_id, "path": {str(secret)!r}}}
            call = agent.call("fs/read_text_file", params, "the read")
            agent.notify("$/cancel_request", {{"requestId": "the read"}})
            try:
                call.result()
            except Error as error:
                agent.note(code=error.code)
    """)
    await host.turn()
    assert host.scripts["it"].notes("code") == [-32800]
    assert [done.outcome for done in host.of(events.PermissionDone)] == ["cancelled"]
    assert list(host.app.permissions) == []


@pytest.mark.parametrize("wait", ["", "agent.request('nothing/known', None)"], ids=["at once", "later"])
async def test_a_question_of_an_agent_that_ends_right_after_it_is_closed(host: Host, secret: Path, wait: str) -> None:
    host.hello(fs={"outside": "ask"})
    host.script(f"""
        def turn(agent, prompt):
            agent.call("fs/read_text_file", {{"sessionId": prompt.session_id, "path": {str(secret)!r}}})
            try:
                {wait or "pass"}
            except Error:
                pass
            agent.exit(1)
    """)
    await host.turn()
    await host.until_state("failed")
    assert [done.outcome for done in host.of(events.PermissionDone)] == ["cancelled"]
    assert list(host.app.permissions) == []


@pytest.mark.parametrize("how", ["it dies", "it is stopped"])
async def test_a_question_of_an_agent_that_is_gone_is_closed(host: Host, secret: Path, how: str) -> None:
    [request] = await asked(
        host,
        f"read {secret}",
        source=AGENT + "\n    def die_now(agent, request):\n        agent.exit(1)\n",
    )
    if how == "it dies":
        host.app.sessions[1].peer.notify("die/now", {})
        await host.until_state("failed")
    else:
        host.stop()
        await host.until_state("stopped")
    await host.until("the question to be closed", lambda: host.of(events.PermissionDone))
    assert [(done.id, done.outcome) for done in host.of(events.PermissionDone)] == [(request.id, "cancelled")]
    await host.until("nothing to wait", lambda: list(host.app.permissions) == [])
    status = host.status()
    assert status is not None
    assert status.pending_permissions == 0


async def test_the_question_is_shown_again_by_a_redraw(host: Host, secret: Path) -> None:
    [request] = await asked(host, f"read {secret}")
    host.app.receive("redraw", {"session": 1})
    assert host.of(events.Permission)[-1].request == request
    host.answer(request.id, "reject_once")
    await told(host, "error")


async def test_the_setting_counts_for_sessions_that_are_open(host: Host, secret: Path) -> None:
    [request] = await asked(host, f"read {secret}")
    host.answer(request.id, "allow_always")
    await host.editor.until_event(events.TurnEnd)
    host.hello(fs={"outside": "error"})
    await host.turn(f"read {secret}")
    assert len(host.scripts["it"].notes("error")) == 1
    assert len(host.of(events.Permission)) == 1


async def test_repr_shows_whether_it_asks(host: Host) -> None:
    host.script(AGENT)
    host.open()
    outside = host.app.sessions[1].requests.files.access
    assert repr(outside) == f"<PathAccess of <Roots ['{host.cwd}']> asks=False>"
    assert repr(host.app.sessions[1].requests.permissions) == "<PermissionBroker of 1 refusing=False>"
