"""Decoding that keeps what has a tag that we do not know, and the way back; what has a known tag must be right."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Any, TypeVar, cast

import msgspec
from msgspec import UNSET, inspect

from acp_nvim.wire.base import UNKNOWN, UNTAGGED, Original, Unknown, Wire

T = TypeVar("T")


def decode(raw: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> T:
    """What is written there. Raises `msgspec.ValidationError` that names the wrong member, or `msgspec.DecodeError`.

    Nearly everything is right the first time; only what is not is looked at with care.
    """
    try:
        try:
            return decoder.decode(raw)
        except msgspec.ValidationError:
            return convert(msgspec.json.decode(raw), decoder.type)
    except RecursionError as error:
        raise msgspec.ValidationError("JSON that is nested too deeply") from error


def convert(value: Any, to: type[T]) -> T:
    """The same for JSON that is decoded already; `value` stays as it is."""
    return msgspec.convert(_masked(value, _type_info(cast(Hashable, to))), to)


def encode(value: Any) -> bytes:
    """The JSON of anything `decode` gave; what is unknown comes out as it came."""
    return msgspec.json.encode(_plain(value))


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
        case float() if value.is_integer() and any(isinstance(one, inspect.IntType) for one in _choices(kind)):
            return int(value)  # JSON has one kind of numbers
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
        return {field: UNKNOWN, "original": Original(value)}
    return value if variant is None else _masked_members({**value, field: tag}, variant)


def _masked_members(value: dict[str, Any], struct: inspect.StructType) -> dict[str, Any]:
    kinds = {field.encode_name: field.type for field in struct.fields}
    return {name: _masked(item, kinds[name]) if name in kinds else item for name, item in value.items()}


def _fits(value: dict[str, Any], variant: inspect.StructType | None) -> bool:
    """Whether the variant is known, and so are the values of its other members that choose a shape."""
    if variant is None:
        return False
    choosing = cast(type[Wire], variant.cls).open_members
    return not any(isinstance(value.get(name), str) and value[name] not in known for name, known in choosing.items())


def _choices(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def _plain(value: Any) -> Any:
    """`value` without structs, as far as they are not simply encoded."""
    match value:
        case Unknown():
            return dict(value.original)
        case Wire():
            return _members(value)
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case _:
            return value


def _members(value: Wire) -> dict[str, Any]:
    config = value.__struct_config__
    tag = {} if config.tag_field is None or config.tag == UNTAGGED else {config.tag_field: config.tag}
    names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
    members = ((encoded, getattr(value, name)) for encoded, name in names)
    return {**tag, **{encoded: _plain(member) for encoded, member in members if member is not UNSET}}
