"""Decides how large the batches for Neovim are, and when they are sent, so that Neovim stays responsive."""

from __future__ import annotations

from typing import Final

from acp_nvim.limits import BATCH_BYTES, FRAME_SECONDS

BATCH_SECONDS: Final = 0.003
"""Target time for Lua to apply one batch; the size follows from it. Neovim then draws for a millisecond or two."""
LEAST_BATCH_BYTES: Final = 8 * 1024
"""Smallest batch size, for the slowest machine: below it the overhead of a batch exceeds its content."""
MOST_BATCH_BYTES: Final = 128 * 1024
"""Largest batch size, for the fastest machine: the text of one batch is drawn at once."""
REST_SHARE: Final = 0.75
"""Pause before the next batch of a backlog, as a share of the time of the last one: Neovim draws and handles keys."""


class Pace:
    """Measures how long Neovim takes for a batch; `room` is the size of the next one, in bytes."""

    def __init__(self) -> None:
        self.room = BATCH_BYTES

    def applied(self, seconds: float | None, more_waits: bool) -> None:
        """Adapt the size to a batch that took Lua `seconds`; it was not a full one unless `more_waits`."""
        if seconds is None:
            return
        wanted = self.room * BATCH_SECONDS / max(seconds, BATCH_SECONDS / 2)
        if wanted < self.room or more_waits:
            # limit the effect of a single batch, which may have met an unrelated pause
            changed = min(max(wanted, self.room / 2), self.room * 1.5)
            self.room = round(min(max(changed, LEAST_BATCH_BYTES), MOST_BATCH_BYTES))

    def next_at(self, sent: float, acknowledged: float, seconds: float | None, more_waits: bool) -> float:
        """Return when the next batch may be sent: after a frame, or earlier for a backlog.

        `sent` and `acknowledged` are the times of the last batch, `seconds` is how long Neovim took to apply it; times
        are those of the event loop's clock, in seconds.
        """
        frame = sent + FRAME_SECONDS
        if seconds is None or not more_waits:
            return frame
        return min(frame, acknowledged + seconds * REST_SHARE)
