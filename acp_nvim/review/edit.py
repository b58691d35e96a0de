"""What the user types in a buffer under review, as the editor tells it."""

from __future__ import annotations

import msgspec


class Edit(msgspec.Struct, frozen=True):
    """Between the buffer's states `before` and `state`, `lines` took the place of `count` lines after `first` others.

    `before` goes by the name `from` on the wire.
    """

    path: str
    before: str = msgspec.field(name="from")
    state: str
    first: int
    count: int
    lines: list[str]
