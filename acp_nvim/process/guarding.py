"""Starts processes that must not outlive the host, and tells the guard process of them."""

from __future__ import annotations

import logging
import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import anyio
import anyio.abc

from acp_nvim.process import forked_guard, group, umask

log = logging.getLogger(__name__)

GUARD = Path(__file__).with_name("guard.py")


@cache
def guard_of_host() -> Guard:
    """Return the only guard of this process; the first call creates it."""
    return Guard(forked_guard.lines)


class Guard:
    """Controls the process that stops our agents, and other processes that we started, if the host dies.

    `ends` is the directory that records when each agent ended, see `end_times`. `forked` is the descriptor from which
    the guard of which this process was forked reads; without it, or when that guard has ended, another one is started.
    """

    def __init__(self, forked: int | None = None) -> None:
        self.ends = os.devnull
        self._forked = forked
        self._told_ends = ""
        self._starting = anyio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Guard {', '.join(self._watched.values()) or 'of nothing'}>"

    @property
    def pid(self) -> int | None:
        """The process id of the guard that was started; None if none was needed."""
        return None if self._process is None else self._process.pid

    async def start(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        *,
        kill: bool = False,
        mask: int | None = None,
        stdin: int = subprocess.PIPE,
        output: int | None = None,
    ) -> tuple[anyio.abc.Process, str]:
        """Start `argv`, watched until `forget`, and return the process and its mark. Cannot be cancelled halfway.

        It gets `env` and its mark (see `group`) as environment, a session of its own, and the umask `mask` (else the
        user's). `stdin` is a file descriptor or one of `subprocess`'s constants; so is `output`, for stdout and stderr,
        which are pipes without it. If the host dies, the guard kills it at once with `kill`, or else stops it step by
        step. Raises `OSError` and `ValueError` when it cannot be started.
        """
        mark = os.urandom(8).hex()
        self._watch(mark, group.NO_PID, kill)  # before it starts: the host may die before it learns the process id
        try:
            # shielded: else the process could start without a handle to stop it
            with anyio.CancelScope(shield=True):
                async with self._starting:
                    with _limit(mark):
                        process = await anyio.open_process(
                            argv,
                            cwd=cwd,
                            env={**env, group.MARK_VARIABLE: mark},
                            stdin=stdin,
                            stdout=subprocess.PIPE if output is None else output,
                            stderr=subprocess.PIPE if output is None else output,
                            start_new_session=True,
                            umask=umask.of_users() if mask is None else mask,
                        )
        except BaseException:
            self.forget(mark)
            raise
        self._watch(mark, process.pid, kill)
        return process, mark

    def pid_is_free(self, mark: str) -> None:
        """Find what is left of `mark` without its process id from now on: another process may get it."""
        self._watch(mark, group.NO_PID, kill=False)

    def forget(self, mark: str) -> None:
        """Stop watching `mark`: its process has ended with all descendants."""
        self._watched.pop(mark, None)
        self._send(f"forget {mark}")

    def _watch(self, mark: str, pid: int, kill: bool) -> None:
        line = f"{'kill' if kill else 'watch'} {mark} {pid}"
        self._watched[mark] = line
        if self._told_ends != self.ends:
            self._told_ends = self.ends
            self._send(f"ends {os.fsencode(self.ends).hex()}")
        if not self._send(line):
            try:
                self._process = self._start()
            except OSError as error:  # it is needed only if the host is killed
                log.warning("the guard cannot be started: %s", error)
                return
            for known in self._watched.values():
                self._send(known)

    def _send(self, line: str) -> bool:
        """Send a line to the guard; False when no guard is running."""
        to = self._forked
        if to is None:
            if self._process is None or self._process.poll() is not None:
                return False
            assert self._process.stdin is not None
            to = self._process.stdin.fileno()
        try:
            os.write(to, line.encode() + b"\n")
        except BrokenPipeError:
            self._forked = None
            return False
        return True

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD), self.ends],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/" if sys.platform != "win32" else None,
        )


@contextmanager
def _limit(mark: str) -> Iterator[None]:
    """Have the mark as the limit that processes inherit (see `group`), on a system that knows and allows it."""
    before: tuple[int, int] | None = None
    if sys.platform.startswith("linux"):
        with suppress(OSError, ValueError):
            soft, hard = resource.getrlimit(group.RLIMIT_LOCKS)
            resource.setrlimit(group.RLIMIT_LOCKS, (group.limit_of(mark) or soft, hard))
            before = soft, hard
    try:
        yield
    finally:
        if before is not None:
            resource.setrlimit(group.RLIMIT_LOCKS, before)
