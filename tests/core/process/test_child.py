"""A child process: how it is started, what it says, how it ended."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.limits import READ_BYTES
from acp_nvim.process.child import Child
from acp_nvim.process.group import MARK_VARIABLE
from tests.core.process.conftest import Spawn, Start
from tests.support.processes import look_at
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.anyio


async def read_all(child: Child) -> str:
    """Read stdout to its end."""
    said = b""
    with anyio.fail_after(60):
        try:
            while True:
                said += await child.source.receive()
        except anyio.EndOfStream:
            return said.decode()


async def test_it_talks_through_its_pipes_and_its_exit_code_is_known(start: Start) -> None:
    child = await start(["sh", "-c", "read line; echo got $line; exit 3"], "/", {})
    assert child.returncode is None
    await child.sink.send(b"words\n")
    assert await read_all(child) == "got words\n"
    assert await child.wait() == 3
    assert child.returncode == 3
    await child.stop()


async def test_it_runs_in_the_directory_given(start: Start, tmp_path: Path) -> None:
    child = await start(["sh", "-c", "pwd -P"], str(tmp_path), {})
    assert await read_all(child) == f"{tmp_path}\n"
    await child.stop()


async def test_its_environment_is_ours_with_more_on_top(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "kept")
    monkeypatch.setenv("CHANGED", "ours")
    script = "echo $KEPT $CHANGED $ADDED"
    child = await start(["sh", "-c", script], "/", {"CHANGED": "theirs", "ADDED": "new"})
    assert await read_all(child) == "kept theirs new\n"
    await child.stop()


async def test_each_child_has_a_mark_of_its_own(start: Start) -> None:
    marks = []
    for _ in range(2):
        child = await start(["sh", "-c", f"echo ${MARK_VARIABLE}"], "/", {})
        marks.append(await read_all(child))
        await child.stop()
    assert len(set(marks)) == 2
    assert all(len(mark.strip()) >= 16 for mark in marks)


async def test_it_leads_a_group_of_its_own_so_that_keys_for_us_do_not_reach_it(spawn: Spawn) -> None:
    child = await spawn("echo ready; cat")
    process = look_at(child.pid)
    assert process is not None
    assert process.group == child.pid != os.getpgrp()
    assert os.getsid(child.pid) == child.pid


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (["/nonexistent/agent"], FileNotFoundError),
        (["no-such-program-anywhere"], FileNotFoundError),
        (["/"], PermissionError),
    ],
)
async def test_what_cannot_be_started_raises_an_os_error(
    command: list[str], error: type[OSError], start: Start
) -> None:
    with pytest.raises(error):
        await start(command, "/", {})


async def test_a_directory_that_is_not_there_raises_an_os_error(start: Start, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await start(["true"], str(tmp_path / "gone"), {})


async def test_a_file_that_may_not_be_run_raises_an_os_error(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "agent"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o644)
    with pytest.raises(PermissionError):
        await start([str(file)], "/", {})


async def test_a_file_that_is_no_program_raises_an_os_error(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "agent"
    file.write_bytes(b"\x01\x02 not a program")
    file.chmod(0o755)
    with pytest.raises(OSError, match="Exec format error"):
        await start([str(file)], "/", {})


async def test_a_start_that_is_cancelled_halfway_still_gives_a_child_that_can_be_stopped(start: Start) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        child = await start(["sh", "-c", "cat"], "/", {})
    assert look_at(child.pid)
    await child.stop()
    assert look_at(child.pid) is None


async def test_its_stderr_is_read_to_the_end_and_the_tail_kept(start: Start) -> None:
    script = 'i=0; while [ $i -lt 5000 ]; do echo "line $i" >&2; i=$((i+1)); done; printf "last words" >&2'
    child = await start(["sh", "-c", script], "/", {})
    with anyio.fail_after(60):
        await child.read_aside()
    assert child.stderr.lines()[-3:] == ("line 4998", "line 4999", "last words")
    await child.stop()


async def test_a_child_killed_by_a_signal_has_its_negative_number(spawn: Spawn) -> None:
    child = await spawn("echo ready; kill -SEGV $$")
    assert await child.wait() == -11


async def test_its_pipe_is_closed_though_nobody_reads_on_after_a_pause(start: Start) -> None:
    child = await start(["sh", "-c", "printf a; read line; printf b; exec sleep 1000"], "/", {})
    assert await child.source.receive() == b"a"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(child.sink.send, b"\n")
        assert await child.source.receive(READ_BYTES, anyio.current_time() + 0.5) == b"b"
    await child.stop()
    assert child.returncode == -signal.SIGTERM
    with anyio.fail_after(LIMIT):
        while "over" not in repr(child.source):
            await anyio.lowlevel.checkpoint()


async def test_repr_shows_name_pid_and_exit_code(start: Start) -> None:
    child = await start(["sh", "-c", "cat; exit 4"], "/", {})
    running = f"<Child it pid={child.pid} returncode=None>"
    assert repr(child) == running
    await child.stop()
    assert repr(child) == f"<Child it pid={child.pid} returncode=4>"
