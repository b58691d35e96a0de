"""An agent that cannot be started, or does not want to: told in words that help, and the prompt is kept."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import anyio
import pytest

from acp_nvim.contract import events
from acp_nvim.session import connecting
from tests.agents.in_process import look_at
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

KEPT = ("Your prompt is kept, and is sent as soon as the agent starts.", "kept, and is sent then.")


async def failed(
    host: Host, agent: str = "it", prompt: str = "go", cwd: str | None = None, later: int = 0
) -> events.Error:
    """Open and prompt, and wait for the failure, and for as many notices about other things."""
    host.open(1, agent, cwd)
    host.prompt(prompt)
    error = await host.editor.until_event(events.Error)
    status = await host.until_state("failed")
    assert (status.queue, error.session) == (1, 1)
    await host.until("the notices", lambda: len(host.notices()) == 1 + later)
    assert host.notices()[0] == error.text
    assert error.text.endswith(KEPT)
    return error


async def test_a_command_that_is_not_there(host: Host) -> None:
    host.hello(agents={"it": {"command": ["no-such-agent", "--acp"]}})
    error = await failed(host)
    assert error.code == "agent_not_found"
    assert "Agent 'it' cannot start: the command 'no-such-agent' was not found." in error.text
    assert "agents.it.command" in error.text


async def test_a_known_agent_that_is_not_installed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = host.directory / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", str(programs))
    error = await failed(host, "qwen")
    assert "Agent 'qwen' cannot start: the command 'qwen' was not found." in error.text
    assert "To install it, type: npm install -g @qwen-code/qwen-code (https://" in error.text


async def test_a_command_that_may_not_be_run(host: Host) -> None:
    program = host.directory / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o644)
    host.hello(agents={"it": {"command": [str(program)]}})
    error = await failed(host)
    assert (error.code, "Permission denied" in error.text) == ("agent_not_found", True)


async def test_a_command_that_no_system_can_run(host: Host) -> None:
    host.hello(agents={"it": {"command": ["agent", "half\0word"]}})
    error = await failed(host)
    assert error.code == "agent_not_found"
    assert "Agent 'it' cannot start: 'agent': embedded null byte" in error.text


async def test_a_directory_that_is_not_there(host: Host) -> None:
    host.script("", is_process=True)
    error = await failed(host, cwd="/nonexistent/project", later=1)
    assert host.notices()[1].startswith("There is no snapshot of the workspace: /nonexistent/project")
    assert "there is no directory /nonexistent/project" in error.text
    assert ":AcpChat!" in error.text  # a session keeps its directory


async def test_an_agent_that_nobody_knows(host: Host) -> None:
    host.script("", "claude")
    error = await failed(host, "cluade")
    assert error.code == "agent_unknown"
    assert "Did you mean 'claude'?" in error.text


async def test_settings_that_cannot_be_used(host: Host) -> None:
    host.hello(agents={"it": {"command": "one string"}})
    error = await failed(host)
    assert error.code == "agent_misconfigured"
    assert "The configuration of agent 'it' cannot be used" in error.text


async def test_one_that_ends_at_once(host: Host) -> None:
    host.script('def start(agent):\n    agent.stderr("no key in the environment\\n"); agent.exit(1)')
    error = await failed(host)
    assert error.code == "agent_exited"
    assert "ended with exit code 1" in error.text
    assert "  no key in the environment" in error.text


async def test_one_that_never_answers_initialize_is_stopped(host: Host) -> None:
    script = host.script("""
        def initialize(agent, request):
            agent.stderr("waiting for a login\\n")
            return NO_ANSWER
    """)
    host.hello(timeouts={"initialize": 300})
    error = await failed(host)
    assert error.code == "agent_silent"
    assert "was started, did not answer within 0.3 s, and was stopped" in error.text
    assert [pid for pid in script.notes("started") if look_at(pid)] == []


@pytest.mark.parametrize(
    ("version", "step"), [(2, "Set protocol.v2 = true."), (3, "Update acp_nvim."), (0, "Update the agent.")]
)
async def test_one_of_another_protocol_version_is_stopped(host: Host, version: int, step: str) -> None:
    script = host.script(f'INITIALIZE = {{"protocolVersion": {version}}}')
    error = await failed(host)
    assert error.code == "protocol_version"
    assert f"speaks ACP version {version}; acp_nvim speaks version 1, and 2 if protocol.v2 is set. {step}" in error.text
    assert [pid for pid in script.notes("started") if look_at(pid)] == []


async def test_a_version_with_a_decimal_point_is_a_version(host: Host) -> None:
    host.script('INITIALIZE = {"protocolVersion": 1.0}')
    assert await host.turn() == "end_turn"


@pytest.mark.parametrize("version", ['"one"', "None", "1.5"])
async def test_an_answer_that_is_not_acp(host: Host, version: str) -> None:
    host.script(f'INITIALIZE = {{"protocolVersion": {version}}}')
    error = await failed(host)
    assert error.code == "agent_refused"
    assert "was asked to start, and answered something that acp_nvim does not understand" in error.text
    assert "protocolVersion" in host.log_path.read_text()


@pytest.mark.parametrize(
    ("code", "message", "data", "words"),
    [
        (-32603, "Internal error", {"details": "no network"}, ": no network"),
        (-32601, "Method not found", "session/new", ": it does not know how"),
        (-31002, "vendor", None, ": vendor"),
        (429, '{"error": {"code": 429}}', "", ""),
        (1001, "exited\n  at frame 1", {"restartable": True}, ": exited"),
    ],
)
@pytest.mark.parametrize(("method", "task"), [("initialize", "start"), ("session/new", "open a session")])
async def test_a_refusal_is_told_with_its_reason_and_the_log_has_the_rest(
    host: Host, method: str, task: str, code: int, message: str, data: object, words: str
) -> None:
    name = method.replace("/", "_")
    host.script(f"def {name}(agent, request): raise Error({code}, {message!r}, {data!r})")
    error = await failed(host)
    assert error.code == "agent_refused"
    assert f"Agent 'it' refused to {task}{words}. :AcpLog shows what it said." in error.text
    assert f"it: {method} was refused: {message!r} (code {code})" in host.log_path.read_text()


async def test_a_new_session_without_an_id_is_not_acp(host: Host) -> None:
    host.script('def session_new(agent, request): return {"id": "x"}')
    error = await failed(host)
    assert "was asked to open a session, and answered something that acp_nvim does not understand" in error.text
    assert "sessionId" in host.log_path.read_text()


async def test_a_sign_in_that_is_needed_is_told_and_the_prompt_goes_out_afterwards(host: Host, tmp_path: Path) -> None:
    door = tmp_path / "signed in"
    host.script(f"""
        def session_new(agent, request):
            if not os.path.exists({str(door)!r}):
                raise Error(-32000, "Authentication required", {{"authMethods": []}})
            return {{"sessionId": "s"}}
    """)
    error = await failed(host, prompt="first")
    assert error.code == "auth_required"
    assert "wants you to sign in first (:AcpLogin): Authentication required." in error.text
    os.mknod(door)
    host.prompt("second")
    await host.editor.until_event(events.TurnEnd, 2)
    assert host.text() == "You said: firstYou said: second"
    assert host.text("user") == "firstsecond"


async def test_a_configuration_that_was_corrected_counts_from_the_next_prompt_on(host: Host) -> None:
    host.hello(agents={"it": {"command": ["no-such-agent"]}})
    await failed(host, prompt="kept")
    host.script("")
    host.prompt("next")
    await host.editor.until_event(events.TurnEnd, 2)
    assert host.text() == "You said: keptYou said: next"


async def test_a_process_whose_only_session_was_refused_is_not_left_running(host: Host) -> None:
    script = host.script('def session_new(agent, request): raise Error(-32603, "no")')
    await failed(host)
    await host.until("the process to end", lambda: not any(look_at(pid) for pid in script.notes("started")))


async def test_a_process_that_is_asked_for_no_session_is_not_left_running(host: Host) -> None:
    script = host.script("")
    host.open()
    await host.until_state("idle")
    host.stop()
    await host.until_state("stopped")
    host.app.sessions[1].restore("session-9")  # it cannot load one
    await host.until_state("failed")
    await host.until("the process to end", lambda: not any(look_at(pid) for pid in script.notes("started")))


async def test_who_chokes_on_version_2_is_asked_for_version_1(host: Host) -> None:
    script = host.script("""
        def initialize(agent, request):
            if request.params["protocolVersion"] != 1:
                raise Error(-32603, "I am old")
            return {"protocolVersion": 1}
    """)
    host.hello(protocol={"v2": True})
    assert await host.turn() == "end_turn"
    assert [one["params"]["protocolVersion"] for one in script.received("initialize")] == [2, 1]


async def test_who_takes_long_is_told_of_and_can_be_given_up(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "SLOW_SECONDS", 0.01)
    host.script("    def session_new(agent, request): return NO_ANSWER")
    host.open()
    host.prompt("go")
    await host.until("the words", lambda: "has not opened the session yet. :AcpCancel" in "".join(host.notices()))
    host.cancel()
    await host.until_state("stopped")
    assert len(host.notices()) == 2


async def test_who_is_quick_is_not_told_of(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[anyio.CancelScope] = []

    async def waits(_connecting: object, patience: anyio.CancelScope) -> None:
        waiting.append(patience)

    monkeypatch.setattr(connecting.Connecting, "_say_that_it_takes_time", waits)
    host.script("")
    assert await host.turn("go") == "end_turn"
    assert [patience.cancel_called for patience in waiting] == [True]


@pytest.mark.parametrize("last", [b"LLM not set: run kimi login\n", b"LLM not set: run kimi login"])
async def test_what_an_agent_says_on_stdout_before_it_ends_is_why(host: Host, last: bytes) -> None:
    host.script(f"""
        def start(agent):
            agent.raw(b"\\x1b[31mhello\\x1b[0m\\n" + {last!r})
            agent.exit(1)
    """)
    host.open()
    await host.until_state("failed")
    assert "  hello\n  LLM not set: run kimi login" in host.notices()[-1]
    assert ":AcpLogin" in host.notices()[-1]


async def test_what_an_agent_says_on_stdout_in_a_turn_that_it_does_not_end_is_why(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            agent.raw(b"LLM not set\\n")
            agent.exit(1)
    """)
    await host.turn()
    assert host.notices()[-1].endswith("It said:\n  LLM not set")
