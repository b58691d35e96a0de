"""The state of a tool call, and the patches that change it: omitted keeps, null clears, a value replaces."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.acp.diff import Diff, FileChange
from acp_nvim.acp.schema_common import ContentBlock

FINISHED = frozenset({"completed", "failed", "cancelled", "rejected", "unfinished"})
"""Final statuses; the host sets the last two, for tool calls that a turn left open (session/turns.py)."""

CHANGES_WHAT_IT_NAMES = frozenset({"edit", "delete", "move"})
"""Kinds whose locations and diffs are the files that they change."""

OF_FILES: Final = frozenset({"read", "edit", "delete", "move", "search"})
"""Kinds that name an operation on files, so that an answer may apply to later requests."""

NO_CHANGE: Final = frozenset({"read", "search", "think", "fetch", "switch_mode"})
"""Kinds of tool calls that change no files."""

EARLIER_MEMBERS: Final = 50
"""Members of former raw inputs that a tool call keeps: a tool has ten."""
EARLIER_CHARS: Final = 4096
"""Length of such a member; of a longer one only that it was there is kept."""
MORE: Final = "…/…"
"""Stands for what is not kept; it is neither a path nor a command."""


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


class SessionShown(msgspec.Struct, frozen=True):
    """An item of a tool call's content: a link to another session, such as that of a subagent."""

    session_id: str


class UnknownItem(msgspec.Struct, frozen=True):
    """An item of an unknown kind, as it was received."""

    original: dict[str, Any]


Item = Shown | Diff | TerminalShown | SessionShown | UnknownItem


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
    cancellable: bool | UnsetType = UNSET
    size: int | UnsetType = UNSET
    """Size of the update message in bytes."""
    passed: tuple[str, ...] | UnsetType = UNSET
    """Statuses that the call had before `status`, if this is several updates in one (`absorb`); none is final."""

    def absorb(self, later: ToolCallPatch) -> bool:
        """Take over the update of the same call that follows this one; return False, unchanged, if that is not exact.

        Only more output and a later status are taken over: what may name files, changes or commands stays an update of
        its own, which is evidence of who changed what.
        """
        if not self._can_absorb(later):
            return False
        if later.status is not UNSET:
            self.passed = (*(self.passed or ()), str(self.status))
            self.status = later.status
        before, more = self.size or 0, later.size or 0
        self.size = max(before, more) if self.content and later.content else before + more
        if later.content is not UNSET:
            self.content, self.content_left = later.content, later.content_left
            self.lacks_content = later.lacks_content
        if later.raw_output is not UNSET:
            self.raw_output = later.raw_output
        if later.meta is not UNSET:
            self.meta = later.meta
        if later.cancellable is not UNSET:
            self.cancellable = later.cancellable
        return True

    def _can_absorb(self, later: ToolCallPatch) -> bool:
        if self.tool_call_id != later.tool_call_id or not (
            later.name is later.title is later.kind is later.locations is later.raw_input is UNSET
        ):
            return False
        if later.meta is not UNSET and self.meta not in (UNSET, later.meta):
            return False  # each may name a parent
        if self.status in FINISHED or not (later.status is UNSET or (self.status and later.status)):
            return False
        if self.locations and (not self.kind or self.kind in CHANGES_WHAT_IT_NAMES):
            return False
        return _is_output(self.content) and _is_output(later.content)


def _is_output(content: list[Item] | UnsetType | None) -> bool:
    """Return whether an update has no content, or only content blocks."""
    return content is UNSET or (content is not None and {*map(type, content)} == {Shown})


def superseded(earlier: tuple[tuple[str, Any], ...], before: Any, now: Any) -> tuple[tuple[str, Any], ...]:
    """Return the members that raw inputs before `now` had, and that `now` lacks or has with another value.

    An agent that has named them may still mean them. A value that `now` continues is none of them: some agents send the
    input while the model writes it. `before` was the last input, `earlier` what was returned for it.
    """
    members = before.items() if isinstance(before, dict) else [("input", before or None)]
    latest = now if isinstance(now, dict) else {}
    kept: list[tuple[str, Any]] = []
    for name, value in (*earlier, *members):
        if len(kept) > EARLIER_MEMBERS:
            break
        if value is not None and not _continues(latest.get(name), value):
            one = str(name), value if _is_small(value, [EARLIER_CHARS]) else MORE
            if one not in kept:
                kept.append(one)
    return tuple(kept) if len(kept) <= EARLIER_MEMBERS else (*kept[:EARLIER_MEMBERS], (MORE, MORE))


def _continues(now: Any, before: Any) -> bool:
    if isinstance(now, str) and isinstance(before, str):
        return now.startswith(before)
    if isinstance(now, list) and isinstance(before, list):
        return len(now) >= len(before) and all(map(_continues, now, before))
    if isinstance(now, dict) and isinstance(before, dict):
        return all(name in now and _continues(now[name], value) for name, value in before.items())
    return type(now) is type(before) and bool(now == before)


def _has_all(now: Any, before: Any) -> bool:
    """Return whether an input equals an earlier one, or has more members."""
    if isinstance(now, dict) and isinstance(before, dict):
        return all(name in now and now[name] == value for name, value in before.items())
    return bool(now == before)


def _is_small(value: Any, left: list[int]) -> bool:
    """Whether a value has at most `left[0]` characters, each value in it counted as one more."""
    left[0] -= 1 + (len(value) if isinstance(value, str) else 0)
    inside = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left[0] >= 0 and len(inside) <= left[0] and all(_is_small(one, left) for one in inside)


class ToolCall(msgspec.Struct, kw_only=True):
    """The current state of one tool call; the defaults are those of the specification.

    `content_left` items and `locations_left` locations were dropped. `lacks_title`, `lacks_content` (an item of it) and
    `lacks_input` (the raw input): parts were dropped. `cancellable`: the agent can cancel it alone, at the moment.
    `earlier_input`: see `superseded`. `is_used_again`: an input came after it had ended, as that of another call.
    `number` is its own in the session, as agents use ids again. `was_closed`: its turn left it open, and no end was
    reported.
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
    cancellable: bool = False
    earlier_input: tuple[tuple[str, Any], ...] = ()
    is_used_again: bool = False
    number: int = 0
    was_closed: bool = False

    @property
    def key(self) -> str:
        """Its number and its id: no other call of the session has that."""
        return f"{self.number} {self.tool_call_id}"

    def describes_another(self, patch: ToolCallPatch) -> bool:
        """Return whether `patch` names another kind, tool or input than this call, or title if one has no input.

        "other" is no kind, as it is the default. An input that has all members of the earlier one is the same.
        """
        if patch.kind and "other" not in (patch.kind, self.kind) and patch.kind != self.kind:
            return True
        if patch.name and self.name and patch.name != self.name:
            return True
        if patch.raw_input and self.raw_input:
            return not _has_all(patch.raw_input, self.raw_input)
        return bool(patch.title and self.title and patch.title.strip() != self.title.strip())

    def apply(self, patch: ToolCallPatch) -> bool:
        """Apply `patch`; return True if it changed anything that is displayed."""
        changed, was_finished = False, self.finished
        for name in _FIELDS:
            value = getattr(patch, name)
            if value is UNSET:
                continue
            if value is None:
                value = getattr(_CLEARED, name)
            if isinstance(value, list):
                value = list(value)  # a copy: chunks are appended to it
            if value != getattr(self, name):
                if name == "raw_input":
                    is_first = was_finished and not self.is_used_again
                    self.earlier_input = () if is_first else superseded(self.earlier_input, self.raw_input, value)
                    self.is_used_again = was_finished or self.is_used_again
                setattr(self, name, value)
                changed = changed or name not in _HIDDEN
        if self.finished and not was_finished:
            self.is_used_again = False
        return changed

    def note_lost(self) -> None:
        """Note that any part of it may be missing, until the agent sends that part again."""
        self.lacks_title = self.lacks_content = self.lacks_input = True

    def append(self, item: Item) -> None:
        """Add an item at the end of the content (`tool_call_content_chunk` of version 2)."""
        self.content.append(item)

    def files(self) -> list[tuple[str, FileChange | None]]:
        """Return the paths that it names: those of its diffs with their changes, and those of its locations."""
        found: list[tuple[str, FileChange | None]] = []
        for item in self.content:
            if isinstance(item, Diff):
                found += [(change.path, change) for change in item.changes]
        if self.locations:
            found += [(one.path, None) for one in self.locations]
        return found

    @property
    def incomplete(self) -> bool:
        """Whether parts of it were dropped, so that no rule can be applied to it."""
        return bool(self.content_left or self.locations_left or self.lacks_content or self.lacks_input)

    @property
    def finished(self) -> bool:
        """Whether its status is final; an unknown status counts as in progress (v2, ToolCallStatus)."""
        return self.status in FINISHED


_FIELDS = tuple(
    name
    for name in ToolCall.__struct_fields__
    if name not in ("tool_call_id", "earlier_input", "is_used_again", "number", "was_closed")
)
_HIDDEN = ("meta", "cancellable")
_CLEARED = ToolCall(tool_call_id="")
