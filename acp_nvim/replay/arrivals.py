"""What the live client said, until the recording comes to where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from acp_nvim.replay.messages import Json, id_key, kind, same_call, session_of


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
        """The client answered."""
        self._answers[id_key(message)] += 1

    def take_answer(self, recorded: Json) -> bool:
        """Whether the client answered the same request of the agent; each answer counts once."""
        key = id_key(recorded)
        if not self._answers[key]:
            return False
        self._answers[key] -= 1
        return True
