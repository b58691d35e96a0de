"""The messages of a recording: their kinds, and the replacement of recorded ids and directories by the live ones."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

Json = dict[str, Any]

MessageKind = Literal["request", "notification", "answer", "odd"]


def kind(message: Any) -> MessageKind:
    """Return the kind of a JSON-RPC message; `odd` for anything else."""
    if not isinstance(message, dict):
        return "odd"
    if isinstance(message.get("method"), str):
        return "request" if "id" in message else "notification"
    return "answer" if "result" in message or "error" in message else "odd"


def id_key(message: Json) -> str:
    """Return the id of a message as a key: 1 and "1" are different ids."""
    return json.dumps(message.get("id"))


def params(message: Json) -> Json:
    """Return the params of a message if they are an object, else an empty one."""
    found = message.get("params")
    return found if isinstance(found, dict) else {}


def session_of(message: Json) -> str | None:
    """Return the session id in the params of a message; None if there is none."""
    found = params(message).get("sessionId")
    return found if isinstance(found, str) else None


def same_call(one: Any, other: Any) -> bool:
    """Return whether both are requests, or both notifications, of the same method."""
    return kind(one) == kind(other) and "method" in one and one["method"] == other["method"]


class Substitution:
    """Learns ids and directories from the live client's requests, and puts them into what the agent recorded."""

    def __init__(self) -> None:
        self._sessions: dict[str, str] = {}
        self._directories: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def session(self, recorded: str) -> str | None:
        """Return the live id of a recorded session; None if the client has not used it yet."""
        return self._sessions.get(recorded)

    def learn_session(self, recorded: Any, live: Any) -> None:
        """Map a recorded session id to the live one; ignore anything but texts."""
        if isinstance(recorded, str) and isinstance(live, str):
            self._sessions[recorded] = live

    def learn(self, recorded: Json, live: Json) -> None:
        """Map the session id and the directory in the params of a recorded request to those of the live one."""
        self.learn_session(recorded.get("sessionId"), live.get("sessionId"))
        before, after = recorded.get("cwd"), live.get("cwd")
        if isinstance(before, str) and isinstance(after, str) and before.rstrip("/"):
            self._directories[before.rstrip("/")] = after.rstrip("/") or "/"
            longest_first = sorted(map(re.escape, self._directories), key=len, reverse=True)
            # not inside a longer path or name; but a full stop may end a sentence
            self._pattern = re.compile(rf"(?<![\w.~-])(?:{'|'.join(longest_first)})(?![\w-]|\.\w)")

    def apply(self, value: Any) -> Any:
        """Return a recorded JSON value with the ids and directories of the live client."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.apply(one) for one in value]
        if isinstance(value, dict):
            return {self._text(name): self.apply(one) for name, one in value.items()}
        return value

    def _text(self, text: str) -> str:
        session = self._sessions.get(text)
        if session is not None:
            return session
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._directories[found[0]], text)
