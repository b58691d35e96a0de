"""Counts the lines of changes whose texts nobody has looked at: there may be thousands of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from acp_nvim.review.change import Change
from acp_nvim.review.contents import Contents
from acp_nvim.snapshots.failures import SnapshotError

log = logging.getLogger(__name__)


async def count(changes: Sequence[Change], contents_of: Callable[[str], Contents]) -> None:
    """Give them their counts; what has no lines is one that was looked at."""
    waiting: dict[Contents, list[Change]] = {}
    for change in changes:
        if not change.is_looked_at and change.counts is None:
            waiting.setdefault(contents_of(change.path), []).append(change)
    for contents, some in waiting.items():
        try:
            await contents.flush()
            counts = await contents.shadow.counts([(one.base, one.current) for one in some])
        except SnapshotError as error:
            log.warning("lines of changes in %s cannot be counted: %s", contents.shadow.root, error)
            continue
        for change, counted in zip(some, counts, strict=True):
            change.counts = counted
            change.is_looked_at = change.is_looked_at or counted is None
