"""How much goes to Neovim at once, and when the next: it is not busy with ours for long, and a backlog is gone soon."""

from __future__ import annotations

from acp_nvim.limits.batches import (
    BATCH_BYTES,
    BATCH_SECONDS,
    FRAME_SECONDS,
    LEAST_BATCH_BYTES,
    MOST_BATCH_BYTES,
    REST_SHARE,
    RETOLD_REST_SHARE,
    RETOLD_TIMES,
)


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
        """When the next batch may go out: after a frame; of a backlog when Neovim had time for others."""
        frame = sent + FRAME_SECONDS
        if seconds is None or not more_waits:
            return frame
        return min(frame, acknowledged + seconds * (RETOLD_REST_SHARE if retold else REST_SHARE))
