"""Decodes what agents send: keeps objects of unknown kinds, and cuts what is too long.

`decode` and `convert` raise for malformed data; `salvage` drops the malformed members, and names them.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import UNSET, inspect

from acp_nvim import decoders
from acp_nvim.acp.field_limits import TEXT_CHARS, WORD_CHARS
from acp_nvim.acp.fields import UNKNOWN, UNTAGGED, Original, Wire, bound_of, shortened, within
from acp_nvim.errors import TooLargeError
from acp_nvim.lazy import pattern
from acp_nvim.limits import LEFT_OUT, LIST_ENTRIES

T = TypeVar("T")

WRONG_PARTS: Final = 20
"""Malformed members of one message that are dropped and named; a message with more is rejected."""

_LEFT_OUT: Final = f'"{LEFT_OUT}"'.encode()
_PLACE: Final = pattern(r" - at `\$([^`]*)`$")
_STEP: Final = pattern(r"\.([^.\[]+)|\[(\d+)\]")


def decode(raw: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Decode JSON. Raises `msgspec.ValidationError` that names the malformed member, or `msgspec.DecodeError`.

    Nearly all messages take the fast path; others are checked for unknown kinds and for texts and lists to be cut.
    """
    try:
        try:
            decoded = decoders.decode(raw, kind)
            if not _was_cut(raw, decoded):
                return decoded
        except msgspec.ValidationError:
            pass
        return convert(msgspec.json.decode(raw), kind)
    except RecursionError as error:
        raise msgspec.ValidationError("JSON that is nested too deeply") from error


def decode_whole(raw: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Decode the parameters of a request like `decode`, but cut nothing. Raises `TooLargeError`, too.

    What is done, or answered, would be something else than the agent has asked for.
    """
    decoded = decode(raw, kind)
    beyond = left_out(decoded)
    if not beyond:
        return decoded
    try:
        decoders.decode(raw, kind)
    except msgspec.ValidationError as error:
        if "length <=" in str(error):
            raise TooLargeError(str(error)) from error
    raise TooLargeError(", ".join(beyond))


def _was_cut(raw: bytes | msgspec.Raw, decoded: Any) -> bool:
    """Return whether parts of a message were dropped while it arrived, which its outermost object tells, too."""
    if isinstance(decoded, Wire):
        return decoded.left_out is not UNSET
    return len(raw) > LIST_ENTRIES and _LEFT_OUT in bytes(raw)


def convert(value: Any, to: type[T]) -> T:
    """Convert decoded JSON like `decode`, without changing `value`."""
    return decoders.convert(_masked(value, _type_info(cast(Hashable, to))), to)


def salvage(raw: bytes | msgspec.Raw, kind: type[T]) -> tuple[T, list[str]]:
    """Decode what is well-formed, and return complaints that name the members which are malformed or too long.

    If a required member is malformed, the object around it is dropped. Raises the first error, a
    `msgspec.DecodeError`, if nothing is left.
    """
    try:
        whole = decode(raw, kind)
        return whole, left_out(whole)
    except msgspec.ValidationError as error:
        first = error
    removed = _steps(first)
    value, complaints = msgspec.json.decode(raw) if removed else None, [str(first)]
    while removed and len(complaints) < WRONG_PARTS:
        container = functools.reduce(lambda inner, step: inner[step], removed[:-1], value)
        del container[removed[-1]]
        try:
            rest = convert(value, kind)
            return rest, complaints + left_out(rest)
        except msgspec.ValidationError as error:
            wrong = _steps(error)
            is_around = len(wrong) < len(removed) and removed[: len(wrong)] == wrong  # a consequence of the removal
            if not is_around:
                complaints.append(str(error))
            removed = wrong
    raise first


def left_out(value: Any) -> list[str]:
    """Return complaints about members that were cut."""
    if isinstance(value, list):
        return list(dict.fromkeys(words for one in value for words in left_out(one)))
    if isinstance(value, dict):
        return left_out([one for one in value.values() if isinstance(one, Wire)])
    if not isinstance(value, Wire):
        return []
    missing = value.left_out if isinstance(value.left_out, dict) else {}
    own = [f"{count:,} more of {name!r} than acp_nvim keeps" for name, count in missing.items() if count > 0]
    inner = [words for name in value.__struct_fields__ for words in left_out(getattr(value, name))]
    return list(dict.fromkeys([*own, *inner]))[:WRONG_PARTS]


def _steps(error: msgspec.ValidationError) -> list[str | int]:
    """Return the path of the malformed member: names and indices, as far as msgspec reports them."""
    place = _PLACE.search(str(error))
    if place is None:
        return []
    known = place[1].partition("[...]")[0]
    return [name or int(index) for name, index in _STEP.findall(known)]


# --- unknown kinds and bounds ----------------------------------------------------------------------------------------


@functools.cache
def _type_info(of: Any) -> inspect.Type:
    return inspect.type_info(of)


def _masked(value: Any, kind: inspect.Type) -> Any:
    """Return `value` with objects of unknown kinds in the form of `Unknown`, and everything within its bounds."""
    match value:
        case dict():
            return _masked_object(value, _choices(kind))
        case list():
            items = next((one.item_type for one in _choices(kind) if isinstance(one, inspect.ListType)), None)
            return value if items is None else [_masked(item, items) for item in value]
        case float() if value.is_integer() and any(isinstance(one, inspect.IntType) for one in _choices(kind)):
            # JSON has one kind of numbers; msgpack cannot encode larger integers
            return int(value) if -(2**63) <= value < 2**63 else value
        case _:
            return value


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
        texts = {name: item for name, item in value.items() if isinstance(item, str)}
        shown = {name: shortened(item, WORD_CHARS if name == field else TEXT_CHARS) for name, item in texts.items()}
        return {field: UNKNOWN, "original": Original({**value, **shown})}
    return value if variant is None else _masked_members({**value, field: tag}, variant)


def _masked_members(value: dict[str, Any], struct: inspect.StructType) -> dict[str, Any]:
    """Return the object with all members within their bounds, and the counts of what was cut."""
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
        inner = masked[name] if isinstance(masked[name], list) else [masked[name]]
        if any(isinstance(one, dict) and LEFT_OUT in one for one in inner):
            missing.setdefault(name, 0)
    return {**masked, LEFT_OUT: missing} if missing else masked


def _fits(value: dict[str, Any], variant: inspect.StructType | None) -> bool:
    """Return whether the variant is known, and also the values of its `open_members`."""
    if variant is None:
        return False
    choosing = cast(type[Wire], variant.cls).open_members
    return not any(isinstance(value.get(name), str) and value[name] not in known for name, known in choosing.items())


def _choices(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return tuple(one.type if isinstance(one, inspect.Metadata) else one for one in kinds)
