"""Runs the commands of turns, and makes sure that none of them outlives the agent."""

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen

OUTPUT_LIMIT = 4096  # bytes shown: a demonstration, not a log

_live: set["Child"] = set()
_lock = threading.Lock()
_leaving = False


class Child:
    """A running command; `kill` may be called from any thread."""

    def __init__(self, argv: list[str], cwd: str) -> None:
        import subprocess  # here, not above: it would delay the start of every session

        with _lock:
            if _leaving:
                raise OSError("The agent is being stopped.")
            self._process: Popen[bytes] = subprocess.Popen(
                argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            _live.add(self)

    def output(self) -> tuple[int, str]:
        """Wait for the command to end; return its exit code and the beginning of its output."""
        try:
            data, _ = self._process.communicate()
        finally:
            with _lock:
                _live.discard(self)
        return self._process.returncode, data[:OUTPUT_LIMIT].decode("utf-8", "replace")

    def kill(self) -> None:
        """Kill the command (SIGKILL); `output` then returns what it has written."""
        self._process.kill()


def kill_all() -> None:
    """Kill all running commands, and let no more be started."""
    global _leaving
    with _lock:
        _leaving = True
        for child in _live:
            child.kill()


def leave(code: int) -> None:
    """End the process from any thread, with an exit code, and without an answer to the client."""
    kill_all()
    os._exit(code)
