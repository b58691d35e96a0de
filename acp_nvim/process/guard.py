"""A process that outlives the host and stops the agents that the host left running.

Reads lines from the host: `watch MARK PID`, `kill MARK PID`, `forget MARK`; a later line about a mark replaces the
earlier one. The PID is -1 while a process starts. `ends HEX` is the directory that records when each agent ended, as
hexadecimal bytes. The lines end when the host is gone for any reason. Then the guard kills the processes of `kill`
lines. It gives the agents time to exit by themselves (their stdin ends at the same moment), then sends SIGTERM, then
SIGKILL. When all processes of an agent are gone, it records the time.

On Linux it is forked from the host's first process (`forked_guard.py`), and adopts all processes of agents whose
parents have ended. Elsewhere it is run as a script, with that directory as its argument, and finds only processes that
`group.members` can find. Standard library only.
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

TYPE_CHECKING = False  # as in `limits`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Statuses = dict[int, int | None]
    """Wait statuses of processes; None while one runs."""

PAUSE_SECONDS = 0.05
KILL_PAUSE_SECONDS = 0.001
"""Time between two looks for children that others leave while they are killed."""


def watch(lines: Iterable[str], watched: dict[str, int], doomed: dict[str, int]) -> None:
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


class GuardedProcesses:
    """What the guard watches. `ends` is the directory that records when each agent ended.

    With `adopts`, all descendants of this process are stopped in the end, whoever's they are.
    """

    def __init__(self, ends: str = os.devnull, adopts: bool = False) -> None:
        self.ends = ends
        self.adopts = adopts
        self.watched: dict[str, int] = {}
        self.doomed: dict[str, int] = {}

    def listen(self, lines: Iterable[str]) -> None:
        """Apply the host's lines until they end."""
        for line in lines:
            if line.startswith("ends "):
                self.ends = os.fsdecode(bytes.fromhex(line[5:]))
            else:
                watch([line], self.watched, self.doomed)

    def end(self) -> None:
        """Stop the agents: wait, SIGTERM, wait, SIGKILL. Kill the doomed at once: no one needs their results now."""
        if not (self.watched or self.doomed or self.strays()):
            return
        time.sleep(PAUSE_SECONDS)  # a process that was being started when the host died carries its mark by then
        self._kill(self._doomed, KILL_SECONDS)
        if self._wait_until_gone(EOF_GRACE_SECONDS):
            group.send_found(self.left, signal.SIGTERM)
            self._wait_until_gone(TERM_GRACE_SECONDS)
        deadline = time.monotonic() + KILL_SECONDS
        self._kill(self.left, KILL_SECONDS)
        if self.adopts:
            kill_children(deadline)
        self.left()

    def _doomed(self) -> set[int]:
        return {member for mark, pid in self.doomed.items() for member in group.members(pid, mark)}

    def strays(self) -> set[int]:
        """Return all descendants of this process if it adopts, except those of other users."""
        if not self.adopts:
            return set()
        return {pid for pid in group.descendants(os.getpid()) if group.may_signal(pid)}

    def left(self) -> set[int]:
        """Return the processes that still run. Record the agents that have ended, and forget them.

        A process that carries no mark may be of any of the agents.
        """
        members = {mark: group.members(pid, mark) for mark, pid in self.watched.items()}
        marked = {pid for found in members.values() for pid in found}
        strays = self.strays() - marked
        for mark, found in members.items():
            if not found and not strays:
                del self.watched[mark]
                note_end(self.ends, mark)
        return marked | strays

    def _wait_until_gone(self, seconds: float) -> set[int]:
        """Wait up to `seconds`; return the processes that still run."""
        deadline = time.monotonic() + seconds
        while (left := self.left()) and time.monotonic() < deadline:
            time.sleep(PAUSE_SECONDS)
        return left

    @staticmethod
    def _kill(find: Callable[[], set[int]], seconds: float) -> None:
        """Kill all processes that `find` returns; return when there are none, or after `seconds`."""
        deadline = time.monotonic() + seconds
        while find() and time.monotonic() < deadline:  # a process may have started another since they were listed
            group.send_found(find, signal.SIGKILL)
            time.sleep(KILL_PAUSE_SECONDS)


def kill_children(deadline: float) -> None:
    """Kill the children of this process, and those that it adopts from them, until none is left, or the deadline.

    They are not waited for between the look and the signal, so that no other process can have their ids. The newest
    one is the first: one that does nothing but start its successor and end is always the newest.
    """
    ours = os.getpid()
    while True:
        for pid in sorted(map(int, filter(str.isdigit, os.listdir("/proc"))), reverse=True):
            entry = group.read_proc(pid)
            if entry is not None and entry.parent == ours:
                group.send({pid}, signal.SIGKILL)
        if not reap() or time.monotonic() > deadline:
            return
        time.sleep(KILL_PAUSE_SECONDS)


def reap(ended: Statuses | None = None) -> bool:
    """Wait for the children that have ended; store the wait statuses of those in `ended`. Return whether others run."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if not pid:
            return True
        if ended is not None and pid in ended:
            ended[pid] = status


def ignore_signals() -> None:
    """Ignore the signals that end a job and its process group."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def main() -> None:
    """Watch until the host is gone, then stop what it left."""
    ignore_signals()
    guarded = GuardedProcesses(sys.argv[1])
    guarded.listen(sys.stdin)
    guarded.end()


if __name__ == "__main__":
    main()
