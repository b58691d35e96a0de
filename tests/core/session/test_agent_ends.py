"""The agent ends when nobody asked it to: its last words are told, nothing hangs, and it can be started again."""

from __future__ import annotations

import os
import signal

import pytest

from acp_nvim.contract import events
from acp_nvim.process import child
from tests.core.session.host import Host
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio

DIES_ON = """
    def turn(agent, prompt):
        if prompt.text == "die":
            prompt.tool("c", "Run", kind="execute", status="in_progress")
            agent.stderr("\\x1b[31mout of luck\\x1b[0m\\nreally\\n")
            agent.exit(3)
        prompt.say(f"<{prompt.text}>")
"""


async def test_exit_code_and_last_words_are_told_once(host: Host) -> None:
    host.script(DIES_ON)
    assert await host.turn("die") == "error"
    [error] = [await host.editor.until_event(events.Error)]
    assert (error.code, error.session, error.agent) == ("agent_exited", 1, "it")
    assert "Agent 'it' ended with exit code 3." in error.text
    assert error.text.splitlines()[1:] == ["  out of luck", "  really"]
    assert host.notices() == [error.text]
    assert (await host.until_state("failed")).session_id is None


async def test_its_open_tool_calls_and_permissions_are_closed(host: Host) -> None:
    host.script("""
        def die_now(agent, request):
            agent.exit(1)

        def turn(agent, prompt):
            prompt.tool("c", "Run", status="in_progress")
            agent.call("session/request_permission", {
                "sessionId": prompt.session_id, "toolCall": {"toolCallId": "d"}, "options": []})
            return NO_ANSWER
    """)
    host.open()
    host.prompt("go")
    asked = await host.editor.until_event(events.Permission)
    host.app.sessions[1].peer.notify("die/now", {})
    await host.until_state("failed")
    assert [call.status for call in host.calls().values()] == ["unfinished", "unfinished"]
    await host.until("the request to be closed", lambda: host.of(events.PermissionDone))
    assert host.of(events.PermissionDone)[0].id == asked.request.id


async def test_a_signal_is_told_by_name(host: Host) -> None:
    host.script("def turn(agent, prompt): agent.die(signal.SIGSEGV)")
    await host.turn()
    assert "ended by signal SIGSEGV." in (await host.editor.until_event(events.Error)).text


async def test_silence_on_stderr_is_told(host: Host) -> None:
    host.script("def turn(agent, prompt): agent.exit(0)")
    await host.turn()
    text = (await host.editor.until_event(events.Error)).text
    assert "ended with exit code 0." in text
    assert "It did not say why; :AcpLog has all that it said." in text


NOISY = """
    def turn(agent, prompt):
        if prompt.text == "talk":
            agent.stderr("request 1 is served\\n")
            prompt.say("talked")
"""


async def test_what_it_said_before_the_last_message_does_not_explain_a_kill(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "PIPES_SECONDS", LIMIT)
    script = host.script(NOISY)
    await host.turn("talk")
    await host.until("the line in the log", lambda: "request 1 is served" in host.log_path.read_text())
    os.kill(script.notes("started")[0], signal.SIGKILL)
    text = (await host.editor.until_event(events.Error)).text
    assert text.startswith("Agent 'it' ended by signal SIGKILL.")
    assert text.endswith("It did not say why; :AcpLog has all that it said.")


async def test_what_it_said_since_its_last_message_is_told_after_a_kill(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "PIPES_SECONDS", 0.0)
    script = host.script("""
        def turn(agent, prompt):
            agent.stderr("before\\n")
            agent.prompt = prompt
            return NO_ANSWER

        def say_more(agent, request):
            agent.prompt.say("I choke")

        def say_why(agent, request):
            agent.stderr("out of memory\\n")
    """)
    host.open()
    host.prompt("choke")
    await host.until("the first line in the log", lambda: "before" in host.log_path.read_text())
    host.app.sessions[1].peer.notify("say/more", {})
    await host.until("its words", host.text)
    host.app.sessions[1].peer.notify("say/why", {})
    await host.until("the line in the log", lambda: "out of memory" in host.log_path.read_text())
    os.kill(script.notes("started")[0], signal.SIGKILL)
    text = (await host.editor.until_event(events.Error)).text
    assert text.splitlines()[1:] == ["  out of memory"]


@pytest.mark.parametrize(("seconds", "told"), [(LIMIT, ["  Traceback"]), (-LIMIT, [])], ids=["shortly", "long"])
async def test_what_it_wrote_before_it_answered_with_an_error_counts_for_a_while(
    host: Host, monkeypatch: pytest.MonkeyPatch, seconds: float, told: list[str]
) -> None:
    monkeypatch.setattr(child, "LAST_WORDS_SECONDS", seconds)
    host.script("""
        def leave(agent, request):
            agent.exit(70)

        def turn(agent, prompt):
            agent.stderr("Traceback\\n")
            raise Error(-32603, "Internal error")
    """)
    assert await host.turn("go") == "error"
    await host.until("the line in the log", lambda: "Traceback" in host.log_path.read_text())
    host.app.sessions[1].peer.notify("leave", {})
    await host.until("the end", lambda: any("exit code 70" in text for text in host.notices()))
    assert host.notices()[-1].splitlines()[1:] == told


async def test_prompts_that_wait_are_kept_and_go_out_with_the_next_one(host: Host) -> None:
    script = host.script("""
        def die_now(agent, request):
            agent.exit(3)

        def turn(agent, prompt):
            if prompt.text == "die":
                return NO_ANSWER
            prompt.say(f"<{prompt.text}>")
    """)
    host.open()
    host.prompt("die")
    host.prompt("queued")
    await host.until_received("session/prompt")
    host.app.sessions[1].peer.notify("die/now", {})
    assert (await host.until_state("failed")).queue == 1
    assert len(script.notes("started")) == 1
    host.prompt("next")
    await host.editor.until_event(events.TurnEnd, 3)
    assert host.text() == "<queued><next>"
    assert len(script.notes("started")) == 2


async def test_the_next_prompt_starts_it_again_and_says_what_it_does_not_know(host: Host) -> None:
    script = host.script(DIES_ON)
    await host.turn("hello")
    await host.turn("die")
    await host.until_state("failed")
    assert await host.turn("again") == "end_turn"
    assert host.notices()[-1] == "The agent begins a new session: it does not know what was said above."
    assert host.text() == "<hello><again>"
    assert [one["params"]["prompt"][0]["text"] for one in script.received("session/prompt")] == [
        "hello",
        "die",
        "again",
    ]


async def test_ids_of_the_last_process_mean_nothing_to_the_next(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.say(prompt.text, messageId="m-1")
            prompt.tool_update("c-1", title=prompt.text, status="completed")
            if prompt.text == "one":
                agent.exit(0)
    """)
    await host.turn("one")
    await host.until_state("failed")
    await host.turn("two")
    messages = {event.block: event.text for event in host.of(events.Append) if event.kind == "agent"}
    assert list(messages.values()) == ["one", "two"]
    assert [call.title for call in host.calls().values()] == ["one", "two"]


async def test_an_end_between_turns_is_told_too(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.reply({"stopReason": "end_turn"})
            agent.stderr("idle crash\\n")
            agent.exit(9)
    """)
    await host.turn()
    error = await host.editor.until_event(events.Error)
    assert "exit code 9" in error.text
    assert "idle crash" in error.text
    assert [end.stop_reason for end in host.of(events.TurnEnd)] == ["end_turn"]


async def test_one_that_closes_its_stdout_but_stays_is_ended(host: Host) -> None:
    script = host.script("""
        def turn(agent, prompt):
            agent.close_stdout()
            time.sleep(1000)
    """)
    assert await host.turn() == "error"
    await host.until_state("failed")
    assert len(script.notes("started")) == 1


async def test_children_of_a_dead_agent_are_ended(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            agent.spawn(["sleep", "1000"], setsid=True)
            agent.spawn(["sleep", "1000"], share_pipes=True)
            agent.exit(1)
    """)
    await host.turn()
    await host.until_state("failed")
    assert len(host.scripts["it"].notes("spawned")) == 2  # that they are gone is seen when the host is closed
