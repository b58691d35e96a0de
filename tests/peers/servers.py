"""Processes that run the agents of many tests: loading an SDK takes longer than most conversations."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.peers.find_node import find_node
from tests.support.waiting import LIMIT, wait_until

HERE = Path(__file__).parent


@dataclass
class Server:
    """One process, its socket, and the file with its stderr."""

    process: subprocess.Popen[bytes]
    socket: Path
    stderr: Path
    read: int = 0
    """Bytes of `stderr` that belong to earlier tests."""


class Servers:
    """One for each script of an agent, started when the first test needs it; one that has ended is replaced."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._running: dict[str, Server] = {}
        self._started = 0

    def socket(self, script: str) -> Path:
        """Where clients reach agents of that script."""
        server = self._running.get(script)
        if server is None or server.process.poll() is not None:
            server = self._running[script] = self._start(script)
        return server.socket

    def stderr(self) -> str:
        """What the SDKs have complained about since the last call."""
        words = ""
        for server in self._running.values():
            written = server.stderr.read_bytes()
            words += written[server.read :].decode()
            server.read = len(written)
        return words

    def close(self) -> None:
        """End all servers."""
        for server in self._running.values():
            server.process.kill()
            server.process.wait(LIMIT)

    def _start(self, script: str) -> Server:
        self._started += 1
        socket, stderr = (self._directory / f"{self._started}.{end}" for end in ("socket", "stderr"))
        program = [sys.executable, HERE / "served.py"]
        if script.endswith(".mjs"):
            program = [find_node(), HERE / "served.mjs", script]
        with stderr.open("wb") as file:
            process = subprocess.Popen([*program, socket], stderr=file)
        wait_until(lambda: socket.exists() or process.poll() is not None, what="the socket", describe=stderr.read_text)
        assert process.poll() is None, stderr.read_text()
        return Server(process, socket, stderr)
