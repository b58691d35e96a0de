"""The kinds of blocks that a transcript consists of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from acp_nvim.acp.diff import Diff
from acp_nvim.acp.fields import shortened
from acp_nvim.acp.terminal import Terminal
from acp_nvim.acp.tool_call import Item, TerminalShown, ToolCall, ToolCallPatch
from acp_nvim.acp.updates import Role
from acp_nvim.history.records import KeptEvent
from acp_nvim.limits import OLD_TITLE_CHARS
from acp_nvim.ui import events
from acp_nvim.ui.request_events import Elicitation, ElicitationComplete, ElicitationDone, PermissionAuto
from acp_nvim.ui.review_events import Summary
from acp_nvim.ui.views import DiffItem

INSTANT_SECONDS: Final = 1.0
"""A tool call that takes no longer has no duration: nobody waited for it."""
OLD_PLACES: Final = 10
"""Of its places: as many as the chat shows."""

PARENTS = ("parentToolUseId", "parentToolCallId", "parent_tool_use_id", "parent_tool_call_id")
"""Words for the id of the call that another one is part of."""

QuestionNews: TypeAlias = events.PermissionDone | ElicitationDone | ElicitationComplete
"""What may become of a question to the user."""


class MessageBlock:
    """A message; its text is kept as UTF-8, which takes a third of what a list of small strings takes."""

    def __init__(self, role: Role, message_id: str | None) -> None:
        self.role: Role = role
        self.message_id = message_id
        self.text = bytearray()


class CutDiffs:
    """What is told of diffs, as long as they are the same: to cut a large one takes a while."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: tuple[tuple[Diff, list[DiffItem]], ...] = ()

    def __repr__(self) -> str:
        return f"<CutDiffs {len(self._known)}>"

    def get(self, diff: Diff, cut: Callable[[Diff], list[DiffItem]]) -> list[DiffItem]:
        """What was told of it before, else what `cut` makes of it."""
        for known, told in self._known:
            if known is diff:
                return told
        told = cut(diff)
        self._known += ((diff, told),)
        return told

    def forget(self) -> None:
        """Forget the hunks that were cut: the call has other diffs now."""
        self._known = ()


class CallBlock:
    """A tool call, and the diffs that it showed before its content became something else.

    Agents show a diff while they ask and edit, and then often replace it by a word of success.
    """

    __slots__ = (
        "_ended",
        "_started",
        "call",
        "cut_diffs",
        "parent",
        "past_diffs",
        "size",
        "terminals",
        "told",
        "told_of",
    )

    def __init__(self, call: ToolCall, now: float) -> None:
        self.call = call
        self.past_diffs: Sequence[Diff] = ()
        self.terminals: dict[str, Terminal] = {}
        """Those that it has shown: a later agent may use their ids for others."""
        self.told_of: frozenset[str] = frozenset()
        """Those that it tells of itself, although its content need not name them."""
        self.parent: str | None = None
        """The id of the call that it is a part of."""
        self.cut_diffs = CutDiffs()
        self.size = 0
        """Bytes of memory that its texts and inputs take here."""
        self.told = 0
        """Bytes that it takes in the editor."""
        self._started = now
        self._ended: float | None = None

    def apply(self, patch: ToolCallPatch, now: float) -> bool:
        """Take over what `patch` says; True when that changed anything that is shown."""
        shown = [one for one in self.call.content if isinstance(one, Diff)] or self.past_diffs
        before = self.call.status
        changed = self.call.apply(patch)
        if patch.content is not UNSET:
            content = self.call.content
            self.past_diffs = () if not content or any(isinstance(one, Diff) for one in content) else shown
            if changed:
                self.cut_diffs.forget()
        if self.call.status != before:
            self._clock(before, now)
        parent = parent_of(patch.meta) or self.parent
        changed, self.parent = changed or parent != self.parent, parent
        return changed

    def forget_texts(self) -> None:
        """Keep the beginning of what it is called and of where it works; of the rest, how many items there were."""
        call = self.call
        call.content_left += len(call.content)
        call.lacks_input = call.lacks_input or call.raw_input is not None
        if len(call.title) > OLD_TITLE_CHARS:  # which may name a command: then a part of it is unknown, too
            call.title, call.lacks_input = shortened(call.title, OLD_TITLE_CHARS), True
        call.locations_left += max(0, len(call.locations) - OLD_PLACES)
        call.locations = call.locations[:OLD_PLACES]
        call.content, call.raw_input, call.raw_output, call.meta = [], None, None, None
        self.past_diffs, self.size = (), 0
        self.cut_diffs.forget()

    def begin(self, now: float) -> None:
        """Note that the call's work begins now, if it has not ended."""
        if not self.call.finished:
            self._started = now

    def times(self) -> tuple[float | None, float | None]:
        """When it started and ended, if that is worth telling: nobody waited for one that was done at once."""
        if self._ended is None:
            return self._started if self.call.status == "in_progress" else None, None
        return (self._started, self._ended) if self._ended - self._started >= INSTANT_SECONDS else (None, None)

    def items(self) -> list[Item]:
        """All that it shows: what its content was, what it is, and terminals that it tells of."""
        content = self.call.content
        named = {one.terminal_id for one in content if isinstance(one, TerminalShown)}
        more = (TerminalShown(terminal_id) for terminal_id in self.terminals if terminal_id in self.told_of - named)
        return [*self.past_diffs, *content, *more]

    def _clock(self, before: str, now: float) -> None:
        """What waited for a permission has not begun before that."""
        if before == "pending" and not self.call.finished:
            self._started = now
        self._ended = now if self.call.finished else None


def parent_of(meta: dict[str, Any] | UnsetType | None) -> str | None:
    """The call that agents say another one is part of: the protocol has no word for it, and each has its own place.

    claude-agent-acp has `claudeCode.parentToolUseId`, others `parentToolCallId`.
    """
    if not isinstance(meta, dict):
        return None
    for place in (meta, *(one for one in meta.values() if isinstance(one, dict))):
        for word in PARENTS:
            if isinstance(parent := place.get(word), str) and parent:
                return parent
    return None


class QuestionBlock:
    """A permission request, or a question of the agent to the user; and what became of it."""

    def __init__(self, asked: events.Permission | Elicitation) -> None:
        self.asked = asked
        self.news: list[QuestionNews] = []


class KeptBlock:
    """A block of a conversation that was taken up again, as it was kept; nothing of it can change."""

    def __init__(self, kept: Sequence[KeptEvent]) -> None:
        self.kept = kept


Block = (
    MessageBlock
    | CallBlock
    | QuestionBlock
    | KeptBlock
    | events.Notice
    | events.Plan  # as it was shown last
    | PermissionAuto
    | Summary
)
"""What stands in a transcript; what one event shows whole is that event."""
