"""A command in a terminal: what it takes it for, what it prints, how it ends, and that nothing is left of it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.process import stopping
from acp_nvim.process.guarding import Guard
from acp_nvim.terminals.command_line import command_to_run
from acp_nvim.terminals.terminal import TERMINAL_COLUMNS, TERMINAL_ROWS, Ended, Listener, PseudoTerminal, Terminal
from tests.core.terminals.conftest import LIMIT_SECONDS, Heard, Start, until
from tests.support.processes import MARK, look_at, marked

pytestmark = pytest.mark.anyio


async def end_of(terminal: Terminal) -> Ended:
    """Wait for the end of the command, within a limit."""
    with anyio.fail_after(LIMIT_SECONDS):
        return await terminal.wait()


async def output_of(shell: Start, line: str) -> str:
    """All that a line of shell prints."""
    terminal, _ = await shell(line)
    await end_of(terminal)
    return terminal.output.text


@pytest.fixture
def merciless(monkeypatch: pytest.MonkeyPatch, patient: None) -> None:
    """Kill at once what ignores SIGTERM."""
    monkeypatch.setattr(stopping, "TERM_GRACE_SECONDS", 0.05)


# --- what the command sees -------------------------------------------------------------------------------------------


async def test_it_prints_on_a_terminal_of_a_size(shell: Start) -> None:
    said = await output_of(shell, "test -t 1 && test -t 2 && echo both; stty size <&1; echo $TERM")
    assert said == f"both\n{TERMINAL_ROWS} {TERMINAL_COLUMNS}\nxterm-256color\n"


async def test_programs_that_colour_for_a_screen_colour(shell: Start, tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    terminal, heard = await shell("ls --color=auto", cwd=str(tmp_path))
    await end_of(terminal)
    assert b"\x1b[" in heard.printed
    assert terminal.output.text == "directory\n"


async def test_who_reads_gets_the_end_of_a_file_and_not_stuck(shell: Start) -> None:
    line = "test -t 0 || echo none; read x || echo end; cat; (echo hi > /dev/tty) 2>/dev/null || echo no"
    said = await output_of(shell, line)
    assert said == "none\nend\nno\n"


async def test_it_runs_in_its_directory_in_a_session_of_its_own(shell: Start, tmp_path: Path) -> None:
    terminal, heard = await shell("pwd -P; cat /proc/self/stat | cut -d' ' -f6; sleep 1000", cwd=str(tmp_path))
    await heard.until(f"{terminal.pid}\n".encode())
    assert heard.printed.decode() == f"{tmp_path}\n{terminal.pid}\n"
    assert terminal.pid != os.getsid(0)


@pytest.mark.parametrize(
    ("command", "cwd", "error"),
    [
        (["/no/such/program", "x"], "/", FileNotFoundError),
        (["/", "x"], "/", PermissionError),
        (["ls", "x"], "/no/such/directory", FileNotFoundError),
        (["ls", "a\0b"], "/", ValueError),
    ],
)
async def test_what_cannot_be_started_raises_and_leaves_nothing_open(
    guard: Guard, command: list[str], cwd: str, error: type[Exception]
) -> None:
    process, mark = await guard.start(["true"], "/", {})  # the guard runs from here on
    await process.aclose()
    guard.forget(mark)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(error):
        await Terminal.start(command_to_run(command[0], command[1:], cwd, {}), 100, guard)
    assert len(os.listdir("/proc/self/fd")) == len(before)


# --- what it prints --------------------------------------------------------------------------------------------------


async def test_bytes_arrive_as_they_were_printed(start: Start) -> None:
    code = "import os; os.write(1, bytes(range(256)) + b'\\n\\r\\n' * 9); os.write(2, 'é語'.encode())"
    terminal, heard = await start(sys.executable, "-c", code)
    await end_of(terminal)
    assert heard.before_end == bytes(range(256)) + b"\n\r\n" * 9 + "é語".encode()


async def test_a_colour_is_for_those_who_show_it_only(shell: Start) -> None:
    terminal, heard = await shell("printf '\\033[31mred\\033[0m\\n'")
    await end_of(terminal)
    assert heard.printed == b"\x1b[31mred\x1b[0m\n"
    assert terminal.output.text == "red\n"


async def test_what_is_printed_so_far_can_be_seen_while_it_runs(shell: Start) -> None:
    terminal, heard = await shell("echo one; while [ ! -e stop ]; do sleep 0.01; done")
    await heard.until(b"one\n")
    assert (terminal.output.text, terminal.ended) == ("one\n", None)


async def test_all_that_it_printed_is_there_when_its_end_is_told(shell: Start) -> None:
    for number in range(30):
        terminal, heard = await shell(f"sleep 1000 & seq {number} 3000; echo last")
        assert await end_of(terminal) == Ended(exit_code=0)
        assert heard.before_end.endswith(b"\n3000\nlast\n")
        await terminal.end()


async def test_much_output_is_read_while_others_work_and_only_its_end_is_kept(shell: Start) -> None:
    megabytes = 20
    terminal, heard = await shell(f"head -c {megabytes}000000 /dev/zero | tr '\\0' x; echo end", limit=1000)
    heard.printed = b""
    terminal_turns = others = 0
    while terminal.ended is None:
        await anyio.lowlevel.checkpoint()
        others += 1
        terminal_turns += bool(heard.printed)
        heard.printed = b""
        assert len(terminal.output._kept) <= 2 * 1000 + 65_536
    assert terminal.output.text == "x" * 996 + "end\n"
    assert terminal.output.truncated
    assert others >= terminal_turns > megabytes


# --- how it ends -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("exit 0", Ended(exit_code=0)),
        ("exit 3", Ended(exit_code=3)),
        ("kill -9 $$", Ended(signal="SIGKILL")),
        ("kill -35 $$", Ended(signal="signal 35")),
    ],
)
async def test_the_code_or_the_signal_is_told_once(shell: Start, line: str, ended: Ended) -> None:
    terminal, heard = await shell(line)
    assert await end_of(terminal) == ended == terminal.ended
    assert heard.ended == [ended]


async def test_any_number_may_wait_for_it(shell: Start) -> None:
    terminal, heard = await shell("echo ready; while [ ! -e /proc/self/nothing ]; do sleep 0.01; done")
    await heard.until(b"ready")
    found: list[Ended] = []

    async def wait() -> None:
        found.append(await end_of(terminal))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(wait)
        await terminal.kill()
    assert found == [Ended(signal="SIGTERM")] * 5


async def test_its_end_is_told_although_others_hold_the_terminal_and_what_they_print_is_kept(
    shell: Start, tmp_path: Path
) -> None:
    line = f"(while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; echo later) & echo now"
    terminal, heard = await shell(line)
    assert await end_of(terminal) == Ended(exit_code=0)
    assert terminal.output.text == "now\n"
    (tmp_path / "go").touch()
    await heard.until(b"later\n")
    assert terminal.output.text == "now\nlater\n"


async def test_who_goes_on_printing_for_ever_does_not_hold_up_the_news_of_the_end(shell: Start, mark: str) -> None:
    terminal, heard = await shell("yes & exit 4")
    assert await end_of(terminal) == Ended(exit_code=4)
    await heard.until(b"y\n" * 1000)
    await terminal.end()
    assert marked(mark) == []


# --- nothing is left -------------------------------------------------------------------------------------------------


async def test_kill_ends_all_that_runs_and_what_was_printed_stays(shell: Start, mark: str) -> None:
    terminal, heard = await shell("sleep 1000 & echo ready; exec sleep 1000")
    await heard.until(b"ready")
    with anyio.fail_after(LIMIT_SECONDS):
        await terminal.kill()
    assert (terminal.ended, terminal.output.text) == (Ended(signal="SIGTERM"), "ready\n")
    assert marked(mark) == []


@pytest.mark.usefixtures("merciless")
@pytest.mark.parametrize("started", ["", "setsid sleep 1000 & ", "setsid sh -c 'sleep 1000 & exit' & "])
async def test_who_ignores_it_is_killed_with_all_that_it_started(shell: Start, mark: str, started: str) -> None:
    terminal, heard = await shell(f'trap "" TERM; {started}echo ready; while :; do sleep 1000; done')
    await heard.until(b"ready")
    with anyio.fail_after(LIMIT_SECONDS):
        await terminal.kill()
    assert terminal.ended == Ended(signal="SIGKILL")
    assert marked(mark) == []


async def test_killing_twice_at_once_and_after_the_end_is_harmless(shell: Start) -> None:
    terminal, heard = await shell("echo ready; exec sleep 1000")
    await heard.until(b"ready")
    with anyio.fail_after(LIMIT_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(terminal.kill)
            tasks.start_soon(terminal.kill)
        await terminal.kill()
        await terminal.end()
    assert heard.ended == [Ended(signal="SIGTERM")]


@pytest.mark.parametrize("rest", ["sleep 1000 &", "sleep 1000 >/dev/null 2>&1 &", "setsid sleep 1000 &"])
async def test_what_a_command_left_running_goes_on_until_nobody_needs_it(shell: Start, mark: str, rest: str) -> None:
    terminal, _ = await shell(f"{rest} exit 0")
    await end_of(terminal)
    await settled(terminal)
    assert len(marked(mark)) == 1
    assert re.fullmatch("<Guard watch [0-9a-f]{16} -1>", repr(terminal._guard))
    with anyio.fail_after(LIMIT_SECONDS):
        await terminal.end()
    assert marked(mark) == []
    assert repr(terminal._guard) == "<Guard of nothing>"


async def test_the_id_of_a_process_that_is_gone_is_forgotten_at_once(shell: Start) -> None:
    """The id may soon be that of another program of the user."""
    terminal, _ = await shell("exit 0")
    await end_of(terminal)
    assert not repr(terminal._guard).endswith(f" {terminal.pid}>")
    await settled(terminal)
    assert repr(terminal._guard) == "<Guard of nothing>"


async def settled(terminal: Terminal) -> None:
    """Wait until the terminal has looked for what the command left."""
    await until(lambda: terminal._has_descendants is not None, "a look for what is left")


async def test_run_is_over_when_nothing_is_left(guard: Guard) -> None:
    terminal = await Terminal.start(command_to_run("true", [], "/", {}), 100, guard)
    before = len(os.listdir("/proc/self/fd"))
    with anyio.fail_after(LIMIT_SECONDS):
        await terminal.run(Heard().listener())
    assert len(os.listdir("/proc/self/fd")) < before
    assert repr(guard) == "<Guard of nothing>"


@pytest.mark.usefixtures("merciless")
@pytest.mark.parametrize("line", ["exec sleep 1000", "sleep 1000 & exit 0", 'trap "" TERM; while :; do sleep 1; done'])
async def test_with_the_host_everything_ends(guard: Guard, mark: str, line: str) -> None:
    heard = Heard()
    async with anyio.create_task_group() as tasks:
        runs = command_to_run("/bin/sh", ["-c", f"echo ready; {line}"], "/", {MARK: mark})
        terminal = await Terminal.start(runs, 100, guard)
        tasks.start_soon(terminal.run, heard.listener())
        await heard.until(b"ready")
        tasks.cancel_scope.cancel()
    assert marked(mark) == []
    assert repr(guard) == "<Guard of nothing>"


async def test_nobody_waits_for_ever_when_a_listener_has_a_fault(guard: Guard, mark: str) -> None:
    def fault(data: bytes) -> None:
        raise RuntimeError("a bug")

    runs = command_to_run("/bin/sh", ["-c", "echo x; exec sleep 1000"], "/", {MARK: mark})
    terminal = await Terminal.start(runs, 100, guard)
    with pytest.raises(ExceptionGroup):
        await terminal.run(Listener(fault, lambda ended: None))
    assert await end_of(terminal) == Ended(signal="SIGTERM")
    assert marked(mark) == []


async def test_a_start_that_is_cancelled_halfway_gives_a_terminal_that_can_be_ended(guard: Guard, mark: str) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        terminal = await Terminal.start(command_to_run("sleep", ["1000"], "/", {MARK: mark}), 100, guard)
    assert look_at(terminal.pid)
    await terminal._stop_all()
    terminal._screen.close()
    assert marked(mark) == []


async def test_a_screen_that_is_closed_ends_the_output() -> None:
    screen = PseudoTerminal()
    screen.close_screen()
    assert await screen.receive() == b""
    screen.close()


async def test_repr_shows_pid_end_and_output(shell: Start) -> None:
    terminal, _ = await shell("exec sleep 1000")
    assert repr(terminal) == f"<Terminal pid={terminal.pid} None <OutputTail 0 of 100000 bytes truncated=False>>"
