"""Decodes JSON, MessagePack and plain values into types, from any thread.

msgspec 0.22 prepares a struct when it is first decoded, and crashes when another thread decodes it meanwhile. So types
are prepared here, by one thread at a time. Other modules pass no type to msgspec's functions, except while they are
imported (`tests/core/test_decoders.py`).
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_preparing = threading.Lock()


@cache
def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder of a type or a union of types; that of a large union takes milliseconds to make."""
    with _preparing:
        return msgspec.json.Decoder(kind)


@overload
def decode(data: bytes | str | msgspec.Raw, kind: type[T]) -> T: ...


@overload
def decode(data: bytes | str | msgspec.Raw, kind: Any) -> Any: ...


def decode(data: bytes | str | msgspec.Raw, kind: Any) -> Any:
    """Decode JSON. Raises `msgspec.DecodeError`, or `msgspec.ValidationError` for a value of another type."""
    return json_decoder(kind).decode(data)


@cache
def _msgpack_decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    with _preparing:
        return msgspec.msgpack.Decoder(kind)


def decode_msgpack(data: bytes, kind: Any) -> Any:
    """Decode MessagePack. Raises `msgspec.DecodeError`, or `msgspec.ValidationError` for a value of another type."""
    return _msgpack_decoder(kind).decode(data)


@overload
def convert(value: Any, kind: type[T], *, strict: bool = True) -> T: ...


@overload
def convert(value: Any, kind: Any, *, strict: bool = True) -> Any: ...


def convert(value: Any, kind: Any, *, strict: bool = True) -> Any:
    """Convert a decoded value. Raises `msgspec.ValidationError` for a value of another type.

    Unless `strict`, numbers and booleans may be texts.
    """
    json_decoder(kind)
    return msgspec.convert(value, kind, strict=strict)
