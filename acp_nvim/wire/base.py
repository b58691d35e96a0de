"""The base of all wire types: how members are named; what is absent, null, or of an unknown kind."""

from __future__ import annotations

from typing import Any, ClassVar, Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.limits.messages import LEFT_OUT
from acp_nvim.wire.bounds import Untyped

T = TypeVar("T")

Omittable: TypeAlias = T | UnsetType
"""A member that may be absent (`UNSET`), but not null."""

Maybe: TypeAlias = T | UnsetType | None
"""A member that may be absent (`UNSET`) or null (None)."""

UNKNOWN: Final = "acp_nvim/unknown"
"""The tag of what has a tag that we do not know."""

UNTAGGED: Final = "acp_nvim/untagged"
"""The tag of a variant that has none on the wire."""


class Wire(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    """Base of all wire types; members that no schema knows are passed over."""

    meta: Maybe[dict[str, Untyped]] = msgspec.field(name="_meta", default=UNSET)
    left_out: Maybe[dict[str, int]] = msgspec.field(name=LEFT_OUT, default=UNSET)
    """What is missing of what came (`acp_nvim.limits.messages.LEFT_OUT`); we send none."""

    open_members: ClassVar[dict[str, frozenset[str]]] = {}
    """Further members, by wire name, that choose the shape of a tagged variant, and the values we know."""


class Original(dict[str, Any]):
    """An object exactly as it came. A type of its own, to which no JSON decodes: no agent can pretend to have one."""


class Unknown(msgspec.Struct, tag=UNKNOWN, tag_field="type", kw_only=True):
    """Something with a tag that we do not know; subclasses say where it may stand, and which member is its tag."""

    original: Original


def require(value: object, *members: str) -> None:
    """Refuses a struct without that member (or without all of those), in the words that msgspec has for it."""
    if value is UNSET:
        raise ValueError(f"Object missing required field {' or '.join(f'`{member}`' for member in members)}")
