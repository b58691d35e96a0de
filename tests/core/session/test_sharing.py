"""Sessions of one agent in one directory share its process, and never cross."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.agents.in_process import look_at
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

ECHO = 'def turn(agent, prompt): prompt.say(f"<{prompt.session_id} {prompt.text}>")'


async def test_two_sessions_share_a_process_and_their_words_never_cross(host: Host) -> None:
    script = host.script("""
        def turn(agent, prompt):
            for number in range(200):
                prompt.say(f"{prompt.text}{number} ")
    """)
    for key in (1, 2):
        host.open(key)
        host.prompt("ab"[key - 1], key)
    await host.editor.until_event(events.TurnEnd, 2)
    assert len(script.notes("started")) == 1
    assert len(script.received("initialize")) == 1
    for key, letter in ((1, "a"), (2, "b")):
        assert host.text(key=key) == "".join(f"{letter}{number} " for number in range(200))


async def test_two_that_are_opened_at_once_start_one_process(host: Host) -> None:
    script = host.script(ECHO)
    for key in (1, 2, 3):
        host.open(key)
    await host.editor.until_event(events.SessionReady, 3)
    assert len(script.notes("started")) == 1
    assert sorted(event.session_id for event in host.editor.all(events.SessionReady)) == [
        "session-1",
        "session-2",
        "session-3",
    ]


async def test_another_directory_or_agent_is_another_process_in_that_directory(host: Host) -> None:
    other = host.directory / "other"
    other.mkdir()
    scripts = [host.script(ECHO), host.script(ECHO, "second")]
    host.open(1)
    host.open(2, cwd=str(other))
    host.open(3, "second")
    await host.editor.until_event(events.SessionReady, 3)
    assert [len(script.notes("started")) for script in scripts] == [2, 1]
    assert sorted(scripts[0].notes("cwd")) == sorted([str(host.cwd), str(other)])


async def test_cancelling_one_leaves_the_turn_of_the_other(host: Host) -> None:
    script = host.script("""
        def turn(agent, prompt):
            prompt.say("x")
            prompt.ask("c")
            return "cancelled" if prompt.cancelled else None
    """)
    for key in (1, 2):
        host.open(key)
        host.prompt("go", key)
    await host.editor.until_event(events.Permission, 2)
    host.cancel(1)
    await host.until("the end of one", lambda: host.of(events.TurnEnd, 1))
    assert host.of(events.TurnEnd, 2) == []
    assert host.of(events.PermissionDone, 2) == []
    host.answer(host.of(events.Permission, 2)[0].request.id, "allow")
    await host.until("the end of the other", lambda: host.of(events.TurnEnd, 2))
    assert [host.of(events.TurnEnd, key)[0].stop_reason for key in (1, 2)] == ["cancelled", "end_turn"]
    assert len(script.received("session/cancel")) == 1


async def test_the_process_ends_with_its_last_session(host: Host) -> None:
    script = host.script(ECHO)
    for key in (1, 2):
        await host.turn(key=key)
    [pid] = script.notes("started")
    host.stop(1)
    await host.until_state("stopped", 1)
    assert await host.turn("still here", 2) == "end_turn"
    assert look_at(pid)
    host.stop(2)
    await host.until_state("stopped", 2)
    await host.until("the end of the process", lambda: look_at(pid) is None)
    assert host.editor.all(events.Error) == []
    assert host.notices(1) == host.notices(2) == []


async def test_a_session_that_was_stopped_hears_nothing_more_and_starts_again_with_a_prompt(host: Host) -> None:
    script = host.script("""
        def turn(agent, prompt):
            if prompt.text == "again":
                agent.update("session-1", {
                    "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "ghost"}})
            prompt.say(f"<{prompt.text}>")
    """)
    await host.turn("one", 1)
    await host.turn("two", 2)
    host.stop(1)
    await host.until_state("stopped", 1)
    await host.turn("again", 1)
    assert host.text(key=1) == "<one><again>"
    assert host.of(events.SessionReady, 1)[-1].session_id == "session-3"
    assert "does not know" in host.notices(1)[-1]
    assert len(script.notes("started")) == 1


async def test_stopping_during_a_turn_cancels_it_and_keeps_the_transcript_and_the_queue(host: Host) -> None:
    script = host.script("""
        def turn(agent, prompt):
            prompt.say("working")
            return NO_ANSWER if prompt.text == "one" else None
    """)
    host.open()
    host.prompt("one")
    host.prompt("two")
    await host.editor.until_event(events.Append, 2)
    host.stop()
    status = await host.until_state("stopped")
    assert (status.queue, status.stop_reason) == (1, "cancelled")
    assert (await host.editor.until_event(events.TurnEnd)).stop_reason == "cancelled"
    assert len(script.notes("started")) == 1
    host.prompt("three")
    await host.editor.until_event(events.TurnEnd, 3)
    assert host.text("user") == "onetwothree"


async def test_a_forced_end_ends_the_process_for_all_who_are_told_before_and_after(host: Host) -> None:
    script = host.script("""
        IGNORE_EOF = True
        IGNORE_SIGTERM = True
        def turn(agent, prompt):
            agent.spawn(STUBBORN, setsid=True)
            return NO_ANSWER
    """)
    for key in (1, 2):
        host.open(key)
        host.prompt("go", key)
    await host.until_received("session/prompt", 2)
    await host.until_note("spawned", 2)
    host.cancel(1, force=True)
    for key, reason in ((1, "cancelled"), (2, "error")):
        await host.until_state("stopped", key)
        assert [end.stop_reason for end in host.of(events.TurnEnd, key)] == [reason]
    assert "The process serves 1 other chat, whose turns would end with it." in host.notices(1)
    [error] = host.editor.all(events.Error)
    assert (error.session, error.code, error.text) == (2, "agent_ended", host.notices(2)[-1])
    assert "did not stop what it did in another chat" in error.text
    pids = script.notes("started") + script.notes("spawned")
    await host.until("all processes to end", lambda: not any(look_at(pid) for pid in pids))


async def test_stopping_what_does_not_run_does_no_harm(host: Host) -> None:
    host.script(ECHO)
    await host.turn()
    host.stop()
    host.stop()
    await host.until_state("stopped")
    host.cancel(force=True)
    assert await host.turn("again") == "end_turn"


async def test_when_it_dies_every_session_is_told(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            if prompt.text == "die":
                agent.exit(4)
            return NO_ANSWER
    """)
    for key, text in ((1, "wait"), (2, "die")):
        host.open(key)
        host.prompt(text, key)
        await host.until_received("session/prompt", key)
    await host.editor.until_event(events.Error, 2)
    assert sorted(error.session or 0 for error in host.editor.all(events.Error)) == [1, 2]
    assert all("exit code 4" in error.text for error in host.editor.all(events.Error))


async def test_requests_go_to_the_session_they_name(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            agent.call("session/request_permission", {"sessionId": "session-1", "options": [],
                "toolCall": {"toolCallId": "c", "title": "for one"}}).result()
    """)
    host.open(1)
    await host.until_state("idle", 1)
    host.open(2)
    await host.until_state("idle", 2)
    host.prompt("go", 2)
    asked = await host.editor.until_event(events.Permission)
    assert (asked.session, asked.request.title) == (1, "for one")
