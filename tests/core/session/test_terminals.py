"""Terminals of an agent: what it asks and gets, what the user sees, and that nothing outlives the session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from acp_nvim.contract import events
from acp_nvim.limits import TERMINAL_BYTES
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.session.requests import terminals
from acp_nvim.transcript import shown_terminals
from tests.core.session.host import Host
from tests.support.processes import kill, marked
from tests.support.schemas import load

pytestmark = pytest.mark.anyio

WAIT = "while [ ! -e go ]; do sleep 0.01; done"
"""A line of shell that waits for the test."""

ANSWERS = {
    "create": "CreateTerminalResponse",
    "output": "TerminalOutputResponse",
    "wait_for_exit": "WaitForTerminalExitResponse",
    "kill": "KillTerminalResponse",
    "release": "ReleaseTerminalResponse",
}


@pytest.fixture
def host(free_host: Host) -> Host:
    """Commands are allowed, and none outlives it."""
    return free_host


def script(host: Host, turn: str, is_process: bool = False) -> None:
    """An agent with that turn, which may call `attempt`."""
    host.script(
        """
    def attempt(agent, work):
        try:
            agent.note(result=work())
        except Error as error:
            agent.note(error=[error.code, error.message])

    def turn(agent, prompt):
"""
        + "".join(f"        {line}\n" for line in turn.strip("\n").splitlines()),
        is_process=is_process,
    )


def results(host: Host) -> list[Any]:
    """Return the results that the agent noted."""
    return host.scripts["it"].notes("result")


def errors(host: Host) -> list[Any]:
    """The errors that the agent got."""
    return host.scripts["it"].notes("error")


# --- what the agent gets ---------------------------------------------------------------------------------------------


async def test_a_command_from_its_start_to_its_release(host: Host) -> None:
    script(
        host,
        """
terminal = prompt.terminal("sh", "-c", "echo to-stdout; echo to-stderr >&2; exit 3")
for what in ("wait_for_exit", "output", "release", "output"):
    attempt(agent, lambda: prompt.ask_terminal(what, terminal))
""",
    )
    await host.turn()
    exit_status = {"exitCode": 3, "signal": None}
    output = {"output": "to-stdout\nto-stderr\n", "truncated": False, "exitStatus": exit_status}
    assert results(host) == [exit_status, output, {}]
    [[code, words]] = errors(host)
    assert code == -32602
    assert words.startswith("terminal/output: there is no terminal 'terminal-")


@pytest.mark.usefixtures("patient")
async def test_what_is_answered_is_what_the_schema_wants(host: Host) -> None:
    script(
        host,
        """
terminal = prompt.request("terminal/create", command="exec sleep 1000", cwd=os.getcwd(), outputByteLimit=None)
agent.note(create=terminal)
for what in ("output", "kill", "wait_for_exit", "output", "release"):
    agent.note(**{what: prompt.ask_terminal(what, terminal["terminalId"])})
""",
    )
    await host.turn()
    for what, name in ANSWERS.items():
        for answer in host.scripts["it"].notes(what):
            schema = {"$defs": load("v1")["$defs"], "$ref": f"#/$defs/{name}"}
            jsonschema_rs.Draft202012Validator(schema).validate(answer)
    [before, after] = host.scripts["it"].notes("output")
    assert "exitStatus" not in before
    assert after["exitStatus"] == {"exitCode": None, "signal": "SIGTERM"}


async def test_a_line_of_shell_runs_in_the_users_shell_where_the_session_works(host: Host) -> None:
    line, env = "pwd -P && echo $FOO | tr a-z A-Z", [{"name": "FOO", "value": "x"}]
    script(host, f"attempt(agent, lambda: prompt.run({line!r}, env={env}))")
    await host.turn()
    assert [one["output"] for one in results(host)] == [f"{host.cwd}\nX\n"]


@pytest.mark.usefixtures("patient")
async def test_output_can_be_asked_while_it_runs_and_after_it_was_killed(host: Host) -> None:
    script(
        host,
        f"""
terminal = prompt.terminal("echo one; {WAIT}; echo two; exec sleep 1000")
def output(end):
    while not (got := prompt.ask_terminal("output", terminal))["output"].endswith(end):
        time.sleep(0.01)
    agent.note(result=got)
output("one\\n")
open("go", "w").close()
output("two\\n")
waiting = [agent.call("terminal/wait_for_exit", dict(sessionId=prompt.session_id, terminalId=terminal)) for _ in "123"]
prompt.ask_terminal("kill", terminal)
agent.note(waited=[call.result() for call in waiting])
output("two\\n")
prompt.ask_terminal("kill", terminal)
""",
    )
    await host.turn()
    assert [one["output"] for one in results(host)] == ["one\n", "one\ntwo\n", "one\ntwo\n"]
    assert host.scripts["it"].notes("waited") == [[{"exitCode": None, "signal": "SIGTERM"}] * 3]


@pytest.mark.parametrize("what", ["output", "wait_for_exit", "kill", "release"])
async def test_a_terminal_that_is_not_known_is_an_error_in_words(host: Host, what: str) -> None:
    script(host, f'attempt(agent, lambda: prompt.ask_terminal({what!r}, "term-1"))')
    await host.turn()
    assert errors(host) == [[-32602, f"terminal/{what}: there is no terminal 'term-1', or it was released"]]


async def test_a_terminal_of_another_session_is_not_known(host: Host) -> None:
    script(
        host,
        """
if prompt.text == "make":
    open("id", "w").write(prompt.terminal("exec sleep 1000"))
else:
    attempt(agent, lambda: prompt.ask_terminal("kill", open("id").read()))
""",
    )
    await host.turn("make")
    await host.turn("kill", key=2)
    assert len(errors(host)) == 1


@pytest.mark.parametrize(
    ("limit", "output", "truncated"),
    [(100, "öö\nabc\n", False), (9, "öö\nabc\n", False), (8, "ö\nabc\n", True), (7, "ö\nabc\n", True), (0, "", True)],
)
async def test_the_end_of_the_output_is_kept(host: Host, limit: int, output: str, truncated: bool) -> None:
    script(host, f'attempt(agent, lambda: prompt.run("printf", "öö\\\\nabc\\\\n", outputByteLimit={limit}))')
    await host.turn()
    assert [(one["output"], one["truncated"]) for one in results(host)] == [(output, truncated)]


@pytest.mark.parametrize("limit", ["None", "99999999999"])
async def test_no_agent_gets_more_than_our_limit(host: Host, limit: str) -> None:
    line = f"head -c {TERMINAL_BYTES} /dev/zero | tr '\\\\0' a; echo end"
    script(host, f'attempt(agent, lambda: prompt.run("{line}", outputByteLimit={limit}))')
    await host.turn()
    [got] = results(host)
    assert (len(got["output"]), got["output"][-5:], got["truncated"]) == (TERMINAL_BYTES, "aend\n", True)


async def test_it_runs_below_the_roots_only(host: Host) -> None:
    (host.cwd / "sub").mkdir()
    (host.cwd / "file").touch()
    (host.cwd / "out").symlink_to(host.directory)
    script(
        host,
        """
for cwd in ("sub", "out", "file", "missing", "..", ""):
    attempt(agent, lambda: prompt.run("pwd", cwd=os.path.join(os.getcwd(), cwd)))
attempt(agent, lambda: prompt.run("pwd", cwd="sub"))
""",
    )
    await host.turn()
    assert [one["output"] for one in results(host)] == [f"{host.cwd / 'sub'}\n", f"{host.cwd}\n"]
    outside = f"is outside of the session's directory {host.cwd}"
    assert errors(host) == [
        [-32602, f"{host.cwd}/out {outside}"],
        [-32602, f"{host.cwd}/file is not a directory, so that no command can run there"],
        [-32602, f"{host.cwd}/missing is not a directory, so that no command can run there"],
        [-32602, f"{host.cwd}/.. {outside}"],
        [-32602, "sub is not an absolute path, which the protocol asks for"],
    ]


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        ('"no-such-program", "x"', -32603, "no-such-program cannot be run in {cwd}: No such file or directory"),
        ('"ls", "a\\0b"', -32603, "ls cannot be run in {cwd}: embedded null byte"),
        (
            '"ls", env=[dict(name="=", value="")]',
            -32603,
            "ls cannot be run in {cwd}: illegal environment variable name",
        ),
        ('""', -32602, "terminal/create: there is no command"),
        ("5", -32602, "terminal/create: Expected `str`, got `int` - at `$.command`"),
    ],
)
async def test_what_cannot_be_run_is_an_error_in_words(host: Host, asked: str, code: int, words: str) -> None:
    script(host, f"attempt(agent, lambda: prompt.terminal({asked}))")
    await host.turn()
    assert errors(host) == [[code, words.format(cwd=host.cwd)]]


async def test_who_never_releases_loses_those_that_ended_first(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminals, "TERMINALS", 2)
    script(
        host,
        """
first = prompt.terminal("exec sleep 1000")
second = prompt.terminal("echo second")
prompt.ask_terminal("wait_for_exit", second)
third = prompt.terminal("exec sleep 1000")
attempt(agent, lambda: prompt.ask_terminal("output", second))
attempt(agent, lambda: prompt.terminal("echo fourth"))
prompt.ask_terminal("release", first)
attempt(agent, lambda: prompt.run("echo fifth")["output"])
""",
    )
    await host.turn()
    assert [code for code, _ in errors(host)] == [-32602, -32603]
    assert errors(host)[1][1] == "2 terminals are open already, and no more are taken: release some"
    assert results(host) == ["fifth\n"]


async def test_nothing_is_run_for_a_turn_that_was_cancelled(host: Host) -> None:
    script(
        host,
        """
prompt.say("made")
prompt.wait_cancelled()
attempt(agent, lambda: prompt.run("touch here"))
""",
    )
    host.open()
    host.prompt("go")
    await host.until("the agent", lambda: host.text() == "made")
    host.cancel()
    await host.editor.until_event(events.TurnEnd)
    assert errors(host) == [[-32602, "The user has cancelled this: nothing is run for it any more"]]
    assert not (host.cwd / "here").exists()


async def test_version_2_has_no_such_requests(host: Host) -> None:
    host.hello(protocol={"v2": True})
    host.script("""
        def initialize(agent, request):
            return {"protocolVersion": 2, "info": {"name": "it", "version": "1"}, "capabilities": {}}
        def opened(agent, session_id):
            try:
                agent.request("terminal/create", {"sessionId": session_id, "command": "ls"})
            except Error as error:
                agent.note(code=error.code)
    """)
    host.open()
    assert await host.until_note("code") == [-32601]


# --- what the user sees ----------------------------------------------------------------------------------------------


async def test_a_tool_call_shows_the_terminal_also_when_it_is_released(host: Host) -> None:
    script(
        host,
        f"""
terminal = prompt.terminal("printf '\\\\033[31mone\\\\033[0m\\\\n'; {WAIT}; echo two; exit 3")
prompt.tool("c", "Run", kind="execute", status="in_progress", content=[dict(type="terminal", terminalId=terminal)])
prompt.ask_terminal("wait_for_exit", terminal)
prompt.ask_terminal("release", terminal)
prompt.tool_update("c", status="completed")
""",
    )
    host.open()
    host.prompt("go")
    words = f"printf '\\033[31mone\\033[0m\\n'; {WAIT}; echo two; exit 3"
    await host.until("the output", lambda: [one.output for one in shown(host)] == ["one"])
    [running] = shown(host)
    assert (running.command, running.cwd, running.exit_code) == (words, str(host.cwd), None)
    (host.cwd / "go").touch()
    await host.editor.until_event(events.TurnEnd)
    [ended] = shown(host)
    assert (ended.command, ended.output, ended.exit_code) == (words, "one\ntwo", 3)
    host.editor.events.clear()
    host.app.receive("redraw", {"session": 1})
    assert shown(host) == [ended]


def shown(host: Host) -> list[events.TerminalItem]:
    """Return the terminals that the chat shows."""
    return [item for call in host.calls().values() for item in call.content if isinstance(item, events.TerminalItem)]


async def test_the_chat_looks_at_a_flood_now_and_then_only(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_terminals, "TERMINAL_SHOW_SECONDS", 3600)
    script(
        host,
        """
terminal = prompt.terminal("go() { while [ ! -e go ]; do sleep 0.01; done; }; go; seq 1 400000; echo end")
prompt.tool("c", "Run", kind="execute", content=[dict(type="terminal", terminalId=terminal)])
open("go", "w").close()
prompt.ask_terminal("wait_for_exit", terminal)
""",
    )
    await host.turn()
    [flood] = shown(host)
    assert (flood.output, flood.lines) == ("\n".join(map(str, range(1, 9))), 400_001 - 20)
    assert flood.tail.endswith("\n399999\n400000\nend")
    assert len(host.of(events.ToolCall)) <= 4


async def test_when_a_command_has_ended_files_may_be_others_before_the_agent_hears_of_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(
        host,
        f"""
terminal = prompt.terminal("{WAIT}")
prompt.say("made")
prompt.ask_terminal("wait_for_exit", terminal)
prompt.say("ended")
""",
    )
    host.open()
    seen: list[str] = []
    monkeypatch.setattr(TurnChanges, "request_scan", lambda changes: seen.append(host.text()))
    host.prompt("go")
    await host.until("the terminal", lambda: host.text() == "made")
    assert host.of(events.FilesMaybeChanged) == []
    (host.cwd / "go").touch()
    await host.editor.until_event(events.TurnEnd)
    assert seen == ["made"]
    kinds = [type(event) for event in host.of(events.Append) + host.of(events.FilesMaybeChanged)]
    assert kinds.count(events.FilesMaybeChanged) == 2  # and at the end of the turn
    everything = [type(event) for event in host.editor.events]
    assert everything.index(events.FilesMaybeChanged) < len(everything) - 1 - everything[::-1].index(events.Append)


async def test_a_hundred_run_at_once_and_each_has_its_own_output_and_end(host: Host) -> None:
    script(
        host,
        """
os.mkfifo("go")
go = open("go", "r+b", buffering=0)
running = [prompt.terminal(f"echo {n}; read line <go; echo {n}; exit {n}") for n in range(100)]
try:
    prompt.terminal("echo one too many")
except Error as error:
    agent.note(error=[error.code, error.message])
go.write(b"\\n" * 100)
calls = [agent.call("terminal/wait_for_exit", dict(sessionId=prompt.session_id, terminalId=one)) for one in running]
agent.note(codes=[call.result()["exitCode"] for call in calls])
agent.note(outputs=[prompt.ask_terminal("output", one)["output"] for one in running])
for one in running:
    prompt.ask_terminal("release", one)
attempt(agent, lambda: prompt.run("echo again")["output"])
""",
    )
    await host.turn()
    assert host.scripts["it"].notes("codes") == [list(range(100))]
    assert host.scripts["it"].notes("outputs") == [[f"{number}\n{number}\n" for number in range(100)]]
    assert errors(host) == [[-32603, "100 terminals are open already, and no more are taken: release some"]]
    assert results(host) == ["again\n"]


# --- nothing outlives the session ------------------------------------------------------------------------------------

LEAVES = """
prompt.terminal("echo $$; exec sleep 1000")
prompt.run("sleep 1000 & setsid sleep 1000 & exit 0")
prompt.terminal("trap '' TERM; while :; do sleep 1; done")
prompt.say("made")
prompt.wait_cancelled()
"""


async def left(host: Host, mark: str) -> None:
    """The agent has terminals that run, in the middle of a turn."""
    script(host, LEAVES, is_process=True)
    host.open()
    host.prompt("go")
    await host.until("the terminals", lambda: host.text() == "made")
    assert len(of_terminals(mark)) >= 4


def of_terminals(mark: str) -> list[str]:
    """What runs for terminals; git looks for what they have changed."""
    others = ("scripted_agent", "guard.py")
    found = [process for process in marked(mark) if Path((process.command or ("",))[0]).name != "git"]
    return [words for process in found if not any(other in (words := str(process)) for other in others)]


@pytest.mark.parametrize("how", ["stop", "dies"])
async def test_with_the_agent_all_of_its_terminals_end(host: Host, mark: str, how: str) -> None:
    await left(host, mark)
    if how == "dies":
        [pid] = host.scripts["it"].notes("started")
        kill([process for process in marked(mark) if process.pid == pid])
    else:
        host.stop()
    await host.until_state("failed" if how == "dies" else "stopped")
    await host.until("the end of all", lambda: of_terminals(mark) == [])
    assert repr(host.app.sessions[1].requests.terminals).startswith("<AgentTerminals {} allow")


@pytest.mark.parametrize("what", ["kill", "release"])
async def test_grandchildren_end_with_their_terminal(host: Host, mark: str, what: str) -> None:
    script(
        host,
        f"""
terminal = prompt.terminal("(sleep 1000 & setsid sh -c 'sleep 1000 & wait' &) ; sleep 1000 & echo $$; exec sleep 1000")
while not prompt.ask_terminal("output", terminal)["output"]:
    time.sleep(0.01)
prompt.say("made")
while prompt.text == "wait" and not os.path.exists("go"):
    time.sleep(0.01)
prompt.ask_terminal({what!r}, terminal)
""",
    )
    host.open()
    host.prompt("wait")
    await host.until("the terminal", lambda: host.text() == "made" and len(of_terminals(mark)) >= 4)
    (host.cwd / "go").touch()
    await host.editor.until_event(events.TurnEnd)
    assert of_terminals(mark) == []


async def test_what_other_sessions_of_the_agent_run_goes_on(host: Host, mark: str) -> None:
    await left(host, mark)
    host.open(2)
    host.prompt("go", 2)
    await host.until("the terminals", lambda: host.text(key=2) == "made")
    before = len(of_terminals(mark))
    host.stop(1)
    await host.until("the end of half", lambda: 4 <= len(of_terminals(mark)) < before - 3)


async def test_a_command_that_is_just_started_when_the_agent_is_left_does_not_stay(
    host: Host, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(host, 'agent.call("terminal/create", dict(sessionId=prompt.session_id, command="exec sleep 1000"))')
    host.open()
    await host.until_state("idle")
    session = host.app.sessions[1]
    asked = session.requests.terminals
    start = terminals.Terminal.start

    async def stopped_meanwhile(*args: Any) -> Any:
        terminal = await start(*args)
        host.stop()
        return terminal

    monkeypatch.setattr(terminals.Terminal, "start", stopped_meanwhile)
    host.prompt("go")
    await host.until_state("stopped")
    await host.until("its end", lambda: of_terminals(mark) == [] and asked._alive == set())


@pytest.mark.usefixtures("patient")
async def test_a_fault_of_ours_takes_nothing_else_along(host: Host, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: Any) -> None:
        raise RuntimeError("a bug")

    turn = 'attempt(agent, lambda: prompt.ask_terminal("wait_for_exit", prompt.terminal("echo x; exec sleep 1000")))'
    script(host, turn)
    host.open()
    monkeypatch.setattr(host.app.sessions[1].requests.terminals._shown, "printed", fault)
    assert await host.turn() == "end_turn"
    assert results(host) == [{"exitCode": None, "signal": "SIGTERM"}]
    await host.until("its end", lambda: of_terminals(mark) == [])
    await host.until("the log", lambda: "a bug" in host.log_path.read_text())
