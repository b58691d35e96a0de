"""A turn in which a peer says all that its SDK lets it say: what is shown, what is done, what is answered."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.views import Usage
from acp_nvim.transcript.presenter import UNKNOWN_UPDATE
from tests.peers.peers import PYTHON, V2
from tests.peers.talk import Shown, Talk

pytestmark = pytest.mark.anyio

ON_DISK = "on disk\n"
IN_BUFFER = "first\nsecond\nthird\n"


async def whole_turn(talk: Talk, *answers: str) -> None:
    """The turn, with the user's answers to what the agent asks."""
    notes = talk.host.cwd / "notes.txt"
    notes.write_text(ON_DISK)
    talk.host.editor.open(notes, IN_BUFFER)
    talk.host.open()
    talk.host.prompt("hi")
    for count, answer in enumerate(answers, 1):
        talk.host.answer((await talk.permission(count)).id, answer)
    assert (await talk.host.editor.until_event(events.TurnEnd)).stop_reason == "end_turn"
    if talk.peer is V2:
        await talk.host.until("the background to end", lambda: ("info", "The watch ended") in talk.shown())


def answers_for(talk: Talk) -> list[str]:
    return ["always", "no"] if talk.peer is V2 else ["always"]


def content() -> list[events.Item]:
    """What the first tool call shows but for files."""
    return [
        events.TextItem("all **done**"),
        events.MediaItem("image", "image/png", 70, 1, "file:///picture.png"),
        events.MediaItem("audio", "audio/wav", 44, 2),
        events.ResourceItem("file:///manual.md", "The manual", size=12),
        events.ResourceItem("file:///a.txt", mime_type="text/plain", text="embedded text"),
        events.ResourceItem("file:///b.bin", mime_type="application/x-b", size=3),
    ]


def diffs_v1(talk: Talk) -> list[events.Item]:
    at = talk.host.cwd
    return [
        events.DiffItem(f"{at}/notes.txt", "the second\n", "second\n", line=2),
        events.DiffItem(f"{at}/new.txt", "new\n", operation="add"),
        events.TerminalItem("terminal-1", number=1),
    ]


def diffs_v2(talk: Talk) -> list[events.Item]:
    at = talk.host.cwd
    after = "first\nthe second\nthird\n"
    return [
        events.DiffItem(f"{at}/notes.txt", after, IN_BUFFER, line=1),
        events.DiffItem(f"{at}/new.txt", "new\n", operation="add"),
        events.DiffItem(f"{at}/old.txt", "", "old\n", operation="delete", line=1),
        events.DiffItem(f"{at}/to.txt", "there\n", "here\n", operation="move", old_path=f"{at}/from.txt", line=7),
        events.DiffItem(f"{at}/copy.txt", "", operation="copy", old_path=f"{at}/notes.txt"),
        events.DiffItem(f"{at}/logo.png", "", note="binary"),
        events.DiffItem(f"{at}/label", "", operation="_relabel"),
        events.TerminalItem("terminal-1", "make", str(at), "grün ✓", exit_code=3, number=1),
        events.OtherItem("content of an unknown kind ('_graph')"),
    ]


def edit(talk: Talk) -> Shown:
    """The tool call with every kind of content."""
    more = diffs_v2(talk) if talk.peer is V2 else diffs_v1(talk)
    place = events.FileLine(f"{talk.host.cwd}/notes.txt", 2)
    return "call", events.CallView("call-1", "Edited notes.txt", "edit", "completed", content() + more, [place])


def deletion() -> Shown:
    """The tool call that the permission is about; the agent never ends it."""
    item = events.TextItem("rm notes.txt")
    return "call", events.CallView("call-2", "Delete notes.txt", "delete", "unfinished", [item], [])


def watch() -> Shown:
    """The tool call that goes on after the turn."""
    terminal = events.TerminalItem("terminal-2", "watch", output="started\nchanged", signal="SIGTERM", number=2)
    return "call", events.CallView("call-3", "Watch", "execute", "completed", [terminal], [])


REMARKS: list[Shown] = [
    ("warn", "Slow today\nThe provider is busy."),
    ("info", "Compaction of the conversation: in progress"),
    ("thought", "They spoke of notes."),
    ("info", "Compaction of the conversation: completed"),
    ("info", UNKNOWN_UPDATE),
]
READ = 'It says "first\\nsecond\\nthird\\n", line 2 "second\\n". Written.'


def expected_v1(talk: Talk) -> list[Shown]:
    # without message ids, and nothing between them, two messages are one
    said = [("agent", "You chose always. " + READ)]
    return [
        ("user", "hi"),
        ("agent", "Let me look. "),
        ("thought", "Hm, where?"),
        ("plan", [("Look", "high", "completed"), ("Think", "medium", "in_progress"), ("Write", "low", "pending")]),
        edit(talk),
        *([] if talk.peer is PYTHON else REMARKS),
        deletion(),
        ("permission", "always"),
        *(said if talk.peer is PYTHON else [("agent", "You chose always. "), ("agent", READ)]),
    ]


def expected_v2(talk: Talk) -> list[Shown]:
    return [
        ("user", "hi"),
        ("agent", "Let me look. Now. "),
        ("agent", ""),
        ("thought", "Hm, where?"),
        ("plan", [("Look", "high", "completed"), ("Write", "low", "in_progress")]),
        ("plan", [("Rest", "medium", "cancelled")]),
        edit(talk),
        watch(),
        *REMARKS,
        deletion(),
        ("permission", "always"),
        ("agent", "You chose always. "),
        ("permission", "no"),
        ("agent", "You chose no. "),
        ("info", "The watch ended"),
    ]


@pytest.mark.parametrize("is_served", [False], ids=["own_process"])
async def test_all_that_is_said_is_shown_and_done(talk: Talk) -> None:
    await whole_turn(talk, *answers_for(talk))
    expected = (expected_v2 if talk.peer is V2 else expected_v1)(talk)
    assert talk.shown() == expected
    await check_status(talk)
    check_commands(talk)
    check_permissions(talk)
    check_files(talk)
    talk.host.app.receive("redraw", {"session": 1})
    assert len(talk.host.of(events.Reset)) == 1
    assert [shown for shown in talk.shown() if shown[1] != ""] == [one for one in expected if one[1] != ""]


async def check_status(talk: Talk) -> None:
    status = await talk.host.until_state("idle")
    assert status.agent_title == "A peer"
    assert (status.title, status.mode, status.model) == ("About notes", "code", "big")
    assert status.usage == Usage(used=1200, size=200000, cost=0.25, currency="USD")
    assert status.plan is not None
    assert status.plan[0].content == "Look"
    assert status.stop_reason == "end_turn"


def check_commands(talk: Talk) -> None:
    commands = [(one.name, one.description, one.hint) for one in talk.host.of(events.Commands)[-1].commands]
    assert commands == [("plan", "Make a plan", "of what"), ("help", "Say what there is", None)]


def check_permissions(talk: Talk) -> None:
    """Check that permissions show what they are about."""
    requests = [event.request for event in talk.host.of(events.Permission)]
    first = requests[0]
    assert [(one.name, one.kind) for one in first.options] == [
        ("Allow", "allow_once"),
        ("Always allow", "allow_always"),
        ("Reject", "reject_once"),
        ("Never allow", "reject_always"),
    ]
    assert (first.tool_call_id, first.kind, first.content) == ("call-2", "delete", [events.TextItem("rm notes.txt")])
    if talk.peer is V2:
        assert (first.title, first.description) == ("May I, with a tool_call?", "It cannot be undone.")
        second = requests[1]
        assert (second.title, second.kind) == ("May I, with a command?", "execute")
        assert (second.command, second.cwd, second.content) == ("rm -rf build", str(talk.host.cwd), [])
    else:
        assert first.title == "Delete notes.txt"


def check_files(talk: Talk) -> None:
    """Check that files are read from buffers, and written."""
    notes, written = talk.host.cwd / "notes.txt", talk.host.cwd / "written.txt"
    buffer = talk.host.editor.buffers[str(notes)]
    if talk.peer is V2:  # version 2 has no such requests
        assert (buffer.text, notes.read_text()) == (IN_BUFFER, ON_DISK)
        return
    assert buffer.text == "first\n2nd\nthird\n"
    assert written.read_text(encoding="utf-8") == "ünïcödé\n"
    assert {event.path for event in talk.host.of(events.FileChanged)} == {str(notes), str(written)}


async def test_each_answer_to_a_permission_arrives(talk: Talk) -> None:
    await talk.open()
    for count, answer in enumerate(("yes", "always", "no", "never"), 1):
        talk.host.prompt("ask")
        talk.host.answer((await talk.permission(count)).id, answer)
        assert (await talk.host.editor.until_event(events.TurnEnd, count)).stop_reason == "end_turn"
        assert talk.host.text().endswith(f"You chose {answer}. ")
