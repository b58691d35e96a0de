"""All that terminals showed, opened by the user: ours, the agents' own, live, and after everything has ended."""

from __future__ import annotations

import base64

import pytest

from acp_nvim.acp.terminal import Exit, TerminalPatch
from acp_nvim.acp.updates import TerminalChanged, TerminalNews, TerminalPrinted
from acp_nvim.contract import events
from acp_nvim.contract.events import TerminalOutput
from acp_nvim.limits import TERMINAL_BYTES, TERMINAL_LINE_BYTES, TERMINAL_LINES
from acp_nvim.transcript import shown_terminals, terminal_registry
from acp_nvim.transcript.terminal_registry import TerminalRegistry
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

WAIT = "while [ ! -e go ]; do sleep 0.01; done"


@pytest.fixture
def host(free_host: Host) -> Host:
    """Commands are allowed, and none outlives it."""
    return free_host


def output(host: Host, number: int = 1) -> list[TerminalOutput]:
    """What was told of an open terminal since it was told as a whole."""
    told = [one for one in host.of(TerminalOutput) if one.terminal == number]
    return told[max(at for at, one in enumerate(told) if one.whole) :]


def text(host: Host, number: int = 1) -> bytes:
    """Return the bytes that the terminal buffer got."""
    return b"".join(one.data for one in output(host, number))


def open_terminal(host: Host, number: int = 1) -> None:
    host.app.receive("terminal_open", {"session": 1, "terminal": number})


def items(host: Host) -> list[events.TerminalItem]:
    """Return the terminals that the chat shows."""
    return [item for call in host.calls().values() for item in call.content if isinstance(item, events.TerminalItem)]


RUNS = f"""
def turn(agent, prompt):
    line = "printf '\\\\033[31mone\\\\033[0m\\\\n'; {WAIT}; printf 'two\\\\377\\\\000\\\\303'; exit 3"
    terminal = prompt.terminal(line)
    prompt.tool("c", "Run", kind="execute", content=[dict(type="terminal", terminalId=terminal)])
    prompt.ask_terminal("wait_for_exit", terminal)
    prompt.ask_terminal("release", terminal)
"""


async def test_one_of_ours_is_seen_live_byte_for_byte_and_when_all_is_over(host: Host) -> None:
    host.script(RUNS)
    host.open()
    host.prompt("go")
    await host.until("the output", lambda: [one.output for one in items(host)] == ["one"])
    open_terminal(host)
    assert output(host) == [TerminalOutput(session=1, terminal=1, data=b"\x1b[31mone\x1b[0m\n", whole=True)]
    (host.cwd / "go").touch()
    await host.until("its end", lambda: output(host)[-1].exit_code == 3)
    whole = b"\x1b[31mone\x1b[0m\ntwo\xff\x00\xc3"
    assert text(host) == whole
    await host.editor.until_event(events.TurnEnd)
    host.stop()
    await host.until_state("stopped")
    open_terminal(host)
    assert output(host) == [TerminalOutput(session=1, terminal=1, data=whole, whole=True, exit_code=3)]


async def test_nothing_is_told_of_what_nobody_opened_or_of_what_was_closed(host: Host) -> None:
    host.script(RUNS)
    host.open()
    host.prompt("go")
    await host.until("the output", lambda: [one.output for one in items(host)] == ["one"])
    assert host.of(TerminalOutput) == []
    open_terminal(host)
    host.app.receive("terminal_close", {"session": 1, "terminal": 1})
    host.app.receive("terminal_close", {"session": 1, "terminal": 1})
    (host.cwd / "go").touch()
    await host.editor.until_event(events.TurnEnd)
    told = [(one.data, one.whole) for one in host.of(TerminalOutput)]
    assert told == [(b"\x1b[31mone\x1b[0m\n", True), (b"", True)]


@pytest.mark.parametrize("number", [0, 2, -1])
async def test_what_there_is_not_cannot_be_opened(host: Host, number: int) -> None:
    host.script('def turn(agent, prompt): prompt.run("echo one")')
    await host.turn()
    open_terminal(host, number)
    assert host.of(TerminalOutput) == []
    assert host.editor.all(events.Error) == []


META = """
def turn(agent, prompt):
    shown = [{"type": "terminal", "terminalId": "call"}]
    prompt.tool("call", "npm test", kind="execute", status="in_progress", content=shown,
                _meta={"terminal_info": {"terminal_id": "call", "cwd": "/elsewhere"}})
    for data in ("Running \\033[1mtests\\033[0m\\n", "1 passed\\n"):
        prompt.tool_update("call", _meta={"terminal_output": {"terminal_id": "call", "data": data}})
    prompt.tool_update("call", status="completed",
                       _meta={"terminal_exit": {"terminal_id": "call", "exit_code": 2, "signal": None}})
"""


async def test_commands_that_an_adapter_tells_of_in_meta_are_terminals(host: Host) -> None:
    host.script(META)
    await host.turn()
    assert items(host) == [
        events.TerminalItem(
            "call", command="npm test", cwd="/elsewhere", output="Running tests\n1 passed", exit_code=2, number=1
        )
    ]
    open_terminal(host)
    assert text(host) == b"Running \x1b[1mtests\x1b[0m\n1 passed\n"
    [started] = host.scripts["it"].received("initialize")
    assert started["params"]["clientCapabilities"]["_meta"]["terminal_output"] is True


async def test_output_is_shown_although_the_content_names_no_terminal(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "ls", kind="execute", status="in_progress")
            prompt.tool_update("c", _meta={"terminal_output_delta": {"data": "a.txt\\n"}})
            prompt.tool_update("c", content=[{"type": "content", "content": {"type": "text", "text": "words"}}])
            prompt.tool_update("c", status="completed", _meta={"terminal_output_delta": {"data": "b.txt\\n"}})
    """)
    await host.turn()
    [call] = host.calls().values()
    assert call.content == [
        events.TextItem("words"),
        events.TerminalItem("c", command="ls", output="a.txt\nb.txt", number=1),
    ]
    assert call.status == "completed"


V2 = """
def initialize(agent, request):
    return {"protocolVersion": 2, "info": {"name": "it", "version": "1"}, "capabilities": {}}
def turn(agent, prompt):
    shown = [{"type": "terminal", "terminalId": "t"}]
    prompt.update("tool_call_update", toolCallId="c", title="Run", kind="execute", content=shown)
    prompt.update("terminal_update", terminalId="t", command="make", cwd="/p")
    for data in %r:
        prompt.update("terminal_output_chunk", terminalId="t", data=data)
    prompt.update("terminal_update", terminalId="t", exitStatus={"exitCode": 0})
"""


async def test_a_terminal_of_version_2_arrives_byte_for_byte(host: Host) -> None:
    host.hello(protocol={"v2": True})
    data = "\x1b[32mgrün 語\x1b[0m\n".encode() + b"\xff\x00end"
    host.script(V2 % [base64.b64encode(data[at : at + 1]).decode() for at in range(len(data))])
    host.open()
    host.prompt("go")
    await host.until("its end", lambda: [one.exit_code for one in items(host)] == [0])
    open_terminal(host)
    assert (text(host), output(host)[-1].exit_code) == (data, 0)


async def test_the_chat_keeps_what_terminals_showed_when_the_agent_is_started_again(host: Host) -> None:
    host.script(META + '    prompt.say(prompt.run("echo ours")["output"])\n')
    await host.turn("one")
    [before] = items(host)
    host.stop()
    await host.until_state("stopped")
    await host.turn("two")
    first, second = items(host)
    assert (first, second.number, second.output) == (before, 3, before.output)
    host.editor.events.clear()
    host.app.receive("redraw", {"session": 1})
    assert items(host) == [first, second]
    open_terminal(host)
    assert text(host) == b"Running \x1b[1mtests\x1b[0m\n1 passed\n"


@pytest.mark.usefixtures("patient")
async def test_the_end_of_a_command_is_told_although_a_new_agent_has_begun(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            terminal = prompt.terminal("echo one; exec sleep 1000")
            prompt.tool("c", "Run", kind="execute", content=[dict(type="terminal", terminalId=terminal)])
            prompt.wait_cancelled()
    """)
    host.open()
    host.prompt("go")
    await host.until("the output", lambda: [one.output for one in items(host)] == ["one"])
    terminals = host.app.sessions[1].presenter.transcript
    terminals.begin_agent()
    host.stop()
    await host.until("its end", lambda: [one.signal for one in items(host)] == ["SIGTERM"])


# --- what is kept ----------------------------------------------------------------------------------------------------


def printed(terminal_id: str, data: bytes) -> TerminalNews:
    return TerminalPrinted(terminal_id, data)


def whole(terminals: TerminalRegistry, number: int) -> TerminalOutput:
    """All that there is of one."""
    told = terminals.open(number)
    assert told is not None
    return told


async def test_of_too_much_the_end_is_kept_from_a_whole_line_on_and_the_rest_is_counted() -> None:
    terminals = TerminalRegistry(1)
    lines = b"".join(b"line %d\n" % number for number in range(300_000))
    for at in range(0, len(lines), 65_536):
        terminals.take(printed("t", lines[at : at + 65_536]))
    told = whole(terminals, 1)
    assert TERMINAL_BYTES - TERMINAL_LINE_BYTES <= len(told.data) <= 2 * TERMINAL_BYTES
    assert told.data == lines[told.dropped :]
    assert told.data.startswith(b"line ")


async def test_what_nobody_could_look_at_in_time_is_counted(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_terminals, "TERMINAL_SHOW_SECONDS", 3600)
    host.script(f"""
        def turn(agent, prompt):
            prompt.run("printf before; {WAIT}; seq 1000000")
    """)
    host.open()
    host.prompt("go")
    terminals = host.app.sessions[1].requests.terminals
    await host.until("the terminal", lambda: terminals._shown._printed != {})
    terminals._shown._show()
    open_terminal(host)
    (host.cwd / "go").touch()
    await host.editor.until_event(events.TurnEnd)
    lines = b"before" + b"".join(b"%d\n" % number for number in range(1, 1_000_001))
    first, last = output(host)[0], output(host)[1]
    assert (first.data, last.exit_code) == (b"before", None)
    assert len(last.data) >= TERMINAL_BYTES - TERMINAL_LINE_BYTES
    assert lines.endswith(last.data)
    assert lines[: -len(last.data)].endswith(b"\n")
    assert last.dropped == len(lines) - len(last.data) - len(b"before")
    open_terminal(host)
    assert output(host)[0].dropped == len(lines) - len(output(host)[0].data)


async def test_of_too_many_terminals_the_oldest_keep_what_the_chat_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_registry, "TERMINALS_BYTES", 100_000)
    terminals, line = TerminalRegistry(1), b"x" * 99 + b"\n"
    for number in range(1, 6):
        terminals.take(printed(f"t{number}", line * 400))
    sizes = [len(whole(terminals, number).data) for number in range(1, 6)]
    assert sizes == [TERMINAL_LINES * TERMINAL_LINE_BYTES] * 4 + [40_000]
    assert whole(terminals, 1).dropped == 20_000
    assert terminals._size == sum(sizes)


async def test_a_snapshot_is_told_as_a_whole() -> None:
    terminals = TerminalRegistry(1)
    terminals.take(printed("t", b"one"))
    whole(terminals, 1)
    _, told = terminals.take(TerminalChanged(TerminalPatch(terminal_id="t", output=b"two")))
    assert told == TerminalOutput(session=1, terminal=1, data=b"two", whole=True)
    _, told = terminals.take(TerminalChanged(TerminalPatch(terminal_id="t", exit=Exit(signal="SIGHUP"))))
    assert told == TerminalOutput(session=1, terminal=1, signal="SIGHUP")
    assert repr(terminals) == "<TerminalRegistry 1, 3 bytes, opened: [1]>"


async def test_the_id_of_an_earlier_agent_is_another_terminal_but_for_ours() -> None:
    terminals = TerminalRegistry(1)
    terminals.take(TerminalChanged(TerminalPatch(terminal_id="ours", ours=True)))
    terminals.take(printed("t", b"old"))
    terminals.begin_agent()
    terminals.take(printed("t", b"new"))
    terminals.take(printed("ours", b"more"))
    assert [whole(terminals, number).data for number in (1, 2, 3)] == [b"more", b"old", b"new"]


@pytest.mark.parametrize(
    ("title", "command"), [("`npm test`", "npm test"), ("", None), ("Run\nboth", "Run\nboth"), ("``` `", None)]
)
async def test_a_terminal_that_nobody_has_described_has_the_title_of_its_call(
    host: Host, title: str, command: str | None
) -> None:
    host.script(f"""
        def turn(agent, prompt):
            prompt.tool("toolu_14c9", {title!r}, kind="execute",
                        content=[{{"type": "terminal", "terminalId": "toolu_14c9"}}])
    """)
    await host.turn()
    assert items(host) == [events.TerminalItem("toolu_14c9", command=command, number=1)]


async def test_the_title_that_a_call_has_now_counts_until_its_command_is_known(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "Terminal", kind="execute", content=[{"type": "terminal", "terminalId": "c"}])
            prompt.tool_update("c", title="ls")
    """)
    await host.turn()
    assert [one.command for one in items(host)] == ["ls"]


async def test_the_title_of_a_call_that_runs_nothing_is_no_command(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "Edited a file", kind="edit", content=[{"type": "terminal", "terminalId": "c"}])
    """)
    await host.turn()
    assert [one.command for one in items(host)] == [None]
