"""Runs one harmless command at a time for a turn, and makes sure that none outlives the agent."""

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
    """A running command; `output` waits for its end, `kill` may come from any thread."""

    def __init__(self, argv: list[str], cwd: str) -> None:
        import subprocess  # here, not above: it would slow the start of every session down

        with _lock:
            if _leaving:
                raise OSError("The agent is being stopped.")
            self._process: Popen[bytes] = subprocess.Popen(
                argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            _live.add(self)

    def output(self) -> tuple[int, str]:
        """The exit code and the first bytes of what the command wrote."""
        try:
            data, _ = self._process.communicate()
        finally:
            with _lock:
                _live.discard(self)
        return self._process.returncode, data[:OUTPUT_LIMIT].decode("utf-8", "replace")

    def kill(self) -> None:
        """End the command at once (SIGKILL); `output` then returns what it wrote until then."""
        self._process.kill()


def kill_all() -> None:
    """The agent leaves: end what runs and start nothing more."""
    global _leaving
    with _lock:
        _leaving = True
        for child in _live:
            child.kill()


def leave(code: int) -> None:
    """End the whole process from any thread, without a word to the client."""
    kill_all()
    os._exit(code)
