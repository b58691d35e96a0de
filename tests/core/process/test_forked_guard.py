"""The guard above the host: it ends what agents have left, whatever environment, session and parents that has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from acp_nvim.process import guard
from tests.core.process import escaping
from tests.support.processes import MARK, look_at, marked, wait_gone
from tests.support.waiting import LIMIT, wait_until

HEEDS_NOTHING = 'trap "" TERM; echo ready; while :; do sleep 1000; done'
ORPHANS = 1000
CHAIN = "import os\nwhile os.fork(): os._exit(0)\n"


class Started(NamedTuple):
    """The first process of a host, and the process ids of its agents, of the host, and of the guard above it."""

    first: subprocess.Popen[str]
    agents: list[int]
    host: int
    guard: int


Start = Callable[..., Started]


def escape(file: Path, *more: str) -> str:
    """The command line of one that escapes, and says its process id in that file."""
    return f"{sys.executable} -I -S {escaping.__file__} {file} {' '.join(more)}"


@pytest.fixture
def start(mark: str) -> Iterator[Start]:
    """Starts a host below a guard, with agents of these scripts."""
    hosts: list[Started] = []

    def started(*scripts: str) -> Started:
        command = [sys.executable, "-m", "tests.core.process.host", "BELOW A GUARD", *scripts]
        env = {**os.environ, MARK: mark}
        first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, start_new_session=True)
        assert first.stdout is not None
        *agents, _, host, its_guard = map(int, first.stdout.readline().split())
        hosts.append(Started(first, agents, host, its_guard))
        return hosts[-1]

    yield started
    for host in hosts:
        for pid in (host.host, host.guard):
            if look_at(pid):
                os.kill(pid, signal.SIGKILL)
        host.first.communicate()


def kill(pids: Sequence[int], number: int = signal.SIGKILL) -> None:
    for pid in pids:
        os.kill(pid, number)


def runs(pids: Sequence[int]) -> list[object]:
    return [process for pid in pids if (process := look_at(pid))]


ENDS: dict[str, Callable[[Started], object]] = {
    "host killed": lambda it: kill([it.host]),
    "host terminated": lambda it: kill([it.host], signal.SIGTERM),
    "host and guard killed at once": lambda it: (kill([it.guard], signal.SIGSTOP), kill([it.host, it.guard])),
    "guard killed, then host": lambda it: kill([it.guard, it.host]),
    "host and first process killed": lambda it: kill([it.first.pid, it.host]),
    "the group of the host killed": lambda it: os.killpg(os.getpgid(it.host), signal.SIGKILL),
}


@pytest.mark.parametrize("end", ENDS)
def test_nothing_that_has_escaped_outlives_the_host(
    start: Start, mark: str, tmp_path: Path, bystander: int, end: str
) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    scripts = [f"{escape(files[0])}; {escape(files[1], 'unlimited')}; echo ready; cat", HEEDS_NOTHING]
    it = start(*scripts)
    wait_until(lambda: all(file.exists() for file in files), what="both to escape")
    escaped = [int(file.read_text(encoding="ascii")) for file in files]
    wait_until(lambda: len(runs(escaped)) == 2, what="both to start their program")
    ENDS[end](it)
    wait_until(lambda: not runs(escaped), what="those that have escaped to end")
    wait_gone(lambda: marked(mark))
    assert look_at(bystander)


def test_the_first_process_ends_as_the_host_does_while_the_guard_still_stops_agents(start: Start, mark: str) -> None:
    it = start(HEEDS_NOTHING)
    kill([it.guard], signal.SIGSTOP)
    kill([it.host])
    assert it.first.poll() is None
    kill([it.guard], signal.SIGCONT)
    assert it.first.wait(LIMIT) == 128 + signal.SIGKILL
    wait_gone(lambda: marked(mark))


def children(parent: int) -> dict[int, str]:
    """The states of the children of a process, zombies included."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            fields = Path("/proc", name, "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found[int(name)] = fields[0]
    return found


def test_the_guard_reaps_what_it_adopts_and_ends_hundreds_of_orphans(start: Start, mark: str, tmp_path: Path) -> None:
    orphans = f"for i in $(seq {ORPHANS}); do env -i setsid -f sleep 1000 >/dev/null 2>&1; done"
    it = start(f"{orphans}; (true &); (true &); echo ready; cat")
    wait_until(lambda: len(children(it.guard)) == ORPHANS + 1, what="the guard to adopt them, and to reap the others")
    adopted = children(it.guard)
    assert "Z" not in adopted.values()
    kill([it.host])
    wait_until(lambda: not look_at(it.guard), what="the guard to end")
    assert runs(list(adopted)) == []
    wait_gone(lambda: marked(mark))


def test_one_that_only_starts_its_successor_is_caught() -> None:
    """A process of its own adopts the successor."""
    code = f"""
import subprocess, sys, time
from acp_nvim.process import forked_guard, guard, group
assert forked_guard.adopt()
subprocess.run([sys.executable, "-I", "-S", "-c", {CHAIN!r}], check=True)
guard.kill_children(time.monotonic() + {LIMIT})
print(group.descendants(__import__("os").getpid()), guard.reap())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set() False\n"


def test_the_end_of_an_agent_is_recorded_when_all_that_may_be_its_own_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded = guard.GuardedProcesses(adopts=True)
    guarded.listen([f"ends {os.fsencode(tmp_path).hex()}\n", "watch a -1\n", "watch b -1\n"])
    strays = {5}
    monkeypatch.setattr(guarded, "strays", lambda: strays)
    monkeypatch.setattr("acp_nvim.process.group.members", lambda _pid, mark: {7} if mark == "b" else set())
    assert guarded.left() == {5, 7}
    assert list(tmp_path.iterdir()) == []
    strays = {7}
    assert guarded.left() == {7}
    assert [path.name for path in tmp_path.iterdir()] == ["a.ended"]


WITHOUT_PROC = """
import builtins, os, sys
from acp_nvim.process import forked_guard

def refuse(path, *args, **options):
    if str(path).startswith("/proc/self/comm"):
        raise OSError(30, "Read-only file system")
    return real(path, *args, **options)

real, builtins.open = builtins.open, refuse
forked_guard.fork_guard()
print(forked_guard.lines is not None, flush=True)
sys.stdin.read()
sys.exit(7)
"""


def test_a_host_whose_guard_cannot_take_a_name_runs_until_its_end() -> None:
    """Containers can be without a `/proc`, or have one that cannot be written."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_PROC], input="", capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 7)
