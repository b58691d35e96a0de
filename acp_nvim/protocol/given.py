"""What an optional member of a message says, where omitted and null mean the same."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, UnsetType

T = TypeVar("T")


def given(value: T | UnsetType | None) -> T | None:
    """The value, or None."""
    return None if value is UNSET else value
