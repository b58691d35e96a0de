"""The test's side of the obedient agent: tells it what to do, and hears what came of it."""

from __future__ import annotations

import json
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

OBEDIENT_AGENT = Path(__file__).with_name("obedient_agent.py")
LIMIT = 60.0


class RefusedError(Exception):
    """The client answered the agent's request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


class ObedientAgent:
    """`argv` starts it; it comes as soon as it was started, and `tell` waits for that."""

    def __init__(self, traffic: Path | None = None) -> None:
        # the path of a socket has room for about 100 bytes
        self._directory = tempfile.mkdtemp(prefix="acp-")
        path = f"{self._directory}/obedient.sock"
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(path)
        self._listening.listen(1)
        self._listening.settimeout(LIMIT)
        self._connection: socket.socket | None = None
        self._lines: Any = None
        more = [] if traffic is None else [str(traffic)]
        self.argv = [sys.executable, "-S", "-E", str(OBEDIENT_AGENT), path, *more]

    def begin(self, do: str, **fields: Any) -> None:
        """Give a command; `finish` waits for its answer."""
        if self._connection is None:
            self._connection, _ = self._listening.accept()
            self._connection.settimeout(LIMIT)
            self._lines = self._connection.makefile("rb")
        self._connection.sendall(json.dumps({"do": do, **fields}).encode() + b"\n")

    def finish(self) -> Any:
        """The result of the oldest command without one. Raises `RefusedError`."""
        line = self._lines.readline()
        assert line, "the agent is gone"
        answer = json.loads(line)
        if "result" in answer:
            return answer["result"]
        error = answer["error"]
        assert error["code"] != 0, error["message"]
        raise RefusedError(error["code"], error["message"])

    def tell(self, do: str, **fields: Any) -> Any:
        """Give a command, and wait for what comes of it."""
        self.begin(do, **fields)
        return self.finish()

    def lose(self) -> None:
        """The agent was killed: the next command is for the one that is started after it."""
        for one in (self._lines, self._connection):
            if one is not None:
                one.close()
        self._connection = self._lines = None

    def close(self) -> None:
        for one in (self._lines, self._connection, self._listening):
            if one is not None:
                one.close()
        shutil.rmtree(self._directory, ignore_errors=True)
