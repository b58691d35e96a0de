"""Bounds of what is noticed of an agent's changes."""

from __future__ import annotations

from typing import Final

NAMED_WAIT_SECONDS: Final = 2.0
"""Time that an agent waits for its permission until its files were looked at: one takes a millisecond."""

SNAPSHOT_WAIT_SECONDS: Final = 0.8
"""Time that a prompt waits for the snapshot before it, which then goes on: it takes 0.3 s for 100,000 files."""

KEPT_WAIT_SECONDS: Final = 0.1
"""Time that a prompt waits until it is written down that a turn begins: with what else is to be done it is with the
agent within a second."""

NAMED_FILES: Final = 1000
"""Files that an agent has named, and that are still to be looked at, one after the other: what comes beyond is passed
over, and seen by the snapshots only."""

LEFT_FILES: Final = 20
"""Files of which one message says why they were left as they are: more lines fill the screen."""

PAST_TEXTS: Final = 200
"""Files whose review is over and of which earlier texts are remembered: buffers that somebody loads again."""

PAST_BYTES: Final = 32 * 1024 * 1024
"""Memory for these: hundreds of ordinary sources, each with a few versions."""

DIRECTORIES_LOOKED_AT: Final = 1000
"""In which a first file is looked for when git sees none: that takes 10 ms."""
