"""The messages of a recording: what was asked, which ids are others now, and when they come."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

Json = dict[str, Any]

INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
CANCEL_REQUEST = "$/cancel_request"

MessageKind = Literal["request", "notification", "answer", "odd"]


def kind(message: Any) -> MessageKind:
    """Whether it wants an answer, is one, or neither; `odd`: no message at all."""
    if not isinstance(message, dict):
        return "odd"
    if isinstance(message.get("method"), str):
        return "request" if "id" in message else "notification"
    return "answer" if "result" in message or "error" in message else "odd"


def id_key(message: Json) -> str:
    """Return the id of a message as a key: 1 and "1" are two ids."""
    return json.dumps(message.get("id"))


def params(message: Json) -> Json:
    """Return the params of a message if they are an object, else an empty one."""
    found = message.get("params")
    return found if isinstance(found, dict) else {}


def session_of(message: Json) -> str | None:
    """The id of the session that a call is about, if it is about one."""
    found = params(message).get("sessionId")
    return found if isinstance(found, str) else None


def same_call(one: Any, other: Any) -> bool:
    """Whether both are requests, or both notifications, of one method."""
    return kind(one) == kind(other) and "method" in one and one["method"] == other["method"]


def is_cancellation(message: Json) -> bool:
    """Whether it withdraws a request; whether a client sends one is a matter of time, so it is not waited for."""
    return message.get("method") == CANCEL_REQUEST


def failure(request_id: Any, code: int, words: str) -> Json:
    """Build an error answer to that request; the client shows `words`."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": words}}


class Substitution:
    """Learns from each request that the live client makes as recorded; `apply` changes what the agent said then."""

    def __init__(self) -> None:
        self._sessions: dict[str, str] = {}
        self._directories: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def session(self, recorded: str) -> str | None:
        """What the client calls that session; None when it has not spoken of it."""
        return self._sessions.get(recorded)

    def learn_session(self, recorded: Any, live: Any) -> None:
        """The client has another id for it, or the same."""
        if isinstance(recorded, str) and isinstance(live, str):
            self._sessions[recorded] = live

    def learn_directory(self, recorded: Any, live: Any) -> None:
        """The client's session is in another directory, or the same."""
        if isinstance(recorded, str) and isinstance(live, str) and recorded.rstrip("/"):
            self._directories[recorded.rstrip("/")] = live.rstrip("/") or "/"
            longest_first = sorted(map(re.escape, self._directories), key=len, reverse=True)
            # a part of a longer path or name is something else; a full stop may end a sentence
            self._pattern = re.compile(rf"(?<![\w.~-])(?:{'|'.join(longest_first)})(?![\w-]|\.\w)")

    def learn(self, recorded: Json, live: Json) -> None:
        """From the params of one request, as it was and as it is now."""
        self.learn_session(recorded.get("sessionId"), live.get("sessionId"))
        self.learn_directory(recorded.get("cwd"), live.get("cwd"))

    def apply(self, value: Any) -> Any:
        """A JSON value as the live client is to get it."""
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


class Arrivals:
    """Requests and notifications that wait for their turn, and answers."""

    def __init__(self) -> None:
        self._waiting: list[Json] = []
        self._answers: Counter[str] = Counter()

    def add(self, message: Json, left: int) -> bool:
        """Keep a call; False when no more than `left` of them, in its session, have a place in the recording."""
        if sum(same_call(one, message) and session_of(one) == session_of(message) for one in self._waiting) >= left:
            return False
        self._waiting.append(message)
        return True

    def take(self, recorded: Json, fits: Callable[[Json], bool]) -> Json | None:
        """The oldest call like the recorded one that also fits; it waits no more."""
        for message in self._waiting:
            if same_call(recorded, message) and fits(message):
                self._waiting.remove(message)
                return message
        return None

    def withdraw(self, request_id: str) -> Json | None:
        """The waiting request with that id; the client does not want it any more."""
        for message in self._waiting:
            if kind(message) == "request" and id_key(message) == request_id:
                self._waiting.remove(message)
                return message
        return None

    def take_rest(self) -> list[Json]:
        """All that still waits; it waits no more."""
        rest, self._waiting = self._waiting, []
        return rest

    def add_answer(self, message: Json) -> None:
        """Count an answer of the client, by the id of its request."""
        self._answers[id_key(message)] += 1

    def take_answer(self, recorded: Json) -> bool:
        """Whether the client answered the same request of the agent; each answer counts once."""
        key = id_key(recorded)
        if not self._answers[key]:
            return False
        self._answers[key] -= 1
        return True
