"""The way back of decoding: the JSON of what was decoded, unknown things as they came."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from acp_nvim.acp.fields import UNTAGGED, Unknown, Wire


def encode(value: Any) -> bytes:
    """The JSON of anything `decode` gave; what is unknown comes out as it came."""
    return msgspec.json.encode(_plain(value))


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
