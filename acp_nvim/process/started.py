"""Finds the processes that an agent has started since a moment, and waits for their ends (Linux with `/proc`)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, NamedTuple

import anyio
import anyio.to_thread

from acp_nvim.process import group

HAS_PROC: Final = os.path.isdir("/proc/self")
"""Whether this system has `/proc`, as Linux: else none of these functions finds anything."""
TICK_NS: Final = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
"""Start times are known in these steps."""
POLL_SECONDS: Final = 0.25
"""Interval between two looks at a process where the system has no descriptors of processes."""
ARGUMENTS_BYTES: Final = 64 * 1024
"""Bytes of a command line that are read."""
LOOKS: Final = 5
"""Looks at all processes, at most, until two in a row find the same."""
FILES: Final = 1000
"""Open files of a process that are looked at."""


class Started(NamedTuple):
    """A running process; `began` is at most `TICK_NS` too early (nanoseconds since 1970).

    `ticks` is its start as the system counts it, which no change of the clock moves. `has_lost_parent`: its parent is
    no process of the agent, as the one that has started it has ended.
    """

    pid: int
    parent: int
    group: int
    session: int
    ticks: int
    began: int
    arguments: tuple[str, ...] = ()
    has_lost_parent: bool = False

    def may_have_begun_since(self, moment: int) -> bool:
        """Return whether it may have begun at that moment (nanoseconds since 1970) or later."""
        return self.began >= moment - TICK_NS

    @property
    def is_running(self) -> bool:
        """Whether it still runs; another process may have its id by now."""
        found = _read(self.pid, 0)
        return found is not None and found.ticks == self.ticks


def can_see(pid: int | None, mark: str) -> bool:
    """Return whether what the agent starts can be found here: it runs as that process, which carries the mark."""
    return pid is not None and HAS_PROC and group.has_mark(pid, mark)


def started_since(mark: str, moment: int) -> list[Started]:
    """Return the running processes with that mark that began at `moment` (nanoseconds since 1970) or later. Blocks.

    The oldest is the first. They are few, though the system may have thousands: only of those more than their times is
    read. A look that misses a process, because its parent has started it and ended meanwhile, differs from the next.
    """
    boot = _boot_time()
    young = _young(mark, moment, boot)
    for _ in range(LOOKS):
        before, young = young, _young(mark, moment, boot)
        if [one.pid for one in young] == [one.pid for one in before]:
            break
    ours = {one.pid for one in young}
    is_ours = {one.parent: one.parent in ours or group.has_mark(one.parent, mark) for one in young}
    whole = [one._replace(has_lost_parent=not is_ours[one.parent]) for one in young]
    return sorted(whole, key=lambda one: (one.began, one.pid))


def _young(mark: str, moment: int, boot: int) -> list[Started]:
    """Return those that run once their command lines were read: that of one that has ended meanwhile says nothing."""
    found = [one for one in (_read(int(name), boot) for name in os.listdir("/proc") if name.isdigit()) if one]
    young = [one for one in found if one.may_have_begun_since(moment) and group.has_mark(one.pid, mark)]
    whole = [one._replace(arguments=_texts(group.arguments(one.pid, ARGUMENTS_BYTES))) for one in young]
    return [one for one in whole if one.is_running]


def writes(process: Started, path: str) -> bool:
    """Return whether the process has the file at that real path open for writing. Blocks."""
    try:
        names = os.listdir(f"/proc/{process.pid}/fd")[:FILES]
    except OSError:
        return False
    for name in names:
        with suppress(OSError, ValueError, IndexError):
            if os.readlink(f"/proc/{process.pid}/fd/{name}") == path:
                with open(f"/proc/{process.pid}/fdinfo/{name}", "rb") as file:
                    flags = int(file.read().partition(b"flags:")[2].split(None, 1)[0], 8)
                if flags & os.O_ACCMODE != os.O_RDONLY:
                    return True
    return False


async def wait_for_end(process: Started) -> None:
    """Wait until the process has ended: at once, where Linux has descriptors of processes, else by looking."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (OSError, AttributeError):
        while process.is_running:  # noqa: ASYNC110 - there is nothing to wait for
            await anyio.sleep(POLL_SECONDS)
        return
    try:
        if process.is_running:  # else another process has its id
            await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def running(processes: Iterable[Started]) -> set[int]:
    """Return the ids of those that still run."""
    return {one.pid for one in processes if one.is_running}


def _boot_time() -> int:
    """Return when the system was started, in nanoseconds since 1970."""
    return time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def _read(pid: int, boot: int) -> Started | None:
    """Return what `/proc/<pid>/stat` says; None when the process is gone, or a zombie."""
    try:
        fields = group.stat_fields(pid)
        if fields[0] in group.ZOMBIES:
            return None
        parent, own_group, session, ticks = (int(fields[index]) for index in (1, 2, 3, group.BEGAN))
        return Started(pid, parent, own_group, session, ticks, boot + ticks * TICK_NS)
    except (OSError, ValueError, IndexError):
        return None


def _texts(arguments: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(one.decode(errors="replace") for one in arguments)
