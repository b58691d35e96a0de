"""The host's side of the guard: start it with the first process, tell it whom to watch."""

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
    """Return the one guard of this process; it is made by the first who asks."""
    return Guard()


class Guard:
    """The process that ends our agents, and others that we started, when we no longer can.

    `ends` is the directory where the end of each agent is written down, see `end_times`.
    """

    def __init__(self) -> None:
        self.ends = os.devnull
        self._process: subprocess.Popen[bytes] | None = None
        self._told: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"<Guard pid={self.pid}>"

    @property
    def pid(self) -> int | None:
        """The guard's process; None before there was anything to guard."""
        return None if self._process is None else self._process.pid

    def watch(self, pid: int, mark: str) -> None:
        """From now on `pid` must not outlive us."""
        self._keep(pid, f"watch {pid} {mark}")

    def kill_after_us(self, pid: int) -> None:
        """From now on the process group `pid` is killed as soon as we are gone."""
        self._keep(pid, f"kill {pid}")

    def forget(self, pid: int) -> None:
        """`pid` and all it started are gone."""
        self._told.pop(pid, None)
        self._tell(f"forget {pid}")

    def _keep(self, pid: int, line: str) -> None:
        self._told[pid] = line
        if not self._tell(line):
            try:
                self._process = self._start()
            except OSError as error:  # we can do without it as long as nobody kills us
                log.warning("the guard cannot be started: %s", error)
                return
            for known in self._told.values():
                self._tell(known)

    def _tell(self, line: str) -> bool:
        """False when no guard is there to hear it."""
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
