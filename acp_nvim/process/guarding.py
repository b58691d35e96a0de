"""The host's side of the guard: start it with the first agent, tell it whom to watch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")


class Guard:
    """The process that ends our agents when we no longer can."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"<Guard pid={self._process.pid if self._process else None}>"

    def watch(self, pid: int, mark: str) -> None:
        """From now on `pid` must not outlive us."""
        self._watched[pid] = mark
        if not self._tell(f"watch {pid} {mark}"):
            self._process = self._start()
            for known, its_mark in self._watched.items():
                self._tell(f"watch {known} {its_mark}")

    def forget(self, pid: int) -> None:
        """`pid` and all it started are gone."""
        self._watched.pop(pid, None)
        self._tell(f"forget {pid}")

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

    @staticmethod
    def _start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/" if sys.platform != "win32" else None,
        )
