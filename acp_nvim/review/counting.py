"""Counts the lines of changes whose texts nobody has looked at: there may be thousands of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from acp_nvim.limits import LOOKED_AT
from acp_nvim.review.change import Change
from acp_nvim.review.contents import Contents, is_stored
from acp_nvim.snapshots.failures import SnapshotError

log = logging.getLogger(__name__)


async def count(changes: Sequence[Change], contents_of: Callable[[str], Contents]) -> None:
    """Give them their counts; of many by git, which knows nothing of line ends, and what has no lines."""
    for change in changes:
        if not all(is_stored(blob) for blob in (change.base, change.current) if blob is not None):
            change.is_looked_at = True  # there are no lines to be counted
    if len(changes) <= LOOKED_AT:
        for change in changes:
            await _look(change, contents_of(change.path))
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


async def _look(change: Change, contents: Contents) -> None:
    try:
        await change.look(contents)
    except SnapshotError as error:
        log.warning("what was in %s is lost: %s", change.path, error)
        change.is_looked_at = True
