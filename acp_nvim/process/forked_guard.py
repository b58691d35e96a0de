"""Forks the guard and the host from the process that Neovim starts, so that the guard is an ancestor of all agents.

    Neovim -> first process -> guard -> host -> agents

Linux gives a process whose parent has ended to its nearest ancestor that is a subreaper (PR_SET_CHILD_SUBREAPER in
prctl(2)): the guard. So it ends all that agents leave, whatever environment and session these processes have.

The first process waits for the exit code of the host, and exits with it at once, because Neovim waits for that, while
the guard still stops agents. It is a subreaper, too, and takes the guard's place if that is killed. Standard library
only: the host waits for what is imported here.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # see `guard`
import os
import sys

from acp_nvim.process import guard

TYPE_CHECKING = False  # as in `limits`
if TYPE_CHECKING:
    from typing import NoReturn

PR_SET_CHILD_SUBREAPER = 36
"""The operation of prctl(2); see `linux/prctl.h`."""
NAME = "acp_nvim guard"
"""What `ps -o comm` and `top` show; at most 15 bytes."""
NUMBER_BYTES = 8
"""Length of a process id or an exit code in the pipe from the guard to the first process."""

lines: int | None = None
"""In the host: the descriptor from which the guard reads lines; None when it was not forked."""


def fork_guard() -> None:
    """Continue in a child below a guard; in this process where there are no subreapers, or nothing can be forked."""
    global lines
    if not sys.platform.startswith("linux"):
        return
    try:
        (lines_in, lines_out), (codes_in, codes_out) = os.pipe(), os.pipe()
        is_first = os.fork() != 0
    except OSError:
        return
    if is_first:
        _close(lines_in, lines_out, codes_out)
        _wait_for_host(codes_in)
    os.close(codes_in)
    try:
        host = os.fork()
    except OSError:
        _close(lines_in, lines_out)
        _send(codes_out, os.getpid())  # the host without a guard, for which the first process waits
        return
    if host:
        os.close(lines_out)
        _guard_host(host, lines_in, codes_out)
    _close(lines_in, codes_out)
    lines = lines_out


def adopt() -> bool:
    """Become the parent of all descendants whose parents end. Return whether this system can do that."""
    try:
        import ctypes  # here: it takes 5 ms, while the host is loaded

        return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _guard_host(host: int, lines_in: int, codes_out: int) -> NoReturn:
    """Be the guard: tell the first process how the host ended, and stop what it left."""
    ended: guard.Statuses = {host: None}
    try:
        _send(codes_out, host)
        _step_aside()
        os.setsid()
        os.chdir("/")
        _take_name()
        guarded = guard.GuardedProcesses(adopts=adopt())
        signal.signal(signal.SIGCHLD, lambda *_: guard.reap(ended))
        with open(lines_in, encoding="ascii", errors="replace") as file:
            guarded.listen(file)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _send(codes_out, _exit_code(host, ended))
        os.close(codes_out)
        guarded.end()
    finally:
        os._exit(0)


def _wait_for_host(codes_in: int) -> NoReturn:
    """Be the first process: exit as the host does; without the guard, stop what the host leaves."""
    code = 1
    try:
        _step_aside()
        adopts = adopt()
        host, told = _receive(codes_in), _receive(codes_in)
        if told is not None:
            code = told
        elif host is not None:
            code = _exit_code(host, {host: None})
            guard.GuardedProcesses(adopts=adopts).end()
    finally:
        os._exit(code)


def _step_aside() -> None:
    """Let Neovim talk to the host alone, and outlive the signals that it sends when it leaves."""
    guard.ignore_signals()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)


def _take_name() -> None:
    try:
        with open("/proc/self/comm", "w", encoding="ascii") as file:
            file.write(NAME)
    except OSError:  # there is no `/proc`, or it cannot be written, as in some containers
        return


def _exit_code(host: int, ended: guard.Statuses) -> int:
    """Wait for the end of the host, and for all others that end before; return its exit code as a shell would."""
    while (status := ended[host]) is None:
        pid, status_of_one = os.waitpid(-1, 0)
        if pid in ended:
            ended[pid] = status_of_one
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _send(descriptor: int, number: int) -> None:
    try:
        os.write(descriptor, number.to_bytes(NUMBER_BYTES, "big"))
    except BrokenPipeError:
        return  # the first process was killed; Neovim closes the host's stdin then


def _receive(descriptor: int) -> int | None:
    data = os.read(descriptor, NUMBER_BYTES)
    return int.from_bytes(data, "big") if len(data) == NUMBER_BYTES else None


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
