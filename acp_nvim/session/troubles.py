"""Remembers which complaints about an agent's messages were told: each once, and not too many."""

from __future__ import annotations

from acp_nvim.errors import Failure
from acp_nvim.limits import TROUBLES


class Troubles:
    """Those of one session."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __repr__(self) -> str:
        return f"<Troubles {len(self._told)}>"

    def is_news(self, failure: Failure) -> bool:
        """Whether to tell it now."""
        if failure.what in self._told or len(self._told) >= TROUBLES:
            return False
        self._told.add(failure.what)
        return True
