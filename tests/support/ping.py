"""Measures how long Neovim keeps others waiting: a process of its own asks `1` every few milliseconds."""

from __future__ import annotations

import gc
import json
import select
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import msgpack

ROOT = Path(__file__).resolve().parents[2]
INTERVAL = 0.005
LONGEST = 600.0


@dataclass(frozen=True)
class Report:
    """Milliseconds from when a question was due until its answer was there."""

    count: int
    p50: float
    p99: float
    max: float

    def __str__(self) -> str:
        return f"{self.count} pings: p50 {self.p50:.2f} ms, p99 {self.p99:.2f} ms, max {self.max:.2f} ms"


def report_of(milliseconds: list[float]) -> Report:
    """The figures of a list of waits."""
    if not milliseconds:
        return Report(0, 0.0, 0.0, 0.0)
    waits = sorted(milliseconds)
    last = len(waits) - 1
    return Report(len(waits), waits[last // 2], waits[round(last * 0.99)], waits[last])


class Ping:
    """A context in which a Neovim is asked all the time; afterwards `report` holds the figures.

    `waits` are all of them: when each question was due (`time.perf_counter`), and the milliseconds.
    """

    def __init__(self, path: Path, interval: float = INTERVAL) -> None:
        self._command = [sys.executable, "-m", "tests.support.ping", str(path), str(interval)]
        self.waits: list[tuple[float, float]] = []

    @property
    def report(self) -> Report:
        """The figures of all of them."""
        return report_of([wait for _, wait in self.waits])

    def __enter__(self) -> Ping:
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        started = self._process.stdout.readline()
        if started.strip() != "started":
            self._process.communicate()
            raise AssertionError(f"ping could not start: {started!r}")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        output, _ = self._process.communicate()
        if kind is None:
            self.waits = [(due, wait) for due, wait in json.loads(output)]


class Pinger:
    """The asking side: a question at each due time, whether or not the last was answered."""

    def __init__(self, connection: socket.socket, interval: float) -> None:
        self._socket = connection
        self._interval = interval
        self._unpacker = msgpack.Unpacker()
        self._due: dict[int, float] = {}
        self.waits: list[tuple[float, float]] = []

    def ask(self, number: int, due: float) -> None:
        """Send one question."""
        self._due[number] = due
        self._socket.sendall(msgpack.packb([0, number, "nvim_eval", ["1"]]))

    def hear(self) -> bool:
        """Takes the answers that are there; False when Neovim is gone."""
        data = self._socket.recv(1 << 16)
        now = time.perf_counter()
        self._unpacker.feed(data)
        for message in self._unpacker:
            if message[0] == 1:
                due = self._due.pop(message[1])
                self.waits.append((due, (now - due) * 1000))
        return bool(data)

    def run(self, stop: Any, start: float) -> None:
        """Asks from `start` on until `stop` can be read, then hears the rest."""
        number = 0
        stopping = False
        while not stopping or self._due:
            due = start + number * self._interval
            wait = due - time.perf_counter()
            if wait <= 0 and not stopping:
                self.ask(number, due)
                number += 1
                continue
            watched = [self._socket] if stopping else [self._socket, stop]
            ready = select.select(watched, [], [], 30 if stopping else max(wait, 0))[0]
            if self._socket in ready and not self.hear():
                return
            stopping = stopping or stop in ready or time.perf_counter() - start > LONGEST
            if stopping and not ready:
                return


def main() -> None:
    """Asks the Neovim at the given socket until standard input is closed, then prints all waits."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(sys.argv[1])
        gc.disable()
        pinger = Pinger(connection, float(sys.argv[2]))
        start = time.perf_counter()  # what is due once this is told counts, however late it is asked
        print("started", flush=True)
        pinger.run(sys.stdin, start)
    print(json.dumps(pinger.waits))


if __name__ == "__main__":
    main()
