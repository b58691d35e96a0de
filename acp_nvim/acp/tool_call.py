"""The state of one tool call, and the upsert that changes it: omitted keeps, null clears, a value replaces."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.acp.diff import Diff, FileChange
from acp_nvim.acp.schema_common import ContentBlock

FINISHED = frozenset({"completed", "failed", "cancelled", "rejected", "unfinished"})
"""Statuses after which no work is expected; the last two are ours, for what a turn left open (session/turns.py)."""


class Location(msgspec.Struct):
    """A place in a file; `line` is 1-based."""

    path: str
    line: int | None = None


class Shown(msgspec.Struct, frozen=True):
    """An item of a tool call's content: a content block."""

    block: ContentBlock


class TerminalShown(msgspec.Struct, frozen=True):
    """An item of a tool call's content: what a terminal shows."""

    terminal_id: str


class UnknownItem(msgspec.Struct, frozen=True):
    """An item of a kind that we do not know, as it came."""

    original: dict[str, Any]


Item = Shown | Diff | TerminalShown | UnknownItem


class ToolCallPatch(msgspec.Struct, kw_only=True):
    """What an update says of a tool call (v2 "Tool Calls"; v1's `tool_call` and `tool_call_update` say it too)."""

    tool_call_id: str
    name: str | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET
    content: list[Item] | UnsetType | None = UNSET
    locations: list[Location] | UnsetType | None = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    meta: dict[str, Any] | UnsetType | None = UNSET
    content_left: int | UnsetType = UNSET
    locations_left: int | UnsetType = UNSET
    lacks_title: bool | UnsetType = UNSET
    lacks_content: bool | UnsetType = UNSET
    lacks_input: bool | UnsetType = UNSET
    size: int | UnsetType = UNSET
    """Bytes of the message that said it."""


class ToolCall(msgspec.Struct, kw_only=True):
    """One tool call as it stands; a missing field has the specification's default.

    The agent has sent `content_left` items and `locations_left` places more, which were not kept. `lacks_title`,
    `lacks_content` (of an item that was kept), `lacks_input` (of the raw input): neither was a part of that.
    """

    tool_call_id: str
    name: str | None = None
    title: str = ""
    kind: str = "other"
    status: str = "pending"
    content: list[Item] = []
    locations: list[Location] = []
    raw_input: Any = None
    raw_output: Any = None
    meta: dict[str, Any] | None = None
    content_left: int = 0
    locations_left: int = 0
    lacks_title: bool = False
    lacks_content: bool = False
    lacks_input: bool = False

    def apply(self, patch: ToolCallPatch) -> bool:
        """Take over what `patch` says; True when that changed anything but the metadata, which nobody sees."""
        changed = False
        for name in _FIELDS:
            value = getattr(patch, name)
            if value is UNSET:
                continue
            if value is None:
                value = getattr(_CLEARED, name)
            if isinstance(value, list):
                value = list(value)  # ours alone: chunks are appended to it
            if value != getattr(self, name):
                setattr(self, name, value)
                changed = changed or name != "meta"
        return changed

    def append(self, item: Item) -> None:
        """Add an item at the end of the content (`tool_call_content_chunk` of version 2)."""
        self.content.append(item)

    def files(self) -> list[tuple[str, FileChange | None]]:
        """The files that it names, as it names them: what its diffs change, and where else it works."""
        changes = [change for item in self.content if isinstance(item, Diff) for change in item.changes]
        return [*((change.path, change) for change in changes), *((one.path, None) for one in self.locations)]

    @property
    def incomplete(self) -> bool:
        """Whether only a part is known of what it does: no rule can say anything about the rest."""
        return bool(self.content_left or self.locations_left or self.lacks_content or self.lacks_input)

    @property
    def finished(self) -> bool:
        """No more work is expected on it; a status that we do not know counts as in progress (v2, ToolCallStatus)."""
        return self.status in FINISHED


_FIELDS = tuple(name for name in ToolCall.__struct_fields__ if name != "tool_call_id")
_CLEARED = ToolCall(tool_call_id="")
