"""Enters into the ledger what became of files on disk, nobody knows by whom."""

from __future__ import annotations

from collections.abc import Sequence

from acp_nvim.review.contents import Content
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.turn_log import TurnLog


class Entering:
    """It was the agents whose turns run there; else the user, or a program of theirs."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __repr__(self) -> str:
        return f"<Entering {self._ledger!r}>"

    async def became(self, path: str, before: Content, after: Content) -> None:
        """It is entered, and told."""
        self.told(path, await self.enter(path, before, after))

    async def enter(self, path: str, before: Content, after: Content) -> Sequence[TurnLog]:
        """It is entered; returns whose turns it was in, to be told."""
        turns = self._ledger.active(path)
        if turns:
            await self._ledger.agent(turns, path, before, after)
        else:
            await self._ledger.user(path, after)
        return turns

    def told(self, path: str, turns: Sequence[TurnLog]) -> None:
        """The editor hears of it."""
        self._ledger.tell(path)
        self._ledger.announce(path, turns)
