"""Keeps an agent's flood out of the log: of entries of one kind a number is written, the others are counted."""

from __future__ import annotations

import logging
import time

from acp_nvim.limits.fair_shares import LOGGED_AT_ONCE, LOGGED_KINDS, LOGGED_SECONDS


class LogRate(logging.Filter):
    """A filter for a handler. The kind of an entry: its logger, its message before formatting, and its first argument.

    The first argument is the agent's name wherever agents are logged, so that one does not silence another.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, str, str], _Kind] = {}

    def __repr__(self) -> str:
        return f"<LogRate of {len(self._kinds)} kinds>"

    def filter(self, record: logging.LogRecord) -> bool:
        """False for an entry that is only counted; the next one that is written says how many there were."""
        first = record.args[0] if isinstance(record.args, tuple) and record.args else ""
        key = (record.name, str(record.msg)[:200], str(first)[:100])
        now = time.monotonic()
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= LOGGED_KINDS:
                self._kinds.clear()
            kind = self._kinds[key] = _Kind(now)
        if now - kind.since >= LOGGED_SECONDS:
            kind.since, kind.count = now, 0
        kind.count += 1
        if kind.count > LOGGED_AT_ONCE:
            kind.left_out += 1
            return False
        if kind.left_out:
            record.msg = f"{record.getMessage()} (and {kind.left_out:,} like it, which were left out before it)"
            record.args = ()
            kind.left_out = 0
        return True


class _Kind:
    """Entries since a moment, and those left out that nobody was told of."""

    def __init__(self, since: float) -> None:
        self.since = since
        self.count = self.left_out = 0
