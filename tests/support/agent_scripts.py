"""Scripts for the scripted agent, written inline in a test, and what the agent wrote down of the wire."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.support.waiting import LIMIT, wait_until

SCRIPTED_AGENT = Path(__file__).resolve().parents[1] / "agents" / "scripted_agent.py"
COMMAND = [sys.executable, "-S", "-E", str(SCRIPTED_AGENT)]
"""Runs a script, whose path follows, and that of its traffic. Nothing but the standard library, and none of the
surroundings; it also starts sooner."""


@dataclass(frozen=True)
class Line:
    """One line of traffic, as the agent saw it: `kind` is received, sent, received_raw, sent_raw or note."""

    kind: str
    value: Any

    @property
    def method(self) -> str | None:
        return self.value.get("method") if isinstance(self.value, dict) else None


class Traffic:
    """A traffic file, to which agents append; each line is decoded once, as tests ask for it again and again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[Line] = []
        self._decoded = 0  # bytes

    def lines(self) -> list[Line]:
        """All complete lines; none when there is no file yet."""
        try:
            with self._path.open("rb") as file:
                if file.seek(0, os.SEEK_END) < self._decoded:  # it is another one
                    self._lines, self._decoded = [], 0
                file.seek(self._decoded)
                data = file.read()
        except FileNotFoundError:
            self._lines, self._decoded = [], 0
            return []
        end = data.rfind(b"\n") + 1  # what follows the last newline is still being written
        self._lines += [Line(*next(iter(json.loads(line).items()))) for line in data[:end].split(b"\n")[:-1]]
        self._decoded += end
        return list(self._lines)


def read_traffic(path: Path) -> list[Line]:
    """All complete lines of a traffic file; none when there is no file yet."""
    return Traffic(path).lines()


@dataclass(frozen=True)
class AgentScript:
    """A script on disk, the command that runs it, and its traffic."""

    argv: list[str]
    path: Path
    traffic_path: Path

    @cached_property
    def _traffic(self) -> Traffic:
        return Traffic(self.traffic_path)

    def traffic(self) -> list[Line]:
        return self._traffic.lines()

    def received(self, method: str | None = None) -> list[Any]:
        """The messages from the client, of one method or all."""
        return self._messages("received", method)

    def sent(self, method: str | None = None) -> list[Any]:
        return self._messages("sent", method)

    def notes(self, name: str) -> list[Any]:
        """The values that the script noted under a name; `started` and `spawned` hold pids."""
        return [line.value[name] for line in self.traffic() if line.kind == "note" and name in line.value]

    def wait_received(self, method: str, count: int = 1, limit: float = LIMIT) -> list[Any]:
        return self._wait(lambda: self.received(method), f"{method} at the agent", count, limit)

    def wait_note(self, name: str, count: int = 1, limit: float = LIMIT) -> list[Any]:
        return self._wait(lambda: self.notes(name), f"the note {name}", count, limit)

    def _messages(self, kind: str, method: str | None) -> list[Any]:
        lines = (line for line in self.traffic() if line.kind == kind)
        return [line.value for line in lines if method is None or line.method == method]

    def _wait(self, find: Callable[[], list[Any]], what: str, count: int, limit: float) -> list[Any]:
        def enough() -> list[Any]:
            found = find()
            return found if len(found) >= count else []

        return wait_until(enough, limit, what, lambda: "\n".join(map(str, self.traffic()[-20:])))


def agent_script(directory: Path, source: str, name: str = "agent") -> AgentScript:
    """Write a script (indented as in the test) to the directory; its names are told in `scripted_agent.py`."""
    path = directory / f"{name}.script.py"
    traffic = directory / f"{name}.traffic.jsonl"
    path.write_text(dedent(source))
    return AgentScript([*COMMAND, str(path), str(traffic)], path, traffic)
