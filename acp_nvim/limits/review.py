"""Bounds of what is noticed of an agent's changes."""

from __future__ import annotations

from typing import Final

NAMED_WAIT_SECONDS: Final = 2.0
"""Time that an agent waits for its permission until its files were looked at: one takes a millisecond."""

KEEP_WAIT_SECONDS: Final = 1.0
"""Time that a prompt waits until it is written down that a turn begins: git takes 20 ms for it."""

NAMED_FILES: Final = 1000
"""Files that an agent has named, and that are still to be looked at, one after the other: what comes beyond is passed
over, and seen by the snapshots only."""
