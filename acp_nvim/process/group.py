"""Who belongs to an agent: its process, all that it started, and all that those started.

Standard library only: the guard runs this in a process that must start in no time. A process belongs to an agent when
it descends from it, is in its process group or session, or carries its mark in the environment (Linux), which also
finds those that made a session of their own and whose parents are gone.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

MARK_VARIABLE = "ACP_NVIM_AGENT_MARK"
"""The environment variable that every process of an agent inherits."""


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """One living process of this machine: its id and its parent's, its process group and session."""

    pid: int
    parent: int
    group: int
    session: int


def members(pid: int, mark: str) -> set[int]:
    """The living processes of the agent that was started as `pid` with `mark`, itself included.

    Once it is gone its `pid` may be another's: the negative number is nobody's, so that only the mark counts.
    """
    # one that was started during the first look, by one that ended meanwhile, is seen by the second
    return _look(pid, mark) or _look(pid, mark)


def is_alive(pid: int) -> bool:
    """Whether there is a process with that id, which may be another than the one that is meant: ids come again."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def send(pids: set[int], number: signal.Signals) -> None:
    """Signal each of them; those already gone, or not ours, are passed over."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def _look(pid: int, mark: str) -> set[int]:
    table = process_table()
    found = {entry.pid for entry in table if pid in (entry.pid, entry.group, entry.session)}
    found |= {entry.pid for entry in table if has_mark(entry.pid, mark)}
    grown = True
    while grown:
        children = {entry.pid for entry in table if entry.parent in found}
        grown = not children <= found
        found |= children
    return found - {os.getpid()}


def process_table() -> list[ProcessInfo]:
    """Return all processes that live now, without zombies: from `/proc`, or else from `ps`."""
    if os.path.isdir("/proc/self"):
        entries = [read_proc(int(name)) for name in os.listdir("/proc") if name.isdigit()]
        return [entry for entry in entries if entry is not None]
    return ask_ps()


def read_proc(pid: int) -> ProcessInfo | None:
    """Return one process as `/proc` shows it (Linux); None when it is gone, or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent, group, session = file.read().rpartition(b")")[2].split()[:4]
    except OSError:
        return None
    return None if state in (b"Z", b"X") else ProcessInfo(pid, int(parent), int(group), int(session))


def has_mark(pid: int, mark: str) -> bool:
    """Whether the process was started with `mark` in its environment; False where that cannot be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK_VARIABLE}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def ask_ps() -> list[ProcessInfo]:
    """Return all processes as `ps` lists them, where there is no `/proc`; sessions are taken for groups."""
    import subprocess  # here: the guard starts sooner without it, and Linux never needs it

    answer = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=False)
    rows = [line.split() for line in answer.stdout.splitlines()]
    return [
        ProcessInfo(int(row[0]), int(row[1]), int(row[2]), int(row[2]))
        for row in rows
        if len(row) >= 4 and not row[3].startswith("Z")
    ]
