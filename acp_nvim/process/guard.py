"""A process that outlives the host and ends the agents that the host left behind.

Reads lines from stdin: `watch PID MARK`, `forget PID`. At the end of stdin (the host is gone, however that happened) it
gives what is left a moment to go by itself (agents see the end of their own stdin at the same time), then SIGTERM, then
SIGKILL.
Run as a script, with the standard library only.
"""

from __future__ import annotations

import os
import signal
import sys
import time

if __name__ == "__main__":  # run with `python -I FILE`: the package is beside this file, not on the path
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from acp_nvim.limits import EOF_GRACE_SECONDS, KILL_SECONDS, TERM_GRACE_SECONDS
from acp_nvim.process import group

PAUSE_SECONDS = 0.05


def watch(lines: list[str], watched: dict[int, str]) -> None:
    """Apply what the host says to the table of watched agents (pid to mark)."""
    for line in lines:
        match line.split():
            case ["watch", pid, mark]:
                watched[int(pid)] = mark
            case ["forget", pid]:
                watched.pop(int(pid), None)


def end(watched: dict[int, str]) -> None:
    """The ladder: wait, SIGTERM, wait, SIGKILL."""
    left = _wait_until_gone(watched, EOF_GRACE_SECONDS)
    if left:
        group.send(left, signal.SIGTERM)
        left = _wait_until_gone(watched, TERM_GRACE_SECONDS)
    deadline = time.monotonic() + KILL_SECONDS
    while left and time.monotonic() < deadline:  # one may have started another since they were looked for
        group.send(left, signal.SIGKILL)
        left = _wait_until_gone(watched, PAUSE_SECONDS)


def _wait_until_gone(watched: dict[int, str], seconds: float) -> set[int]:
    deadline = time.monotonic() + seconds
    while True:
        left: set[int] = set()
        for pid, mark in watched.items():
            left |= group.members(pid, mark)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(PAUSE_SECONDS)


def main() -> None:
    """Watch until the host is gone, then clean up."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watched: dict[int, str] = {}
    for line in sys.stdin:
        watch([line], watched)
    if watched:
        end(watched)


if __name__ == "__main__":
    main()
