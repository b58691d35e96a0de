"""Recordings made up for tests, and what a player does with what a client says."""

from __future__ import annotations

import json
from typing import Any

from acp_nvim.replay.player import Player, Remark, Write
from acp_nvim.replay.recording import Record


def call(request_id: Any, method: str, **params: Any) -> dict[str, Any]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def note(method: str, **params: Any) -> dict[str, Any]:
    """Return a notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def answer(request_id: Any, result: Any = None) -> dict[str, Any]:
    """Return an answer."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def recorded(*steps: tuple[str, Any]) -> list[Record]:
    """Records from (">", what we sent) and ("<", what the agent sent), one second after the other; texts are lines."""
    return [
        Record(
            number,
            float(number),
            "sent" if mark == ">" else "received",
            None if isinstance(what, str) else what,
            what if isinstance(what, str) else None,
        )
        for number, (mark, what) in enumerate(steps, 1)
    ]


class Heard:
    """A player with what it wrote and said."""

    def __init__(self, records: list[Record]) -> None:
        self.player = Player(records)
        self.written: list[Any] = []
        self.words: list[str] = []
        self.deviations: list[str] = []
        self._do(self.player.advance())

    def say(self, *messages: Any) -> list[Any]:
        """The client says these; what the agent says then."""
        before = len(self.written)
        for message in messages:
            self._do(self.player.take(message))
        return self.written[before:]

    def _do(self, actions: Any) -> None:
        for action in actions:
            match action:
                case Write():
                    self.written.append(as_message(action.line))
                case Remark():
                    self.words.append(action.words)
                    if action.deviation:
                        self.deviations.append(action.words)


def as_message(line: str) -> Any:
    """The JSON in a line; the line itself when it is none."""
    try:
        return json.loads(line)
    except ValueError:
        return line
