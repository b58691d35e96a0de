"""Finds the processes of an agent: the one that was started, and all its descendants.

A process belongs to an agent when it descends from it, is in its process group or session, or carries its mark (Linux).
The mark finds processes in sessions of their own whose parents have ended. It is in the environment, and it is the soft
limit of file locks: Linux passes that on to all descendants, also to those with an empty environment, and has not
enforced it since 2.4.25. Standard library only: the guard imports this and must start fast. `typing`, `signal` and `re`
would double its processor time.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` imports `enum`, a third of the guard's start
import os
import time

TYPE_CHECKING = False  # as in `limits`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MARK_VARIABLE = "ACP_NVIM_AGENT_MARK"
"""The environment variable that marks a process which we start (`Guard.start`); its descendants inherit it."""
RLIMIT_LOCKS = 10
"""The resource limit of getrlimit(2) that carries the mark; `resource` has no name for it."""
LOCKS_LINE = b"\nMax file locks"
"""How its line begins in `/proc/<pid>/limits`."""
HELD = 200
"""Processes that are held by a descriptor at a time; many users may open 1,024 files."""
NO_PID = -1
"""Stands for a process id that is not known, or that another process may have by now."""
EXEC_SECONDS = 0.5
"""How long to wait for what a process is given that starts a program: usually microseconds, more under load."""
EXEC_PAUSE_SECONDS = 0.001
ENVIRONMENT_BYTES = 6 * 1024 * 1024
"""Upper limit of arguments and environment on Linux (execve(2))."""
ZOMBIES = (b"Z", b"X")
"""The states of ended processes in `/proc/<pid>/stat` (proc_pid_stat(5))."""
FLAGS, BEGAN, START_CODE, ARG_START, ENV_START, ENV_END = 6, 19, 23, 45, 47, 48
"""Where `stat_fields` has these fields of `/proc/<pid>/stat`."""
KERNEL_THREAD = 0x00200000
"""The flag `PF_KTHREAD` of Linux."""


class ProcessInfo:
    """A running process: the ids of itself, its parent, its process group and its session."""

    __slots__ = ("group", "parent", "pid", "session")

    def __init__(self, pid: int, parent: int, group: int, session: int) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.session = session


def members(pid: int, mark: str) -> set[int]:
    """Return the running processes of the agent that was started as `pid` with `mark`, itself included.

    Once the agent has ended, its `pid` may be reused: pass `NO_PID` then, so that only the mark counts.
    """
    # the second search finds a process started during the first by a process that has ended
    return _find_members(pid, mark) or _find_members(pid, mark)


def is_alive(pid: int) -> bool:
    """Whether a process with that id exists. It may be another process than expected, because ids are reused."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def may_signal(pid: int) -> bool:
    """Whether a process with that id exists, and is not one of another user, such as a program that sudo runs."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def send(pids: set[int], number: int) -> None:
    """Send a signal to each process; skip those that have ended or belong to another user."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def send_found(find: Callable[[], set[int]], number: int) -> None:
    """Send a signal to each process that `find` returns, and to no other one that gets its id meanwhile (Linux).

    A descriptor holds each process; those that are found a second time then are the processes that were found first.
    """
    found = sorted(find())
    if not _can_hold():
        send(set(found), number)
        return
    for start in range(0, len(found), HELD):
        held = dict(_hold(found[start : start + HELD]))
        still = find()
        for pid, descriptor in held.items():
            try:
                if pid in still:
                    _signal.pidfd_send_signal(descriptor, number)
            except (ProcessLookupError, PermissionError):
                continue
            finally:
                os.close(descriptor)


def _can_hold() -> bool:
    """Whether this system has descriptors of processes: Linux 5.3, unless a sandbox forbids them."""
    return bool(dict(_hold([os.getpid()], close=True)))


def _hold(pids: list[int], close: bool = False) -> Iterator[tuple[int, int]]:
    """Open a descriptor of each process that still runs."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except (OSError, AttributeError):
            continue
        if close:
            os.close(descriptor)
        yield pid, descriptor


def descendants(pid: int) -> set[int]:
    """Return the running children of a process, their children, and so on, without itself and us."""
    return _with_descendants({pid}, process_table()) - {pid, os.getpid()}


def _find_members(pid: int, mark: str) -> set[int]:
    table = process_table()
    found = {entry.pid for entry in table if pid in (entry.pid, entry.group, entry.session)}
    found |= {entry.pid for entry in table if has_mark(entry.pid, mark)}
    return _with_descendants(found, table) - {os.getpid()}


def _with_descendants(found: set[int], table: list[ProcessInfo]) -> set[int]:
    grown = True
    while grown:
        children = {entry.pid for entry in table if entry.parent in found}
        grown = not children <= found
        found |= children
    return found


def process_table() -> list[ProcessInfo]:
    """Return all running processes without zombies, from `/proc` or else from `ps`."""
    if os.path.isdir("/proc/self"):
        entries = [read_proc(int(name)) for name in os.listdir("/proc") if name.isdigit()]
        return [entry for entry in entries if entry is not None]
    return ask_ps()


def read_proc(pid: int) -> ProcessInfo | None:
    """Return one process from `/proc` (Linux); None when it is gone, or a zombie."""
    try:
        state, parent, group, session = stat_fields(pid)[:4]
    except OSError:
        return None
    return None if state in ZOMBIES else ProcessInfo(pid, int(parent), int(group), int(session))


def has_mark(pid: int, mark: str) -> bool:
    """Whether the process carries `mark`, in its environment or as its limit; False when neither can be read."""
    return _has_limit(pid, mark) or f"{MARK_VARIABLE}={mark}".encode() in environment(pid)


def limit_of(mark: str) -> int | None:
    """Return the mark, which is a number of 64 bits in hexadecimal digits, as a resource limit; None if it is none."""
    try:
        return int(mark, 16) >> 1  # half of the numbers mean "unlimited" to some
    except ValueError:
        return None


def _has_limit(pid: int, mark: str) -> bool:
    """Whether the mark is the limit of a process that we may signal."""
    limit = limit_of(mark)
    if limit is None:
        return False
    try:
        with open(f"/proc/{pid}/limits", "rb", buffering=0) as file:
            soft = file.read().partition(LOCKS_LINE)[2].split(None, 1)
    except OSError:
        return False
    return soft[:1] == [b"%d" % limit] and may_signal(pid)


def environment(pid: int) -> list[bytes]:
    """Return the environment with which a process was started, as `NAME=value`; [] when it cannot be read."""
    return _given(pid, "environ", ENVIRONMENT_BYTES, ENV_START).split(b"\0")


def arguments(pid: int, most: int) -> list[bytes]:
    """Return the arguments of a process from its first `most` bytes; [b""] when they cannot be read."""
    return _given(pid, "cmdline", most, ARG_START).rstrip(b"\0").split(b"\0")


def _given(pid: int, file_name: str, most: int, start: int) -> bytes:
    """Return what a process was given when it started its program; nothing when that cannot be read.

    Linux shows nothing while a process starts a program: wait until there is something, at most `EXEC_SECONDS`.
    """
    deadline = time.monotonic() + EXEC_SECONDS
    try:
        while True:
            with open(f"/proc/{pid}/{file_name}", "rb", buffering=0) as file:
                found = file.read(most)  # at once: between two reads it may start a program
            if found or time.monotonic() > deadline or _is_given_nothing(pid, start):
                return found
            time.sleep(EXEC_PAUSE_SECONDS)
    except OSError:
        return b""


def _is_given_nothing(pid: int, start: int) -> bool:
    """Whether what begins at the field `start` of a process is empty. False while it starts a program.

    Raise `OSError`.
    """
    fields = stat_fields(pid)
    if len(fields) <= ENV_END or fields[0] in ZOMBIES or int(fields[FLAGS]) & KERNEL_THREAD:
        return True
    # the kernel sets the start of the code last, when arguments and environment are complete
    return fields[START_CODE] != b"0" and fields[start] == fields[start + 1]


def stat_fields(pid: int) -> list[bytes]:
    """Return the fields of `/proc/<pid>/stat` from the third one on, the state. Raise `OSError` when it is gone."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()


def ask_ps() -> list[ProcessInfo]:
    """Return all processes as `ps` lists them, for systems without `/proc`; groups stand in for sessions."""
    import subprocess  # here: the guard starts faster without it, and Linux never needs it

    answer = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=False)
    rows = [line.split() for line in answer.stdout.splitlines()]
    return [
        ProcessInfo(int(row[0]), int(row[1]), int(row[2]), int(row[2]))
        for row in rows
        if len(row) >= 4 and not row[3].startswith("Z")
    ]
