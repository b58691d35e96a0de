"""Finds what a permission request says in members that the protocol does not have: decoding drops them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from acp_nvim import decoders
from acp_nvim.acp.fields import Unknown
from acp_nvim.limits import LEFT_OUT

UNKNOWN_BYTES: Final = 64 * 1024
"""Length of the value of such a member, or of metadata, that is read."""
NOT_READ: Final = "…/…"
"""Stands for a longer one."""

_INNER: Final = ("toolCall", "subject")
"""Members of a request that are looked into; those of its options are only names of answers."""


def unknown_members(raw: msgspec.Raw, decoded: msgspec.Struct) -> tuple[dict[str, Any], list[Any]]:
    """Return the members of `raw` that the type of `decoded` does not have, and its metadata.

    Objects of the protocol inside of it, such as the tool call with its content, are included. Values of the same name
    are in a list. Metadata that are too long to be read are such a member.
    """
    found: dict[str, Any] = {}
    metadata = []
    for name, value in _members(raw, decoded, _INNER):
        read = msgspec.json.decode(value) if len(value) <= UNKNOWN_BYTES else NOT_READ
        if name == "_meta" and read != NOT_READ:
            metadata.append(read)
        else:
            found[name] = [found[name], read] if name in found else read
    return found, metadata


def _members(
    raw: msgspec.Raw, decoded: msgspec.Struct, inner: tuple[str, ...] | None = None
) -> Iterator[tuple[str, msgspec.Raw]]:
    """Yield the unknown members and the metadata, also those of the objects in the members `inner` (None: in all)."""
    fields = {one.encode_name: one.name for one in msgspec.structs.fields(type(decoded))}
    known = {*fields, LEFT_OUT, str(type(decoded).__struct_config__.tag_field)}
    for name, value in decoders.decode(raw, dict[str, msgspec.Raw]).items():
        if name == "_meta" or name not in known:
            yield name, value
        elif name in fields and (inner is None or name in inner):
            yield from _inside(value, getattr(decoded, fields[name]))


def _inside(raw: msgspec.Raw, decoded: Any) -> Iterator[tuple[str, msgspec.Raw]]:
    if isinstance(decoded, msgspec.Struct) and not isinstance(decoded, Unknown):  # an unknown one is kept as it is
        yield from _members(raw, decoded)
    elif isinstance(decoded, list) and any(isinstance(one, msgspec.Struct) for one in decoded):
        for one, inner in zip(decoders.decode(raw, list[msgspec.Raw]), decoded, strict=False):
            yield from _inside(one, inner)
