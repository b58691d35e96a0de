"""Finds the tokens of one turn where an agent reports those of the session so far."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from acp_nvim.acp.answers import TurnTokens

TURNS_WITHOUT_FALL: Final = 5
"""Turns whose counts never fall, after which they are sums: a turn's own output falls as often as it rises."""


class TurnCounts:
    """The counts that an agent process reports for the turns of one session.

    They are sums of the session if the agent is known for that (`begin`), or if none has fallen for so many turns. As
    soon as one falls they are not, whatever is known.
    """

    def __init__(self) -> None:
        self._last: TurnTokens | None = None
        self._reports = 0
        self._is_known = self._has_fallen = False

    def __repr__(self) -> str:
        return f"<TurnCounts {self._reports} reports, {'sums' if self._are_sums else 'of turns'}>"

    def begin(self, is_known: bool, is_fresh: bool) -> None:
        """Begin an agent process. `is_known` to report sums? In a fresh session it has counted nothing."""
        self._is_known, self._reports = is_known, 0
        self._last = TurnTokens(0, 0, 0) if is_fresh else None
        self._has_fallen = False

    @property
    def _are_sums(self) -> bool:
        return not self._has_fallen and (self._is_known or self._reports >= TURNS_WITHOUT_FALL)

    def of_turn(self, reported: TurnTokens) -> TurnTokens | None:
        """Return what a turn has used, by the count reported at its end; None if that is not known."""
        if reported.total <= 0:  # agents report zeros for a cancelled turn
            return None
        before, self._last = self._last, reported
        self._reports += 1
        self._has_fallen |= before is not None and _falls(before, reported)
        if not self._are_sums:
            return reported
        more = None if before is None else _difference(before, reported)
        return more if more is not None and more.total > 0 else None


def _pairs(before: TurnTokens, after: TurnTokens) -> Iterator[tuple[str, Any, Any]]:
    for name in TurnTokens.__struct_fields__:
        yield name, getattr(before, name), getattr(after, name)


def _falls(before: TurnTokens, after: TurnTokens) -> bool:
    return any(None not in (a, b) and b < a for _, a, b in _pairs(before, after))


def _difference(before: TurnTokens, after: TurnTokens) -> TurnTokens:
    """Return what is new; a count that was missing before has begun at zero."""
    more: dict[str, Any] = {name: None if b is None else b - (a or 0) for name, a, b in _pairs(before, after)}
    return TurnTokens(**more)
