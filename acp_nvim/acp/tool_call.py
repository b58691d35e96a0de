"""The state of a tool call, and the patches that change it: omitted keeps, null clears, a value replaces."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.acp.diff import Diff, FileChange
from acp_nvim.acp.schema_common import ContentBlock

FINISHED = frozenset({"completed", "failed", "cancelled", "rejected", "unfinished"})
"""Final statuses; the host sets the last two, for tool calls that a turn left open (session/turns.py)."""


class Location(msgspec.Struct):
    """A place in a file; `line` is 1-based."""

    path: str
    line: int | None = None


class Shown(msgspec.Struct, frozen=True):
    """An item of a tool call's content: a content block."""

    block: ContentBlock


class TerminalShown(msgspec.Struct, frozen=True):
    """An item of a tool call's content: the output of a terminal."""

    terminal_id: str


class UnknownItem(msgspec.Struct, frozen=True):
    """An item of an unknown kind, as it was received."""

    original: dict[str, Any]


Item = Shown | Diff | TerminalShown | UnknownItem


class ToolCallPatch(msgspec.Struct, kw_only=True):
    """An update of a tool call (v2 "Tool Calls", or `tool_call` and `tool_call_update` of v1), see `ToolCall`."""

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
    """Size of the update message in bytes."""


class ToolCall(msgspec.Struct, kw_only=True):
    """The current state of one tool call; the defaults are those of the specification.

    `content_left` items and `locations_left` locations were dropped. `lacks_title`, `lacks_content` (an item of it) and
    `lacks_input` (the raw input): parts were dropped.
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
        """Apply `patch`; return True if it changed anything but the metadata, which is not displayed."""
        changed = False
        for name in _FIELDS:
            value = getattr(patch, name)
            if value is UNSET:
                continue
            if value is None:
                value = getattr(_CLEARED, name)
            if isinstance(value, list):
                value = list(value)  # a copy: chunks are appended to it
            if value != getattr(self, name):
                setattr(self, name, value)
                changed = changed or name != "meta"
        return changed

    def append(self, item: Item) -> None:
        """Add an item at the end of the content (`tool_call_content_chunk` of version 2)."""
        self.content.append(item)

    def files(self) -> list[tuple[str, FileChange | None]]:
        """Return the paths that it names: those of its diffs with their changes, and those of its locations."""
        changes = [change for item in self.content if isinstance(item, Diff) for change in item.changes]
        return [*((change.path, change) for change in changes), *((one.path, None) for one in self.locations)]

    @property
    def incomplete(self) -> bool:
        """Whether parts of it were dropped, so that no rule can be applied to it."""
        return bool(self.content_left or self.locations_left or self.lacks_content or self.lacks_input)

    @property
    def finished(self) -> bool:
        """Whether its status is final; an unknown status counts as in progress (v2, ToolCallStatus)."""
        return self.status in FINISHED


_FIELDS = tuple(name for name in ToolCall.__struct_fields__ if name != "tool_call_id")
_CLEARED = ToolCall(tool_call_id="")
