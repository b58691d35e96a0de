"""Finds what a permission request says in members that the protocol does not have: decoding drops them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from acp_nvim import decoders
from acp_nvim.limits import LEFT_OUT

UNKNOWN_BYTES: Final = 64 * 1024
"""Length of the value of such a member, or of metadata, that is read."""
NOT_READ: Final = "…/…"
"""Stands for a longer one."""


def unknown_members(raw: msgspec.Raw, decoded: msgspec.Struct) -> tuple[dict[str, Any], Any]:
    """Return the members of `raw` that the type of `decoded` does not have, and its metadata (None: it has none).

    Objects of the protocol inside of it, such as the tool call, are included; of these the metadata are decoded anyway.
    """
    members = decoders.decode(raw, dict[str, msgspec.Raw])
    fields = {one.encode_name: one.name for one in msgspec.structs.fields(type(decoded))}
    known = {*fields, "_meta", LEFT_OUT, str(type(decoded).__struct_config__.tag_field)}
    found = {name: _read(value) for name, value in members.items() if name not in known}
    for name in ("toolCall", "subject"):
        inner = getattr(decoded, fields[name], None) if name in fields and name in members else None
        if isinstance(inner, msgspec.Struct):
            found |= unknown_members(members[name], inner)[0]
    return found, _read(members["_meta"]) if "_meta" in members else None


def _read(value: msgspec.Raw) -> Any:
    return msgspec.json.decode(value) if len(value) <= UNKNOWN_BYTES else NOT_READ
