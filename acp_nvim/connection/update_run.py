"""Joins updates that arrive together, and estimates the memory that they take."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.tool_call import Shown, ToolCallPatch
from acp_nvim.acp.updates import MessageChunk, ToolCallChanged, ToolCallContentAdded, Update

CONTAINER_BYTES: Final = 150
"""Memory of an object or array without its contents: 56 to 232 bytes."""
PLAIN_BYTES: Final = 500
"""Memory of the containers of an update with one text."""
VALUE_BYTES: Final = 50
"""Memory of a value in it: 24 to 100 bytes."""


def measured(update: Update, params: msgspec.Raw) -> Update:
    """Set the memory size of an update of a tool call, which may be large."""
    if type(update) is ToolCallChanged:
        patch = update.patch
        patch.size = len(params) + PLAIN_BYTES if _is_plain(patch) else memory(params)
    elif type(update) is ToolCallContentAdded:
        return msgspec.structs.replace(update, size=memory(params))
    return update


def _is_plain(patch: ToolCallPatch) -> bool:
    """Return whether an update has at most one text, so that it takes hardly more memory than its JSON."""
    if not (patch.raw_input is patch.raw_output is patch.meta is patch.locations is UNSET):
        return False
    if not patch.content:
        return True
    item = patch.content[0]
    if len(patch.content) > 1 or type(item) is not Shown or type(item.block) is not TextContent:
        return False
    return item.block.meta is item.block.annotations is UNSET


def memory(params: msgspec.Raw) -> int:
    """Estimate the bytes that `params` take when decoded: many small values take far more than their JSON."""
    text = bytes(params)
    return len(text) + CONTAINER_BYTES * (text.count(b"{") + text.count(b"[")) + VALUE_BYTES * text.count(b",")


class UpdateRun:
    """Joins updates that arrive together into one: text chunks of one message, or updates of one tool call.

    Joining them here, and not only in the batches for the editor, halves the time for a flood of them
    (doc/development/protocol.md).
    """

    def __init__(self) -> None:
        self._session_id = ""
        self._first: MessageChunk | ToolCallChanged | None = None
        self._texts: list[str] = []

    def takes(self, session_id: str, update: Update) -> bool:
        """Add an update that begins or continues a run; return False for any other."""
        first = self._first
        if type(update) is MessageChunk:
            if type(update.content) is not TextContent:
                return False
            if first is None:
                self._session_id, self._first = session_id, update
            elif (
                type(first) is not MessageChunk
                or update.role is not first.role
                or update.message_id != first.message_id
                or session_id != self._session_id
            ):
                return False
            self._texts.append(update.content.text)
            return True
        if type(update) is not ToolCallChanged:
            return False
        if first is None:
            self._session_id, self._first = session_id, update
            return True
        return type(first) is ToolCallChanged and session_id == self._session_id and first.absorb(update)

    def take(self) -> tuple[tuple[str, Update], ...]:
        """Remove the run; return the session's id with the joined update, or nothing if there is none."""
        first, texts = self._first, self._texts
        if first is None:
            return ()
        self._first = None
        if isinstance(first, ToolCallChanged):
            return ((self._session_id, first),)
        self._texts = []
        joined = MessageChunk(first.role, TextContent(text="".join(texts)), first.message_id)
        return ((self._session_id, joined),)
