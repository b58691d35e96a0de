"""All messages that Lua may send, by the names of their methods."""

from __future__ import annotations

import msgspec

from acp_nvim.rpc import messages, request_messages, review_messages, session_messages

_BASES = (messages.Message, messages.SessionMessage)

MESSAGES: dict[str, type[msgspec.Struct]] = {
    str(one.__struct_config__.tag): one
    for module in (messages, session_messages, request_messages, review_messages)
    for one in vars(module).values()
    if getattr(getattr(one, "__struct_config__", None), "tag_field", None) == "message" and one not in _BASES
}
