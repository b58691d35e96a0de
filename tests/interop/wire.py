"""What went over the wire with an agent, as the plugin's own recordings have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.below import below


class Wire:
    """The recordings below a state directory; each look reads them again."""

    def __init__(self, state: Path) -> None:
        self._state = state

    def messages(self) -> list[tuple[str, dict[str, Any]]]:
        """`sent` or `received`, and the message; oldest first."""
        found = []
        for path in sorted(below(self._state, "traffic/*.jsonl"), key=lambda path: path.stat().st_mtime_ns):
            for line in path.read_text(encoding="utf-8").splitlines()[1:]:
                record = json.loads(line) if line.endswith("}") else {}
                if isinstance(record.get("message"), dict):
                    found.append((record["direction"], record["message"]))
        return found

    def sent(self, method: str) -> list[dict[str, Any]]:
        """The parameters of all that we sent with that method."""
        return [
            one.get("params") or {} for way, one in self.messages() if way == "sent" and one.get("method") == method
        ]

    def answers(self, method: str) -> list[dict[str, Any]]:
        """The answers to our requests with that method: `{"result": ...}` or `{"error": ...}`."""
        waiting: set[Any] = set()
        found = []
        for way, one in self.messages():
            if way == "sent" and "method" in one and "id" in one:
                waiting.discard(one["id"])  # another process counts from the start again
                if one["method"] == method:
                    waiting.add(one["id"])
            elif way == "received" and "method" not in one and one.get("id") in waiting:
                waiting.discard(one["id"])
                found.append({key: one[key] for key in ("result", "error") if key in one})
        return found

    def result(self, method: str) -> dict[str, Any]:
        """The last result of that method; empty when there is none."""
        results = [one["result"] for one in self.answers(method) if isinstance(one.get("result"), dict)]
        return results[-1] if results else {}

    def received(self, method: str) -> list[dict[str, Any]]:
        """The agent's requests and notifications of that method."""
        return [one for way, one in self.messages() if way == "received" and one.get("method") == method]

    def open_requests(self) -> list[dict[str, Any]]:
        """The agent's requests that have no answer, or more than one."""
        counts: dict[str, int] = {}
        asked = [one for way, one in self.messages() if way == "received" and "method" in one and "id" in one]
        for way, one in self.messages():
            if way == "sent" and "method" not in one:
                counts[repr(one.get("id"))] = counts.get(repr(one.get("id")), 0) + 1
        wanted: dict[str, int] = {}
        for one in asked:
            wanted[repr(one["id"])] = wanted.get(repr(one["id"]), 0) + 1
        return [one for one in asked if counts.get(repr(one["id"]), 0) != wanted[repr(one["id"])]]
