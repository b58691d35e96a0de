"""An agent's process ends, and the session goes on in the next: resumed, loaded, or begun anew, which is said."""

from __future__ import annotations

from functools import partial
from unittest.mock import Mock

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.acp import updates
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.contract import events
from acp_nvim.process import stopping
from acp_nvim.session.connecting import ANEW, GOES_ON, Replaying
from acp_nvim.transcript.presenter import Presenter
from tests.core.session.host import Host
from tests.support.fake_editor import FakeEditor
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

DIES = """
    def turn(agent, prompt):
        if prompt.text == "die":
            agent.exit(3)
        prompt.say(f"<{prompt.session_id} {prompt.text}>")

    def say(agent, text, kind="agent_message_chunk"):
        agent.update("session-1", {"sessionUpdate": kind, "content": {"type": "text", "text": text}})
"""

TELLS_OF_ITSELF = """agent.update("session-1", {"sessionUpdate": "session_info_update", "title": "Another"}); """

RESUMES = (
    DIES
    + """
    INITIALIZE = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {"resume": {}}}}

    def session_resume(agent, request):
        return {}
"""
)

LOADS = (
    DIES
    + """
    INITIALIZE = {"agentCapabilities": {"loadSession": True}}

    def session_load(agent, request):
        say(agent, "hello", "user_message_chunk")
        say(agent, "<session-1 hello>")
        agent.update("session-1", {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read"})
        agent.update("session-1", {"sessionUpdate": "session_info_update", "title": "A greeting"})
        request.reply({})
        say(agent, "late")
        return NO_ANSWER
"""
)


async def die(host: Host) -> None:
    """Let the agent die after a turn that ended well."""
    await host.turn("hello")
    await host.turn("die")
    await host.until_state("failed")


async def test_the_session_is_resumed_and_that_is_said(host: Host) -> None:
    script = host.script(RESUMES)
    await die(host)
    assert await host.turn("again") == "end_turn"
    assert host.text() == "<session-1 hello><session-1 again>"
    assert host.notices()[-1] == GOES_ON
    [resumed] = script.received("session/resume")
    assert resumed["params"]["sessionId"] == "session-1"
    assert len(script.received("session/new")) == 1
    assert script.received("session/load") == []


async def test_who_cannot_resume_loads_and_nothing_is_told_twice(host: Host) -> None:
    script = host.script(LOADS)
    await die(host)
    assert await host.turn("again") == "end_turn"
    assert host.text() == "<session-1 hello><session-1 again>"
    assert host.text("user") == "hellodieagain"
    assert host.calls() == {}
    assert host.editor.all(events.Reset) == []
    assert (await host.until_state("idle")).title == "A greeting"
    assert len(script.received("session/load")) == 1


async def test_what_is_replayed_by_who_resumes_is_not_told_twice_either(host: Host) -> None:
    host.script(RESUMES.replace("return {}", 'say(agent, "<session-1 hello>"); return {}'))
    await die(host)
    await host.turn("again")
    assert host.text() == "<session-1 hello><session-1 again>"


@pytest.mark.parametrize("resumes", [True, False])
async def test_what_is_refused_gives_way_to_the_next_means_and_a_new_session_is_said(host: Host, resumes: bool) -> None:
    script = host.script(
        RESUMES.replace("return {}", 'raise Error(-32002, "forgotten")').replace(
            '"resume": {}', '"resume": {}' if resumes else ""
        )
        + """
    def session_load(agent, request):
        raise Error(-32002, "never heard of it")
"""
    )
    await die(host)
    assert await host.turn("again") == "end_turn"
    assert "never heard of it" in host.notices()[-2]
    assert any("forgotten" in text for text in host.notices()) is resumes
    assert host.notices()[-1] == ANEW
    assert host.text() == "<session-1 hello><session-1 again>"  # the script counts from one in each process
    assert len(script.received("session/new")) == 2
    await die_again_and_go_on(host)


async def test_in_version_2_a_refusal_is_asked_for_and_told_once(host: Host) -> None:
    """In version 2, loading is the same request as resuming."""
    host.hello(protocol={"v2": True})
    script = host.script("""
        INITIALIZE = {"protocolVersion": 2, "info": {"name": "v2", "version": "1"}, "capabilities": {"session": {}}}

        def session_resume(agent, request):
            raise Error(-32601, "Method not found")

        def turn(agent, prompt):
            prompt.reply({})
            prompt.update("state_update", state="running")
            said = {"type": "text", "text": prompt.text}
            prompt.update("agent_message_chunk", messageId=prompt.text, content=said)
            if prompt.text == "die":
                agent.exit(3)
            prompt.update("state_update", state="idle", stopReason="end_turn")
            return NO_ANSWER
    """)
    await die(host)
    assert await host.turn("again") == "end_turn"
    assert len(script.received("session/resume")) == 1
    refused, anew = host.notices()[-2:]
    assert (refused, anew) == ("Agent 'it' refused to resume the session: it does not know how.", ANEW)
    assert "refused" not in "".join(host.notices()[:-2])
    assert host.text() == "hellodieagain"


async def die_again_and_go_on(host: Host) -> None:
    """The new session is what the chat shows from then on."""
    await host.turn("die")
    await host.until_state("failed")
    await host.turn("more")
    assert host.notices()[-1] == ANEW


async def test_a_session_that_was_never_used_is_simply_another_one(host: Host) -> None:
    script = host.script(RESUMES + "    def die_now(agent, request): agent.exit(1)")
    host.open()
    await host.until_state("idle")
    host.app.sessions[1].peer.notify("die/now", {})
    await host.until_state("failed")
    assert await host.turn() == "end_turn"
    assert [ANEW in text or GOES_ON in text for text in host.notices()] == [False]
    assert script.received("session/resume") == []


async def test_a_stopped_session_goes_on_without_a_word(host: Host) -> None:
    script = host.script(RESUMES)
    await host.turn("hello")
    host.stop()
    await host.until_state("stopped")
    await host.turn("again")
    assert host.notices() == []
    assert len(script.received("session/resume")) == 1


async def test_queue_and_prompt_go_out_in_the_session_that_goes_on(host: Host) -> None:
    script = host.script(RESUMES + "    def die_now(agent, request): agent.exit(3)".replace("3", "4"))
    await host.turn("hello")
    script.path.write_text(script.path.read_text().replace('if prompt.text == "die":', 'if prompt.text == "no":'))
    host.stop()
    await host.until_state("stopped")
    for text in ("one", "two", "three"):
        host.prompt(text)
    await host.until("all turns", lambda: len(host.of(events.TurnEnd)) == 4)
    assert host.text() == "".join(f"<session-1 {text}>" for text in ("hello", "one", "two", "three"))


async def test_a_crash_loop_stops_after_three_and_one_more_prompt_is_one_more_try(host: Host) -> None:
    script = host.script("def turn(agent, prompt): agent.exit(3)")
    for times in (1, 2, 3):
        await host.turn("die")
        await host.until_state("failed")
        assert ("3 times in a row" in host.notices()[-1]) is (times == 3)
    assert ":AcpChat! begins a new session, :AcpLog shows" in host.notices()[-1]
    host.open()  # as who looks at the chat does
    assert (await host.until_state("failed")).state == "failed"
    script.path.write_text("def turn(agent, prompt): prompt.say('well')")
    assert await host.turn("live") == "end_turn"
    assert len(script.notes("started")) == 4
    assert host.text() == "well"


async def test_a_finished_turn_ends_the_row(host: Host) -> None:
    host.script(DIES)
    for text in ("die", "die", "hello", "die"):
        await host.turn(text)
        await host.until_state("idle" if text == "hello" else "failed")
    assert not any("in a row" in text for text in host.notices())


async def test_a_way_that_was_its_end_twice_is_not_taken_again(host: Host) -> None:
    script = host.script(
        RESUMES.replace("return {}", "agent.exit(9)") + "    def session_load(agent, request): return {}"
    )
    await die(host)
    for _ in range(2):
        host.prompt("again")
        await host.editor.until_event(events.Error, len(host.editor.all(events.Error)) + 1)
        await host.until_state("failed")
    host.prompt("now")
    await host.until("the queue", lambda: len(host.of(events.TurnEnd)) == 5)
    assert [len(script.received(method)) for method in ("session/resume", "session/load")] == [2, 1]
    assert host.text() == "<session-1 hello><session-1 again><session-1 again><session-1 now>"


async def test_who_loads_into_a_chat_wants_to_see_what_the_agent_has(host: Host) -> None:
    host.script(LOADS)
    await host.turn("something else")
    host.app.sessions[1].restore("session-1", "load")
    await host.until("the end of the replay", lambda: "late" in host.text())
    [reset] = host.editor.all(events.Reset)
    after = host.editor.events[host.editor.events.index(reset) :]
    told = [one.text for one in after if isinstance(one, events.Append)]
    assert told[:2] == ["hello", "<session-1 hello>"]
    assert all(one.block <= 4 for one in after if isinstance(one, events.Append))


async def test_a_load_that_fails_leaves_the_chat_as_it_is_and_says_what_is_left(host: Host) -> None:
    script = host.script(RESUMES + "    def session_load(agent, request): raise Error(-32002, 'gone')")
    await host.turn("hello")
    host.app.sessions[1].restore("other", "load")
    await host.until_state("failed")
    assert host.editor.all(events.Reset) == []
    assert "goes on with the session above" in host.notices()[-1]
    assert await host.turn("again") == "end_turn"
    assert [one["params"]["sessionId"] for one in script.received("session/resume")] == ["session-1"]


@pytest.mark.parametrize("end", ["raise Error(-32002, 'gone')", "agent.exit(3)", "return 7"])
async def test_what_is_said_of_the_session_itself_forgets_no_chat(host: Host, end: str) -> None:
    """It comes before the first thing that is told again; a load that fails between them loses nothing."""
    host.script(RESUMES + f"    def session_load(agent, request): {TELLS_OF_ITSELF}{end}")
    await host.turn("hello")
    host.app.sessions[1].restore("session-1", "load")
    await host.until("the end of the load", lambda: host.notices())
    status = host.status()
    assert status is not None
    assert status.title == "Another"
    assert host.editor.all(events.Reset) == []
    assert host.text() == "<session-1 hello>"


async def test_a_chat_is_forgotten_with_the_first_thing_that_is_told_again(host: Host) -> None:
    host.script(LOADS.replace('say(agent, "hello", ', TELLS_OF_ITSELF + 'say(agent, "hello", '))
    await host.turn("something else")
    host.app.sessions[1].restore("session-1", "load")
    await host.until("the end of the replay", lambda: host.text().endswith("late"))
    known = [isinstance(one, events.Status) and one.status.title == "Another" for one in host.editor.events]
    told = [isinstance(one, events.Append) and one.text == "hello" for one in host.editor.events]
    [reset] = (index for index, one in enumerate(host.editor.events) if isinstance(one, events.Reset))
    assert known.index(True) < reset < told.index(True)


async def test_a_prompt_in_a_chat_that_is_told_anew_comes_after_what_is_told(host: Host) -> None:
    host.script(LOADS)
    await host.turn("something else")
    host.stop()
    await host.until_state("stopped")
    host.app.sessions[1].restore("session-1", "load")
    host.prompt("and now")
    await host.until("the turn", lambda: len(host.of(events.TurnEnd)) == 2)
    blocks = {event.block: event.text for event in host.of(events.Append)}
    reset = host.editor.events.index(host.editor.all(events.Reset)[0])
    after = [one for one in host.editor.events[reset:] if isinstance(one, events.Append)]
    assert [one.text for one in after] == ["hello", "<session-1 hello>", "late", "and now", "<session-1 and now>"]
    assert blocks


async def test_what_is_replayed_is_over_when_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    replaying = Replaying(Presenter(1, "/", FakeEditor(), lambda: None), Mock())
    said = updates.MessageChunk("agent", TextContent(text="again"))
    monkeypatch.setattr("acp_nvim.session.connecting.REPLAY_QUIET_SECONDS", 3600)
    async with anyio.create_task_group() as tasks:
        replaying.begin("go_on")
        tasks.start_soon(partial(replaying.settled, late=True))
        await anyio.lowlevel.checkpoint()
        assert not replaying.takes(said)
        tasks.cancel_scope.cancel()
    monkeypatch.setattr("acp_nvim.session.connecting.REPLAY_QUIET_SECONDS", 0)
    await replaying.settled(late=True)
    assert replaying.takes(said)


async def test_a_new_process_waits_until_the_old_one_is_gone(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old process may still write what the new one is to read."""
    monkeypatch.setattr(stopping, "EOF_GRACE_SECONDS", LIMIT)  # on a busy machine it takes longer than it is given
    script = host.script(
        RESUMES
        + """
    def at_eof(agent):
        time.sleep(0.3)  # a new one starts in less
        open("written", "w").close()
        agent.exit()

    def start(agent):
        agent.note(found=os.path.exists("written"))
"""
    )
    await host.turn("hello")
    host.stop()
    await host.until_state("stopped")
    await host.turn("again")
    assert script.notes("found") == [False, True]


async def test_two_chats_on_one_process_both_go_on(host: Host) -> None:
    script = host.script(RESUMES)
    for key in (1, 2):
        await host.turn("hello", key)
    await host.turn("die", 1)
    for key in (1, 2):
        await host.until_state("failed", key)
    for key in (1, 2):
        assert await host.turn("again", key) == "end_turn"
        assert host.text(key=key) == f"<session-{key} hello><session-{key} again>"
    assert sorted(one["params"]["sessionId"] for one in script.received("session/resume")) == ["session-1", "session-2"]
    assert len(script.notes("started")) == 2


async def test_reconnecting_takes_another_process_and_leaves_the_other_chat_its_own(host: Host) -> None:
    script = host.script(RESUMES)
    for key in (1, 2):
        await host.turn("hello", key)
    host.app.sessions[1].reconnect()
    await host.until_received("session/resume")
    await host.until_state("idle", 1)
    for key in (1, 2):
        await host.turn("again", key)
        assert host.text(key=key) == f"<session-{key} hello><session-{key} again>"
    assert len(script.notes("started")) == 2
    assert host.editor.all(events.Error) == []
