"""Bounds of what goes to the editor at once, and of how often."""

from __future__ import annotations

from typing import Final

FRAME_SECONDS: Final = 0.018
"""The shortest time between two batches for the editor, unless more waits than one can take.

A bit more than a frame at 60 Hz: each batch costs Neovim a millisecond, most of it to draw; words wait for half of it.
"""

BATCH_SECONDS: Final = 0.003
"""Time for Lua to apply one batch; how much can be in it is found out. Then Neovim draws for a millisecond or two."""

BATCH_BYTES: Final = 32 * 1024
"""Text in the first full batch: Lua puts it into a buffer, and finds the markdown in it, within about that time."""

LEAST_BATCH_BYTES: Final = 8 * 1024
"""The same on the slowest machine: with less each batch would cost more than what is in it."""

MOST_BATCH_BYTES: Final = 128 * 1024
"""The same on the fastest one: what is there at once is drawn at once."""

LEAST_SHARE_BYTES: Final = 2 * 1024
"""Of a text that is in a batch while other sessions wait, too: some lines, so that a batch has few pieces of it."""

REST_SHARE: Final = 0.75
"""Pause before the next batch of a backlog, in times that the last one took: Neovim draws, and takes keys."""

RETOLD_TIMES: Final = 3
"""How much larger a batch is of what is told again: fewer of its screens are drawn, and nobody waits for its words."""

RETOLD_REST_SHARE: Final = 0.25
"""`REST_SHARE` of what is told again: the user waits for the end of it."""

EVENT_BYTES: Final = 2 * 1024
"""What an event other than text counts in a batch beside its size: drawing one costs Lua as much as 2 kB of text."""
