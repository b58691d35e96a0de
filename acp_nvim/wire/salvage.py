"""Reading an answer, or news, of which parts are wrong: those are left out, and named."""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar

import msgspec

from acp_nvim.limits import WRONG_PARTS
from acp_nvim.wire import open_unions
from acp_nvim.wire.base import Wire

T = TypeVar("T")

_PLACE: Final = re.compile(r" - at `\$([^`]*)`$")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


def salvage(raw: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> tuple[T, list[str]]:
    """What is right of it, and what was wrong or too long, each in words that name the member.

    A wrong member that must be there takes along what it belongs to. Where nothing is left it raises the first error,
    a `msgspec.DecodeError`.
    """
    try:
        whole = open_unions.decode(raw, decoder)
        return whole, left_out(whole)
    except msgspec.ValidationError as error:
        first = error
    removed = _steps(first)
    value, complaints = msgspec.json.decode(raw) if removed else None, [str(first)]
    while removed and len(complaints) < WRONG_PARTS:
        _remove(value, removed)
        try:
            rest = open_unions.convert(value, decoder.type)
            return rest, complaints + left_out(rest)
        except msgspec.ValidationError as error:
            wrong = _steps(error)
            if len(wrong) >= len(removed) or removed[: len(wrong)] != wrong:  # else it is what the removal left behind
                complaints.append(str(error))
            removed = wrong
    raise first


def left_out(value: Any) -> list[str]:
    """What was too long in it, in words."""
    if isinstance(value, list):
        return list(dict.fromkeys(words for one in value for words in left_out(one)))
    if not isinstance(value, Wire):
        return []
    missing = value.left_out if isinstance(value.left_out, dict) else {}
    own = [f"{count:,} more of {name!r} than acp_nvim keeps" for name, count in missing.items() if count > 0]
    inner = [words for name in value.__struct_fields__ for words in left_out(getattr(value, name))]
    return list(dict.fromkeys([*own, *inner]))[:WRONG_PARTS]


def _steps(error: msgspec.ValidationError) -> list[str | int]:
    """Where it is wrong: names and places of members, as far as they are known."""
    place = _PLACE.search(str(error))
    if place is None:
        return []
    known = place[1].partition("[...]")[0]
    return [name or int(index) for name, index in _STEP.findall(known)]


def _remove(value: Any, steps: list[str | int]) -> None:
    for step in steps[:-1]:
        value = value[step]
    del value[steps[-1]]
