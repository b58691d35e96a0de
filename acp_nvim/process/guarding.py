"""The host's side of the guard: start it with the first agent, tell it whom to watch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")


class Guard:
    """The process that ends our agents when we no longer can."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __repr__(self) -> str:
        return f"<Guard pid={self._process.pid if self._process else None}>"

    def watch(self, pid: int, mark: str) -> None:
        """From now on `pid` must not outlive us."""
        self._tell(f"watch {pid} {mark}")

    def forget(self, pid: int) -> None:
        """`pid` and all it started are gone."""
        self._tell(f"forget {pid}")

    def _tell(self, line: str) -> None:
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    @staticmethod
    def _start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", str(GUARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/" if sys.platform != "win32" else None,
        )
