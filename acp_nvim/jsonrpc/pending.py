"""Our calls that wait for the peer's answer: each is settled exactly once."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

Answer = msgspec.Raw | Exception
"""The undecoded result, or what came instead of one."""

Settle = Callable[[Answer], None]


class PendingCalls:
    """Hands out ids and remembers who waits for which."""

    def __init__(self) -> None:
        self._settle: dict[int, Settle] = {}
        self._next_id = 0

    def __repr__(self) -> str:
        return f"<PendingCalls waiting={len(self._settle)} made={self._next_id}>"

    def __len__(self) -> int:
        return len(self._settle)

    def add(self, settle: Settle) -> int:
        """A new id; `settle` is called with its answer."""
        call_id = self._next_id
        self._next_id += 1
        self._settle[call_id] = settle
        return call_id

    def made(self, call_id: int | None) -> bool:
        """Whether that is the id of a call of ours, waiting or not."""
        return call_id is not None and 0 <= call_id < self._next_id

    def settle(self, call_id: int | None, answer: Answer) -> bool:
        """Give `answer` to the caller; False when nobody waits for that id (unknown, or answered before)."""
        if call_id is None or call_id not in self._settle:
            return False
        self._settle.pop(call_id)(answer)
        return True

    def forget(self, call_id: int) -> None:
        """The caller no longer waits."""
        self._settle.pop(call_id, None)

    def fail_all(self, error: Exception) -> None:
        """No answer will come any more."""
        waiting, self._settle = self._settle, {}
        for settle in waiting.values():
            settle(error)
