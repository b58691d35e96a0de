"""The guard: when the host is gone, however that happened, its agents go too, and the guard after them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acp_nvim.limits import EOF_GRACE_SECONDS, KILL_SECONDS, TERM_GRACE_SECONDS
from acp_nvim.process import guard
from acp_nvim.process.guarding import Guard
from tests.core.guards import close_guard
from tests.support.processes import MARK, look_at, marked, wait_gone
from tests.support.waiting import wait_until

Start = Callable[..., tuple[subprocess.Popen[str], list[int]]]

HEEDS_NOTHING = 'trap "" TERM; echo ready; while :; do sleep 1000; done'
LEAVES_A_GRANDCHILD = "setsid sh -c 'sleep 1000 & exit' & echo ready"
LEAVES_WITH_STDIN = "echo ready; cat"
KILL_THE_GUARD = "KILL THE GUARD"


IGNORED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def ignored_by(pid: int) -> set[int]:
    """The signals that a process ignores."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        [mask] = [int(line.split()[1], 16) for line in file if line.startswith("SigIgn:")]
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


@pytest.fixture
def start_host(mark: str) -> Iterator[Start]:
    """Starts a host with agents of these scripts; gives it and the pids of its agents and its guard."""
    hosts: list[subprocess.Popen[str]] = []

    def start(*scripts: str) -> tuple[subprocess.Popen[str], list[int]]:
        command = [sys.executable, "-m", "tests.core.process.host", *scripts]
        host = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, MARK: mark})
        hosts.append(host)
        assert host.stdout is not None
        return host, [int(word) for word in host.stdout.readline().split()]

    yield start
    for host in hosts:
        host.kill()
        host.communicate()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_host_that_was_killed(start_host: Start, mark: str, number: signal.Signals) -> None:
    host, pids = start_host(LEAVES_WITH_STDIN, HEEDS_NOTHING, LEAVES_A_GRANDCHILD)
    assert len(marked(mark)) >= 5
    assert all(look_at(pid) for pid in (pids[0], pids[1], pids[-1]))
    host.send_signal(number)
    host.wait()
    wait_gone(lambda: marked(mark))


def test_a_git_that_waits_for_ever_does_not_outlive_a_host_that_was_killed(
    start_host: Start, mark: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "config")
    host, [_] = start_host(f"GIT {tmp_path / 'config'}")
    assert len(marked(mark)) >= 3
    host.kill()
    host.wait()
    wait_gone(lambda: marked(mark))


@pytest.mark.parametrize("script", [HEEDS_NOTHING, LEAVES_A_GRANDCHILD, "GIT"])
def test_a_host_that_dies_while_it_starts_a_process_leaves_nothing(
    start_host: Start, mark: str, tmp_path: Path, script: str
) -> None:
    os.mkfifo(tmp_path / "config")
    host, _ = start_host(LEAVES_WITH_STDIN, "DIE STARTING", script.replace("GIT", f"GIT {tmp_path / 'config'}"))
    assert host.wait() == -signal.SIGKILL
    wait_gone(lambda: marked(mark))


def test_the_guard_stays_until_the_host_is_gone(start_host: Start, mark: str) -> None:
    host, [agent, its_guard] = start_host(HEEDS_NOTHING)
    wait_until(lambda: ignored_by(its_guard) >= IGNORED, what="the guard to ignore signals")
    for number in IGNORED:
        os.kill(its_guard, number)
    assert look_at(its_guard)
    assert look_at(agent)
    host.kill()
    wait_gone(lambda: marked(mark))


def test_a_new_guard_watches_those_that_the_dead_one_watched(start_host: Start, mark: str) -> None:
    host, _ = start_host(HEEDS_NOTHING, KILL_THE_GUARD, LEAVES_WITH_STDIN)
    host.kill()
    wait_gone(lambda: marked(mark))


def test_the_guard_is_out_of_reach_of_keys_and_of_the_working_directory(start_host: Start) -> None:
    _, [*_, its_guard] = start_host(LEAVES_WITH_STDIN)
    assert os.getsid(its_guard) == its_guard
    assert os.readlink(f"/proc/{its_guard}/cwd") == "/"


def test_watch_and_forget_change_the_table() -> None:
    watched: dict[str, int] = {}
    doomed: dict[str, int] = {}
    lines = ["watch a -1", "watch a 5", "watch b 6", "watch b -1", "kill c -1", "kill c 7", "kill d 8"]
    guard.watch([*lines, "forget a", "forget c", "forget e", "", "what is this"], watched, doomed)
    assert watched == {"b": -1}
    assert doomed == {"d": 8}


def test_the_time_that_agents_are_given_is_over_within_three_seconds() -> None:
    assert EOF_GRACE_SECONDS + TERM_GRACE_SECONDS + KILL_SECONDS < 3


def test_no_guard_runs_before_the_first_agent() -> None:
    assert Guard().pid is None


@pytest.mark.anyio
async def test_a_guard_that_was_killed_is_started_again_for_the_next_process() -> None:
    ours = Guard()
    process, mark = await ours.start(["true"], "/", {})
    await process.aclose()
    assert ours._process is not None
    first = ours._process
    first.kill()
    first.communicate()
    ours.forget(mark)
    process, mark = await ours.start(["true"], "/", {})
    await process.aclose()
    assert ours._process is not first
    assert ours.pid == ours._process.pid
    ours.forget(mark)
    close_guard(ours)


@pytest.mark.anyio
async def test_what_cannot_be_started_is_not_watched() -> None:
    ours = Guard()
    with pytest.raises(FileNotFoundError):
        await ours.start(["/no/such/program"], "/", {})
    assert repr(ours) == "<Guard of nothing>"
    close_guard(ours)
