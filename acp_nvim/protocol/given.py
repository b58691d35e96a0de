"""What an optional member of a message says, where omitted and null mean the same."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, UnsetType

from acp_nvim.wire.base import Wire

T = TypeVar("T")


def left(said: Wire, *members: str) -> int:
    """How much is missing of those members of what came, by their names on the wire."""
    missing = said.left_out
    return sum(max(0, missing.get(name, 0)) for name in members) if isinstance(missing, dict) else 0


def lacks(said: Wire, *members: str) -> bool:
    """Whether anything is missing in those members, however deep."""
    return isinstance(said.left_out, dict) and any(name in said.left_out for name in members)


def lacks_inside(said: Wire, member: str) -> bool:
    """Whether anything is missing in one of the objects of that list, rather than some of these."""
    items = getattr(said, member)
    return lacks(said, member) and any(isinstance(one.left_out, dict) for one in items or () if isinstance(one, Wire))


def given(value: T | UnsetType | None) -> T | None:
    """The value of a member; None for a member that is not there."""
    return None if value is UNSET else value
