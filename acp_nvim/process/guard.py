"""A process that outlives the host and stops the agents that the host left running.

Reads lines from stdin: `watch MARK PID`, `kill MARK PID`, `forget MARK`; a later line about a mark replaces the earlier
one. The PID is -1 while a process starts. Stdin ends when the host is gone for any reason. Then the guard kills the
processes of `kill` lines. It gives the agents time to exit by themselves (their stdin ends at the same moment), then
sends SIGTERM, then SIGKILL. When all processes of an agent are gone, it records the time in the directory that is its
argument. Run as a script, with the standard library only.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` imports `enum`, a third of the start
import os
import sys
import time

if __name__ == "__main__":  # run with `python -I FILE`: the package is beside this file, not on the path
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from acp_nvim.limits import EOF_GRACE_SECONDS, KILL_SECONDS, TERM_GRACE_SECONDS
from acp_nvim.process import group
from acp_nvim.process.end_times import note_end

PAUSE_SECONDS = 0.05


def watch(lines: list[str], watched: dict[str, int], doomed: dict[str, int]) -> None:
    """Apply the host's lines to `watched` (stopped step by step) and `doomed` (killed at once): process ids by mark."""
    for line in lines:
        match line.split():
            case ["watch", mark, pid]:
                watched[mark] = int(pid)
            case ["kill", mark, pid]:
                doomed[mark] = int(pid)
            case ["forget", mark]:
                watched.pop(mark, None)
                doomed.pop(mark, None)


def end(watched: dict[str, int], doomed: dict[str, int], ends: str) -> None:
    """Stop the agents: wait, SIGTERM, wait, SIGKILL. Kill the doomed at once: no one needs their results any more.

    `ends` is the directory that records when each agent ended.
    """
    time.sleep(PAUSE_SECONDS)  # a process that was being started when the host died carries its mark by then
    _kill(doomed, os.devnull)
    left = _wait_until_gone(watched, EOF_GRACE_SECONDS, ends)
    if left:
        group.send(left, signal.SIGTERM)
        _wait_until_gone(watched, TERM_GRACE_SECONDS, ends)
    _kill(watched, ends)


def _kill(marked: dict[str, int], ends: str) -> None:
    """Kill all processes of these marks; return when they are gone, or after `KILL_SECONDS`."""
    deadline = time.monotonic() + KILL_SECONDS
    left = _wait_until_gone(marked, 0, ends)
    while left and time.monotonic() < deadline:  # a process may have started another since they were listed
        group.send(left, signal.SIGKILL)
        left = _wait_until_gone(marked, PAUSE_SECONDS, ends)


def _wait_until_gone(watched: dict[str, int], seconds: float, ends: str) -> set[int]:
    """Wait up to `seconds`; return the processes still running, and remove the agents that ended from `watched`."""
    deadline = time.monotonic() + seconds
    while True:
        left: set[int] = set()
        for mark, pid in list(watched.items()):
            members = group.members(pid, mark)
            left |= members
            if not members:
                del watched[mark]
                note_end(ends, mark)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(PAUSE_SECONDS)


def main() -> None:
    """Watch until the host is gone, then stop what it left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watched: dict[str, int] = {}
    doomed: dict[str, int] = {}
    for line in sys.stdin:
        watch([line], watched, doomed)
    if watched or doomed:
        end(watched, doomed, sys.argv[1])


if __name__ == "__main__":
    main()
