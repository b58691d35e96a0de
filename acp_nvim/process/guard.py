"""A process that outlives the host and stops the agents that the host left running.

Reads lines from stdin: `watch PID MARK`, `kill PID`, `forget PID`. Stdin ends when the host is gone for any reason.
Then the guard kills the process groups of `kill` lines. It gives the agents time to exit by themselves (their stdin
ends at the same moment), then sends SIGTERM, then SIGKILL. When all processes of an agent are gone, it records the time
in the directory that is its argument. Run as a script, with the standard library only.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

if __name__ == "__main__":  # run with `python -I FILE`: the package is beside this file, not on the path
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from acp_nvim.limits import EOF_GRACE_SECONDS, KILL_SECONDS, TERM_GRACE_SECONDS
from acp_nvim.process import group
from acp_nvim.process.end_times import note_end

PAUSE_SECONDS = 0.05


def watch(lines: list[str], watched: dict[int, str], doomed: set[int]) -> None:
    """Apply the host's lines to the watched agents (marks by pid) and to the groups to kill."""
    for line in lines:
        match line.split():
            case ["watch", pid, mark]:
                watched[int(pid)] = mark
            case ["kill", pid]:
                doomed.add(int(pid))
            case ["forget", pid]:
                watched.pop(int(pid), None)
                doomed.discard(int(pid))


def kill(doomed: set[int]) -> None:
    """Kill these process groups at once: no one needs their results any more."""
    for pid in doomed:
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def end(watched: dict[int, str], ends: str) -> None:
    """Stop the agents: wait, SIGTERM, wait, SIGKILL. `ends` is the directory that records when each agent ended."""
    left = _wait_until_gone(watched, EOF_GRACE_SECONDS, ends)
    if left:
        group.send(left, signal.SIGTERM)
        left = _wait_until_gone(watched, TERM_GRACE_SECONDS, ends)
    deadline = time.monotonic() + KILL_SECONDS
    while left and time.monotonic() < deadline:  # a process may have started another since they were listed
        group.send(left, signal.SIGKILL)
        left = _wait_until_gone(watched, PAUSE_SECONDS, ends)


def _wait_until_gone(watched: dict[int, str], seconds: float, ends: str) -> set[int]:
    """Wait up to `seconds`; return the processes still running, and remove the agents that ended from `watched`."""
    deadline = time.monotonic() + seconds
    while True:
        left: set[int] = set()
        for pid, mark in list(watched.items()):
            members = group.members(pid, mark)
            left |= members
            if not members:
                del watched[pid]
                note_end(ends, mark)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(PAUSE_SECONDS)


def main() -> None:
    """Watch until the host is gone, then stop what it left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watched: dict[int, str] = {}
    doomed: set[int] = set()
    for line in sys.stdin:
        watch([line], watched, doomed)
    kill(doomed)
    if watched:
        end(watched, sys.argv[1])


if __name__ == "__main__":
    main()
