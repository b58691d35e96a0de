"""Live processes of Linux, found by their parent or by a mark in their environment."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from acp_nvim.process.group import environment
from tests.support.waiting import LIMIT, wait_until

PROC = Path("/proc")
MARK = "ACP_NVIM_TEST_MARK"
STATE, PARENT, GROUP, MEMORY = 0, 1, 2, 20
"""Where `/proc/<pid>/stat` has these behind the name of the program (proc_pid_stat(5))."""


@dataclass(frozen=True)
class Process:
    """One live process."""

    pid: int
    parent: int
    group: int
    command: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.pid} (of {self.parent}): {' '.join(self.command)}"


def look_at(pid: int) -> Process | None:
    """The process of that id; None when it is gone, a zombie, or ending: then it has no memory any more.

    While it starts a program, it has no command line yet: then its name stands for that.
    """
    try:
        stat = (PROC / str(pid) / "stat").read_text(errors="replace")
        command = (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return None
    beginning, _, rest = stat.rpartition(")")
    fields = rest.split()
    if fields[STATE] in "ZX" or fields[MEMORY] == "0":
        return None
    words = command.decode(errors="replace").rstrip("\0").split("\0") if command else [beginning.partition("(")[2]]
    return Process(pid, int(fields[PARENT]), int(fields[GROUP]), tuple(words))


def processes() -> list[Process]:
    """Return all live processes."""
    pids = [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]
    return [process for pid in pids if (process := look_at(pid))]


def descendants(pid: int) -> list[Process]:
    """The live children of a process, their children, and so on."""
    everyone = processes()
    found: list[Process] = []
    parents = {pid}
    while parents:
        children = [process for process in everyone if process.parent in parents]
        found += children
        parents = {process.pid for process in children}
    return found


def marked(mark: str) -> list[Process]:
    """The live processes that were started with that mark in their environment."""
    word = f"{MARK}={mark}".encode()
    pids = [int(name) for name in os.listdir(PROC) if name.isdigit()]
    return [process for pid in pids if word in environment(pid) and (process := look_at(pid))]


def running(words: str, mark: str) -> list[Process]:
    """The marked processes whose command line contains the words."""
    return [process for process in marked(mark) if words in " ".join(process.command)]


def open_files(directory: Path) -> list[str]:
    """Return the files below the directory that this process holds open."""
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            found.append(os.readlink(descriptor))
    return [path for path in found if path.startswith(f"{directory}/")]


def wait_gone(find: Callable[[], list[Process]], limit: float = LIMIT, what: str = "processes to end") -> None:
    """Waits until nothing is found any more; names what is left after the limit."""
    wait_until(lambda: not find(), limit, what, lambda: "\n".join(str(process) for process in find()))


def kill(found: list[Process]) -> None:
    """Kill these processes."""
    for process in found:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
