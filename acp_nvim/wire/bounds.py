"""The bounded types that fields of wire types are made of (`acp_nvim.limits.wire`), and the cut of what is too long.

Three kinds of bounds: what is beyond an `exact` one makes the field malformed; what is only shown is `cut`, and says
so; what is nothing in part is left out as a `whole`. Either is counted in the object's `left_out`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from msgspec import Meta, inspect

from acp_nvim.limits import wire as limits

CUT: Final = "cut"
WHOLE: Final = "whole"


def exact(most: int) -> Meta:
    """No more characters, entries or members than that."""
    return Meta(max_length=most)


def cut(most: int) -> Meta:
    """What is beyond it is left out."""
    return Meta(max_length=most, extra={"beyond": CUT})


def whole(most: int) -> Meta:
    """All of it is left out when it is longer."""
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
"""Anything: the bounds of the message that it is in (`acp_nvim.limits.messages`) are its own."""


class Bound(NamedTuple):
    """So many characters or entries `most`; what becomes of what is `beyond`: `CUT` or `WHOLE`."""

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
    """A text that no type bounds, cut to `most` characters."""
    return text if len(text) <= most else str(within(text, Bound(most, CUT), 0)[0])


def _more(count: int) -> str:
    return f" … and {count:,} more characters"
