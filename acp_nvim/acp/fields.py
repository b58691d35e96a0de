"""The building blocks of the generated types: bases, members that may be absent or null, and bounded texts and lists.

There are three kinds of bounds (`acp_nvim.acp.field_limits`). A field beyond an `exact` one is malformed. What is only
displayed is `cut`, with a note. What is useless in part is dropped as a `whole`. `left_out` counts what was dropped.

As in the generated types, annotations are no strings: msgspec would compile each before it decodes the first message.
"""

from typing import Annotated, Any, ClassVar, Final, TypeAlias, TypeVar

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
"""The tag of an object whose tag the schema does not define."""

UNTAGGED: Final = "acp_nvim/untagged"
"""The tag of a variant without a tag on the wire."""

CUT: Final = "cut"
WHOLE: Final = "whole"


def exact(most: int) -> Meta:
    """Return the bound of a field that is malformed with more than `most` characters, entries or members."""
    return Meta(max_length=most)


def cut(most: int) -> Meta:
    """Return the bound of a field that is cut after `most` characters or entries."""
    return Meta(max_length=most, extra={"beyond": CUT})


def whole(most: int) -> Meta:
    """Return the bound of a text that is dropped as a whole if it is longer than `most` characters."""
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
"""Any JSON value: only the bounds of the whole message (`acp_nvim.limits`) apply."""


class Sent(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    """Base of the types that are only sent, and have no bounds."""

    meta: Maybe[dict[str, Any]] = msgspec.field(name="_meta", default=UNSET)


class Wire(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    """Base of the types that are received; members that the schema does not define are ignored."""

    meta: Maybe[dict[str, Untyped]] = msgspec.field(name="_meta", default=UNSET)
    left_out: Maybe[dict[str, int]] = msgspec.field(name=LEFT_OUT, default=UNSET)
    """How much of each member was dropped (`acp_nvim.limits.LEFT_OUT`); never sent."""

    open_members: ClassVar[dict[str, frozenset[str]]] = {}
    """Further members, by wire name, that select the shape of a tagged variant, and their known values."""

    def require_one(self, *choices: tuple[str, ...]) -> None:
        """Raise `ValueError` with the missing names, unless all members of one of the choices are present."""
        missing = [[name for name in choice if getattr(self, name) is UNSET] for choice in choices]
        if all(missing):
            encoded = dict(zip(self.__struct_fields__, self.__struct_encode_fields__, strict=True))
            words = " or ".join(" and ".join(f"`{encoded[name]}`" for name in one) for one in missing)
            raise ValueError(f"Object missing required field {words}")

    def require_known(self) -> None:
        """Raise `ValueError` for an unknown value of an open member, so that the object is treated as unknown."""
        for name, known in self.open_members.items():
            if getattr(self, name) not in known:
                raise ValueError(f"Invalid value {getattr(self, name)!r} of `{name}`")


class Original(dict[str, Any]):
    """An object as it was received. JSON never decodes to this type, so that no agent can forge one."""


class Unknown(msgspec.Struct, tag=UNKNOWN, tag_field="type", kw_only=True):
    """An object whose tag the schema does not define; subclasses define where it may occur, and its tag member."""

    original: Original


# --- bounds ----------------------------------------------------------------------------------------------------------


class Bound(msgspec.Struct, frozen=True):
    """A bound of `most` characters or entries; `beyond` says what is dropped: the excess (`CUT`) or all (`WHOLE`)."""

    most: int
    beyond: str


def bound_of(kind: inspect.Type) -> Bound | None:
    """Return the bound of a field that is cut or dropped; None for a field without bound, or with an exact one."""
    for one in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        inner = one.type if isinstance(one, inspect.Metadata) else one
        most = getattr(inner, "max_length", None)
        if isinstance(one, inspect.Metadata) and most is not None:
            return Bound(most, (one.extra or {}).get("beyond", CUT))
    return None


def within(value: str | list[Any], bound: Bound, missing: int) -> tuple[str | list[Any], int]:
    """Return `value` within the bound, and how much is dropped, including what was `missing` before.

    A text that is cut ends with a note.
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
    """Return `text` cut to `most` characters, with a note at its end if it was longer."""
    return text if len(text) <= most else str(within(text, Bound(most, CUT), 0)[0])


def _more(count: int) -> str:
    return f" … and {count:,} more characters"


# --- three states ----------------------------------------------------------------------------------------------------


def given(value: T | UnsetType | None) -> T | None:
    """Return the value of a member; None if it is absent or null."""
    return None if value is UNSET else value


def left(said: Wire, *members: str) -> int:
    """Return how much of these members (by their names on the wire) was dropped."""
    missing = said.left_out
    return sum(max(0, missing.get(name, 0)) for name in members) if isinstance(missing, dict) else 0


def lacks(said: Wire, *members: str) -> bool:
    """Return whether anything was dropped from these members, at any depth."""
    return isinstance(said.left_out, dict) and any(name in said.left_out for name in members)


def lacks_inside(said: Wire, member: str) -> bool:
    """Return whether anything was dropped inside an object of a list, in contrast to objects of the list."""
    items = getattr(said, member)
    return lacks(said, member) and any(isinstance(one.left_out, dict) for one in items or () if isinstance(one, Wire))
