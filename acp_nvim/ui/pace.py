"""How much goes to Neovim at once, and when the next: it is not busy with ours for long, and a backlog is gone soon."""

from __future__ import annotations

from typing import Final

from acp_nvim.limits import BATCH_BYTES, FRAME_SECONDS

BATCH_SECONDS: Final = 0.003
"""Time for Lua to apply one batch; how much can be in it is found out. Then Neovim draws for a millisecond or two."""
LEAST_BATCH_BYTES: Final = 8 * 1024
"""The same on the slowest machine: with less each batch would cost more than what is in it."""
MOST_BATCH_BYTES: Final = 128 * 1024
"""The same on the fastest one: what is there at once is drawn at once."""
REST_SHARE: Final = 0.75
"""Pause before the next batch of a backlog, in times that the last one took: Neovim draws, and takes keys."""
RETOLD_TIMES: Final = 3
"""How much larger a batch is of what is told again: fewer of its screens are drawn, and nobody waits for its words."""
RETOLD_REST_SHARE: Final = 0.25
"""`REST_SHARE` of what is told again: the user waits for the end of it."""


class Pace:
    """Learns how long Neovim takes for a batch. `room`: bytes of the next one.

    `retold`: the batch is of a conversation that is told again. It is larger, and the next one comes sooner.
    """

    def __init__(self) -> None:
        self.room = BATCH_BYTES

    def __repr__(self) -> str:
        return f"<Pace {self.room} bytes>"

    def limit(self, retold: bool) -> int:
        """Bytes of the next batch, if it is one of these."""
        return self.room * RETOLD_TIMES if retold else self.room

    def applied(self, seconds: float | None, more_waits: bool, retold: bool = False) -> None:
        """A batch took Lua so long, if it said so; when nothing is left it was not a full one, and says little."""
        if seconds is None:
            return
        target = BATCH_SECONDS * RETOLD_TIMES if retold else BATCH_SECONDS
        wanted = self.room * target / max(seconds, target / 2)
        if wanted < self.room or more_waits:
            # one batch that met a pause of something else is not to change much
            changed = min(max(wanted, self.room / 2), self.room * 1.5)
            self.room = round(min(max(changed, LEAST_BATCH_BYTES), MOST_BATCH_BYTES))

    def next_at(
        self, sent: float, acknowledged: float, seconds: float | None, more_waits: bool, retold: bool = False
    ) -> float:
        """Return when the next batch may go out: after a frame; of a backlog when Neovim had time for others.

        `sent` and `acknowledged` are when the last batch was, `seconds` how long Neovim took to apply it; times are
        those of
        the event loop's clock, in seconds.
        """
        frame = sent + FRAME_SECONDS
        if seconds is None or not more_waits:
            return frame
        return min(frame, acknowledged + seconds * (RETOLD_REST_SHARE if retold else REST_SHARE))
