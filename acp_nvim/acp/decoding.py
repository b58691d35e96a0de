"""Decoding of what agents say: unknown kinds are kept, what is too long is cut, what is wrong can be left out.

`decode` and `convert` raise for what is malformed; `salvage` gives the rest of it, and names what is wrong.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Hashable
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import inspect

from acp_nvim.acp.field_limits import TEXT_CHARS, WORD_CHARS
from acp_nvim.acp.fields import UNKNOWN, UNTAGGED, Original, Wire, bound_of, shortened, within
from acp_nvim.limits import LEFT_OUT, LIST_ENTRIES

T = TypeVar("T")

WRONG_PARTS: Final = 20
"""Wrong parts of one message that are left out and named; what has more is not the protocol."""

_LEFT_OUT: Final = re.compile(re.escape(f'"{LEFT_OUT}"').encode())
_PLACE: Final = re.compile(r" - at `\$([^`]*)`$")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


@functools.cache
def decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """The decoder for a type or a union of types, made once: that takes 7 ms for a `session/update`."""
    return msgspec.json.Decoder(kind)


def decode(raw: bytes | msgspec.Raw, kind: type[T]) -> T:
    """What is written there. Raises `msgspec.ValidationError` that names the wrong member, or `msgspec.DecodeError`.

    Nearly everything is right the first time; only what is not is looked at with care.
    """
    try:
        try:
            if not is_incomplete(raw):
                return cast(T, decoder(cast(Hashable, kind)).decode(raw))
        except msgspec.ValidationError:
            pass
        return convert(msgspec.json.decode(raw), kind)
    except RecursionError as error:
        raise msgspec.ValidationError("JSON that is nested too deeply") from error


def is_incomplete(raw: bytes | msgspec.Raw) -> bool:
    """Whether something was left out of it while it arrived."""
    return len(raw) > LIST_ENTRIES and _LEFT_OUT.search(memoryview(raw)) is not None


def convert(value: Any, to: type[T]) -> T:
    """Convert JSON that is decoded already as `decode` does; `value` stays as it is."""
    return msgspec.convert(_masked(value, _type_info(cast(Hashable, to))), to)


def salvage(raw: bytes | msgspec.Raw, kind: type[T]) -> tuple[T, list[str]]:
    """What is right of it, and what was wrong or too long, each in words that name the member.

    A wrong member that must be there takes along what it belongs to. Where nothing is left it raises the first error,
    a `msgspec.DecodeError`.
    """
    try:
        whole = decode(raw, kind)
        return whole, left_out(whole)
    except msgspec.ValidationError as error:
        first = error
    removed = _steps(first)
    value, complaints = msgspec.json.decode(raw) if removed else None, [str(first)]
    while removed and len(complaints) < WRONG_PARTS:
        _remove(value, removed)
        try:
            rest = convert(value, kind)
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


# --- unknown kinds and bounds ----------------------------------------------------------------------------------------


@functools.cache
def _type_info(of: Any) -> inspect.Type:
    return inspect.type_info(of)


def _masked(value: Any, kind: inspect.Type) -> Any:
    """`value` with everything that has an unknown tag, or none, in the shape that its type has for such."""
    match value:
        case dict():
            return _masked_object(value, _choices(kind))
        case list():
            items = next((one.item_type for one in _choices(kind) if isinstance(one, inspect.ListType)), None)
            return value if items is None else [_masked(item, items) for item in value]
        case float() if _is_int64(value) and any(isinstance(one, inspect.IntType) for one in _choices(kind)):
            return int(value)  # JSON has one kind of numbers
        case _:
            return value


def _is_int64(value: float) -> bool:
    """Larger integers cannot be told to an editor."""
    return value.is_integer() and -(2**63) <= value < 2**63


def _masked_object(value: dict[str, Any], choices: tuple[inspect.Type, ...]) -> Any:
    structs = [one for one in choices if isinstance(one, inspect.StructType)]
    if not structs:
        values = next((one.value_type for one in choices if isinstance(one, inspect.DictType)), None)
        return value if values is None else {name: _masked(item, values) for name, item in value.items()}
    if len(structs) == 1:
        return _masked_members(value, structs[0])
    field = structs[0].tag_field or ""
    tag = value.get(field, UNTAGGED)
    variant = next((one for one in structs if one.tag == tag), None)
    if (field in value and isinstance(tag, str)) and (tag in (UNKNOWN, UNTAGGED) or not _fits(value, variant)):
        return {field: UNKNOWN, "original": _original(value, field)}
    return value if variant is None else _masked_members({**value, field: tag}, variant)


def _masked_members(value: dict[str, Any], struct: inspect.StructType) -> dict[str, Any]:
    """With each member within its bound, and told what is left out of them."""
    kinds = {field.encode_name: field.type for field in struct.fields}
    given = value.get(LEFT_OUT)
    said: dict[str, Any] = given if isinstance(given, dict) else {}
    missing = {name: count for name, count in said.items() if isinstance(count, int) and count >= 0}
    masked: dict[str, Any] = {}
    for name, item in value.items():
        kind = kinds.get(name)
        bound = bound_of(kind) if kind is not None and isinstance(item, str | list) else None
        before = missing.get(name, 0) if bound else 0
        if bound and (len(item) > bound.most or before > 0):
            item, missing[name] = within(item, bound, before)
        masked[name] = item if kind is None else _masked(item, kind)
        if _is_cut(masked[name]):
            missing.setdefault(name, 0)
    return {**masked, LEFT_OUT: missing} if missing else masked


def _is_cut(value: Any) -> bool:
    """Whether something is left out in an object, or in one of a list."""
    return any(isinstance(one, dict) and LEFT_OUT in one for one in (value if isinstance(value, list) else [value]))


def _original(value: dict[str, Any], tag: str) -> Original:
    """With texts that are not too long to be shown: what is unknown is told by its tag."""
    room = {tag: WORD_CHARS}
    texts = {name: item for name, item in value.items() if isinstance(item, str)}
    return Original({**value, **{name: shortened(item, room.get(name, TEXT_CHARS)) for name, item in texts.items()}})


def _fits(value: dict[str, Any], variant: inspect.StructType | None) -> bool:
    """Whether the variant is known, and so are the values of its other members that choose a shape."""
    if variant is None:
        return False
    choosing = cast(type[Wire], variant.cls).open_members
    return not any(isinstance(value.get(name), str) and value[name] not in known for name, known in choosing.items())


def _choices(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return tuple(one.type if isinstance(one, inspect.Metadata) else one for one in kinds)
