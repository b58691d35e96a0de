"""What the user configured about kept conversations."""

from __future__ import annotations

import msgspec

from acp_nvim.limits.history import DAYS, MEGABYTES


class HistorySettings(msgspec.Struct, frozen=True):
    """`history` of the configuration: whether any are kept, for how long, and how much of them."""

    transcripts: bool = True
    days: float = DAYS
    megabytes: float = MEGABYTES
