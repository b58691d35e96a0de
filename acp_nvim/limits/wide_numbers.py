"""How much is taken of messages that agents should not send."""

from __future__ import annotations

from typing import Final

WIDE_NUMBERS: Final = 100
"""Integers of more than 64 bits that are replaced in one value: each takes 5 microseconds, and a line can hold 1.5
million of them. No real agent sends any."""
