"""Starts the guard process and sends it the processes to watch."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

log = logging.getLogger(__name__)

GUARD = Path(__file__).with_name("guard.py")


@cache
def guard_of_host() -> Guard:
    """Return the only guard of this process; the first call creates it."""
    return Guard()


class Guard:
    """Controls the process that stops our agents, and other processes that we started, if the host dies.

    `ends` is the directory that records when each agent ended, see `end_times`.
    """

    def __init__(self) -> None:
        self.ends = os.devnull
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: dict[int, str] = {}

    @property
    def pid(self) -> int | None:
        """The guard's process id; None before there was anything to guard."""
        return None if self._process is None else self._process.pid

    def watch(self, pid: int, mark: str) -> None:
        """Let the guard stop the agent `pid` with `mark` if the host dies."""
        self._register(pid, f"watch {pid} {mark}")

    def kill_after_us(self, pid: int) -> None:
        """Let the guard kill the process group `pid` as soon as the host is gone."""
        self._register(pid, f"kill {pid}")

    def forget(self, pid: int) -> None:
        """Remove `pid`, which has ended with all its descendants, from the guard."""
        self._watched.pop(pid, None)
        self._send(f"forget {pid}")

    def _register(self, pid: int, line: str) -> None:
        self._watched[pid] = line
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
        if self._process is None or self._process.poll() is not None:
            return False
        assert self._process.stdin is not None
        try:
            os.write(self._process.stdin.fileno(), line.encode() + b"\n")
        except BrokenPipeError:
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
