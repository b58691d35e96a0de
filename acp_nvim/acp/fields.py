"""What the generated types are made of: their bases, members that may be absent or null, and bounded texts and lists.

There are three kinds of bounds (`acp_nvim.acp.field_limits`). A field beyond an `exact` one is malformed. What is only
shown is `cut`, and says so. What is worth nothing in part is left out as a `whole`. Either is counted in `left_out`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType, inspect

from acp_nvim.acp import field_limits as limits
from acp_nvim.limits import LEFT_OUT

T = TypeVar("T")

Omittable: TypeAlias = T | UnsetType
"""A member that may be absent (`UNSET`), but not null."""

Maybe: TypeAlias = T | UnsetType | None
"""A member that may be absent (`UNSET`) or null (None)."""

UNKNOWN: Final = "acp_nvim/unknown"
"""The tag of an object whose tag the schema does not have."""

UNTAGGED: Final = "acp_nvim/untagged"
"""The tag of a variant that has none on the wire."""

CUT: Final = "cut"
WHOLE: Final = "whole"


def exact(most: int) -> Meta:
    """The bound of a field that is malformed with more than `most` characters, entries or members."""
    return Meta(max_length=most)


def cut(most: int) -> Meta:
    """The bound of a field of which everything beyond `most` characters or entries is left out."""
    return Meta(max_length=most, extra={"beyond": CUT})


def whole(most: int) -> Meta:
    """The bound of a text that is left out altogether when it is longer than `most` characters."""
    return Meta(max_length=most, extra={"beyond": WHOLE})


Id: TypeAlias = Annotated[str, exact(limits.ID_CHARS)]
Word: TypeAlias = Annotated[str, exact(limits.WORD_CHARS)]
Path: TypeAlias = Annotated[str, exact(limits.PATH_CHARS)]
Uri: TypeAlias = Annotated[str, exact(limits.URI_CHARS)]
Argument: TypeAlias = Annotated[str, exact(limits.COMMAND_CHARS)]
FileText: TypeAlias = Annotated[str, exact(limits.FILE_CHARS)]
Value: TypeAlias = Annotated[str, exact(limits.VALUE_CHARS)]
Pattern: TypeAlias = Annotated[str, exact(limits.PATTERN_CHARS)]
Output: TypeAlias = Annotated[str, exact(limits.OUTPUT_CHARS)]
Name: TypeAlias = Annotated[str, cut(limits.NAME_CHARS)]
Title: TypeAlias = Annotated[str, cut(limits.TITLE_CHARS)]
Words: TypeAlias = Annotated[str, cut(limits.WORDS_CHARS)]
Text: TypeAlias = Annotated[str, cut(limits.TEXT_CHARS)]
DiffText: TypeAlias = Annotated[str, whole(limits.DIFF_CHARS)]
Data: TypeAlias = Annotated[str, whole(limits.DATA_CHARS)]

Untyped: TypeAlias = Annotated[Any, Meta(extra={"beyond": "the message's bounds"})]
"""Any JSON: only the bounds of the message that it is in (`acp_nvim.limits`) hold for it."""


class Sent(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    """Base of the types that are only sent: they have no bounds."""

    meta: Maybe[dict[str, Any]] = msgspec.field(name="_meta", default=UNSET)


class Wire(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    """Base of the types that are read; members that the schema does not have are ignored."""

    meta: Maybe[dict[str, Untyped]] = msgspec.field(name="_meta", default=UNSET)
    left_out: Maybe[dict[str, int]] = msgspec.field(name=LEFT_OUT, default=UNSET)
    """By member, how much of what came is missing (`acp_nvim.limits.LEFT_OUT`); never sent."""

    open_members: ClassVar[dict[str, frozenset[str]]] = {}
    """Further members, by wire name, that choose the shape of a tagged variant, and their known values."""

    def require_one(self, *choices: tuple[str, ...]) -> None:
        """Raise `ValueError`, which names what is missing, unless all members of one of the choices are there."""
        missing = [[name for name in choice if getattr(self, name) is UNSET] for choice in choices]
        if all(missing):
            encoded = dict(zip(self.__struct_fields__, self.__struct_encode_fields__, strict=True))
            words = " or ".join(" and ".join(f"`{encoded[name]}`" for name in one) for one in missing)
            raise ValueError(f"Object missing required field {words}")

    def require_known(self) -> None:
        """Raise `ValueError` for a value of an open member that we do not know: its object is an unknown one."""
        for name, known in self.open_members.items():
            if getattr(self, name) not in known:
                raise ValueError(f"Invalid value {getattr(self, name)!r} of `{name}`")


class Original(dict[str, Any]):
    """An object exactly as it came. A type of its own, to which no JSON decodes: no agent can pretend to have one."""


class Unknown(msgspec.Struct, tag=UNKNOWN, tag_field="type", kw_only=True):
    """An object whose tag the schema does not have; subclasses say where it may stand, and which member is its tag."""

    original: Original


# --- bounds ----------------------------------------------------------------------------------------------------------


class Bound(NamedTuple):
    """A bound of `most` characters or entries; what becomes of what is `beyond`: `CUT` or `WHOLE`."""

    most: int
    beyond: str


def bound_of(kind: inspect.Type) -> Bound | None:
    """The bound of a field beyond which something is left out; None for one that has none, or an exact one."""
    for one in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        inner = one.type if isinstance(one, inspect.Metadata) else one
        most = getattr(inner, "max_length", None)
        if isinstance(one, inspect.Metadata) and most is not None:
            return Bound(most, (one.extra or {}).get("beyond", CUT))
    return None


def within(value: str | list[Any], bound: Bound, missing: int) -> tuple[str | list[Any], int]:
    """As much of `value` as there may be, and how much is left out with what is `missing` already.

    A text that is cut says so at its end.
    """
    left = len(value) - bound.most + missing
    if bound.beyond == WHOLE:
        return type(value)(), len(value) + missing
    if isinstance(value, list):
        return value[: bound.most], max(left, missing)
    room = min(bound.most, len(value)) - len(_more(len(value) + missing))
    left = len(value) - room + missing
    return value[:room] + _more(left), left


def shortened(text: str, most: int) -> str:
    """`text`, cut to `most` characters, which say how much is left out."""
    return text if len(text) <= most else str(within(text, Bound(most, CUT), 0)[0])


def _more(count: int) -> str:
    return f" … and {count:,} more characters"


# --- three states ----------------------------------------------------------------------------------------------------


def given(value: T | UnsetType | None) -> T | None:
    """The value of a member for which absent and null mean the same; None for either."""
    return None if value is UNSET else value


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
