"""What the live client said, until the recording comes to where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from acp_nvim.replay.messages import CANCEL_REQUEST, Json, Kind, id_key, kind
from acp_nvim.replay.recording import Record


class Arrivals:
    """Requests and notifications that wait for their turn, and answers; knows how many the recording still has."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._waiting: list[Json] = []
        self._answers: Counter[str] = Counter()
        sent = (one.message for one in records if one.direction == "sent")
        self._left = Counter(_call(message) for message in sent if kind(message) in ("request", "notification"))

    def add(self, message: Json) -> bool:
        """Keep a call; False when the recording has no more of them."""
        call = _call(message)
        if sum(_call(one) == call for one in self._waiting) >= self._left[call]:
            return False
        self._waiting.append(message)
        return True

    def take(self, recorded: Json, fits: Callable[[Json], bool]) -> Json | None:
        """The oldest call like the recorded one that also fits; it waits no more."""
        call = _call(recorded)
        for message in self._waiting:
            if _call(message) == call and fits(message):
                self._waiting.remove(message)
                self._left[call] -= 1
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
        """The client answered."""
        self._answers[id_key(message)] += 1

    def take_answer(self, recorded: Json) -> bool:
        """Whether the client answered the same request of the agent; each answer counts once."""
        key = id_key(recorded)
        if not self._answers[key]:
            return False
        self._answers[key] -= 1
        return True


def _call(message: Json) -> tuple[Kind, str]:
    return kind(message), message["method"]


def is_cancellation(message: Json) -> bool:
    """Whether it withdraws a request; whether a client sends one is a matter of time, so it is not waited for."""
    return message.get("method") == CANCEL_REQUEST
