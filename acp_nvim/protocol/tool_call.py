"""The state of one tool call, and the upsert that changes it: omitted keeps, null clears, a value replaces."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.protocol.content import ToolCallContent

UNFINISHED = frozenset({"pending", "in_progress"})


class Location(msgspec.Struct):
    """A place in a file; `line` is 1-based."""

    path: str
    line: int | None = None


class ToolCallPatch(msgspec.Struct, rename="camel", kw_only=True):
    """What an update says of a tool call (ACP "Tool Calls"; `tool_call` and `tool_call_update` alike)."""

    tool_call_id: str
    title: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET
    content: list[ToolCallContent] | UnsetType | None = UNSET
    locations: list[Location] | UnsetType | None = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET


class ToolCall(msgspec.Struct, kw_only=True):
    """One tool call as it stands; a missing field has the specification's default."""

    tool_call_id: str
    title: str = ""
    kind: str = "other"
    status: str = "pending"
    content: list[ToolCallContent] = []
    locations: list[Location] = []
    raw_input: Any = None
    raw_output: Any = None

    def apply(self, patch: ToolCallPatch) -> bool:
        """Take over what `patch` says; True when that changed anything."""
        changed = False
        for name, default in _DEFAULTS.items():
            value = getattr(patch, name)
            if value is UNSET:
                continue
            value = default if value is None else value
            if value != getattr(self, name):
                setattr(self, name, value)
                changed = True
        return changed

    @property
    def finished(self) -> bool:
        """No more work is expected on it."""
        return self.status not in UNFINISHED


_DEFAULTS: dict[str, Any] = {
    "title": "",
    "kind": "other",
    "status": "pending",
    "content": [],
    "locations": [],
    "raw_input": None,
    "raw_output": None,
}
