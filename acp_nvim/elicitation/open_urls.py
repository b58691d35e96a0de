"""URLs of one agent process that the user was asked to open, until the agent says that all is done there."""

from __future__ import annotations

from collections.abc import Callable

from acp_nvim.limits.elicitation import OPEN_URLS


class OpenUrls:
    """By the agent's own ids, which mean nothing to us (ACP "Elicitation", URL completion)."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}

    def __repr__(self) -> str:
        return f"<OpenUrls {list(self._waiting)}>"

    def wait(self, elicitation_id: str, on_complete: Callable[[], None]) -> None:
        """`on_complete` is called once, if ever; the oldest are forgotten: an agent need not say that it is done."""
        self._waiting.pop(elicitation_id, None)
        if len(self._waiting) >= OPEN_URLS:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[elicitation_id] = on_complete

    def complete(self, elicitation_id: str) -> bool:
        """`elicitation/complete`; False for ids that nobody knows (any more)."""
        on_complete = self._waiting.pop(elicitation_id, None)
        if on_complete is not None:
            on_complete()
        return on_complete is not None

    def forget(self, elicitation_id: str) -> None:
        """Nobody wants to know any more."""
        self._waiting.pop(elicitation_id, None)
