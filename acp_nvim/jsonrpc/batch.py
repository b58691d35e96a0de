"""The answers to one batch array: together in one array, but the slow ones do not hold up the others for ever."""

from __future__ import annotations

from collections.abc import Callable

import anyio


class BatchAnswers:
    """Collects answers and sends them when none is missing, or when `let_go` says that it has been long enough.

    ACP and JSON-RPC 2.0 (§6) want one array. A batch may hold a question to the user, who may be away: after `let_go`
    what is there goes out, and the rest in a second array.
    """

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self.complete = anyio.Event()
        self._send = send
        self._missing = 0
        self._answers: list[bytes] = []
        self._taken = False

    def expect(self) -> Callable[[bytes], None]:
        """One more answer will come: call what is returned with it, once."""
        self._missing += 1
        return self._fulfil

    def add(self, answer: bytes) -> None:
        """An answer that is there at once."""
        self._answers.append(answer)

    def all_taken(self) -> None:
        """No more will be expected or added."""
        self._taken = True
        self._look()

    def let_go(self) -> None:
        """Send what there is."""
        if self._answers:
            self._send(b"[" + b",".join(self._answers) + b"]")
            self._answers = []

    def _fulfil(self, answer: bytes) -> None:
        self._missing -= 1
        self._answers.append(answer)
        self._look()

    def _look(self) -> None:
        if self._taken and not self._missing:
            self.let_go()
            self.complete.set()
