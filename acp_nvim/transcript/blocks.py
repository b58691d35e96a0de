"""The kinds of blocks in a transcript."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from acp_nvim.acp.diff import Diff
from acp_nvim.acp.fields import shortened
from acp_nvim.acp.terminal import Terminal
from acp_nvim.acp.tool_call import FINISHED, Item, TerminalShown, ToolCall, ToolCallPatch
from acp_nvim.acp.updates import Role
from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation, ElicitationComplete, ElicitationDone, PermissionAuto
from acp_nvim.contract.review_events import Summary
from acp_nvim.contract.views import DiffItem
from acp_nvim.history.records import KeptEvent
from acp_nvim.limits import FIRST_LINES, LAST_LINES, OLD_TITLE_CHARS
from acp_nvim.terminals.screen import Ends, Screen, is_plain

INSTANT_SECONDS: Final = 1.0
"""Longest run of a tool call that is shown without a duration: no user noticed the wait."""
OLD_PLACES: Final = 10
"""Locations kept of an old tool call: as many as the chat shows."""

NONE_REPORTED: Final[frozenset[str]] = frozenset()
NO_TERMINALS: Final[Mapping[str, Terminal]] = {}
NO_SCREENS: Final[Mapping[int, tuple[str, Screen | None]]] = {}
"""Shared by all calls: an empty set takes 200 bytes, a dictionary 64."""
PARENTS = ("parentToolUseId", "parentToolCallId", "parent_tool_use_id", "parent_tool_call_id")
"""Names of the member with the id of the parent call."""

QuestionNews: TypeAlias = events.PermissionDone | ElicitationDone | ElicitationComplete
"""Events about the outcome of a question to the user."""


class MessageBlock:
    """A message. Its text is kept as UTF-8, which takes a third of the memory of a list of small strings.

    It can grow while it is a `bytearray`; `bytes` take half the memory of a short one. `half` of a character is not
    in the text: its other half may come.
    """

    __slots__ = ("half", "message_id", "role", "text")

    def __init__(self, role: Role, message_id: str | None) -> None:
        self.role: Role = role
        self.message_id = message_id
        self.text: bytes | bytearray = bytearray()
        self.half = ""


class CallBlock:
    """A tool call, and the diffs that it showed before its content was replaced.

    Agents show a diff while they ask and edit, and then often replace it by a word of success.
    """

    __slots__ = (
        "_checked",
        "_cut",
        "_ended",
        "_screens",
        "_started",
        "above",
        "call",
        "parent",
        "past_diffs",
        "reported",
        "shown_bytes",
        "size",
        "terminals",
    )

    def __init__(self, call: ToolCall, now: float) -> None:
        self.call = call
        self.past_diffs: Sequence[Diff] = ()
        self.terminals: Mapping[str, Terminal] = NO_TERMINALS
        """The terminals that it has shown; a later agent may use their ids for others."""
        self.reported = NONE_REPORTED
        """Ids of terminals that updates of the call reported, which its content need not name."""
        self.parent: str | None = None
        """The id of the parent call."""
        self.above: CallBlock | None = None
        """The parent call, once it was found; a later call may have the same id."""
        self.size = 0
        """Bytes of memory that its texts and inputs take in the host."""
        self.shown_bytes = 0
        """Bytes that it takes in the editor."""
        self._checked: tuple[tuple[Diff, Diff], ...] = ()
        self._cut: tuple[tuple[Diff, list[DiffItem]], ...] = ()
        self._screens: Mapping[int, tuple[str, Screen | None]] = NO_SCREENS
        self._started = now
        self._ended: float | None = None

    def apply(self, patch: ToolCallPatch, now: float) -> bool:
        """Apply an update; return whether anything that is shown has changed."""
        before, shown = self.call.status, self.call.content
        changed = self.call.apply(patch)
        if patch.content is not UNSET:
            self._replaced(shown)
            if changed:
                self._cut = ()
        if patch.status is not UNSET:
            for status in (*(patch.passed or ()), self.call.status):
                if status != before:
                    is_final, changed = status in FINISHED, True
                    if before == "pending" and not is_final:  # the wait for a permission is no work
                        self._started = now
                    self._ended = now if is_final else None
                before = status
        if patch.meta and (parent := parent_of(patch.meta) or self.parent) != self.parent:
            changed, self.parent, self.above = True, parent, None
        return changed

    def _replaced(self, before: Sequence[Item]) -> None:
        """Keep the diffs of the content `before`, if the content that has replaced it shows no diff."""
        content = self.call.content
        if not content or Diff in map(type, content):
            self.past_diffs = ()
        elif Diff in map(type, before):
            self.past_diffs = [one for one in before if isinstance(one, Diff)]

    def check_diffs(self, check: Callable[[Diff], Diff]) -> int:
        """Keep `check(diff)` for each diff that has come; return the characters of all old texts in these.

        A diff is checked once: later the file may be as the diff makes it.
        """
        known = [one for one in self._checked if any(one[0] is diff for diff in self.diffs())]
        news = [one for one in self.call.content if isinstance(one, Diff) and self.as_checked(one) is one]
        more = [(one, check(one)) for one in news]
        self._checked = (*known, *more)
        changes = (change for _, checked in more for change in checked.changes)
        return sum(len(piece.old_text or "") for change in changes for piece in change.pieces)

    def as_checked(self, diff: Diff) -> Diff:
        """Return a diff as it was checked; itself if it was not."""
        return next((checked for known, checked in self._checked if known is diff), diff)

    def cut_diff(self, diff: Diff, cut: Callable[[Diff], list[DiffItem]]) -> list[DiffItem]:
        """Return `cut(diff)`, cached while the call has this diff: cutting a large one is slow."""
        for known, items in self._cut:
            if known is diff:
                return items
        items = cut(diff)
        self._cut += ((diff, items),)
        return items

    def printed(self, place: int, text: str) -> Ends | None:
        """Return the text at that place as a terminal shows it; None if it shows the text unchanged.

        Of a text that has grown, only what is new is looked at, and printed on the screen of the last time.
        """
        before, screen = self._screens.get(place, ("", None))
        if not text.startswith(before):
            before, screen = "", None
        if screen is None and not is_plain(text[len(before) :]):
            before, screen = "", Screen(FIRST_LINES)
        if screen is not None:
            screen.feed(text[len(before) :])
        self._screens = {other: one for other, one in self._screens.items() if other != place} or NO_SCREENS
        if not self.call.finished:
            self._screens = {**self._screens, place: (text, screen)}
        elif screen is not None:
            screen.finish()
        return None if screen is None else screen.ends(LAST_LINES)

    def forget_cut(self) -> None:
        """Forget what `cut_diff` and `printed` keep, as the call hardly changes any more."""
        self._cut, self._screens = (), NO_SCREENS

    def forget_texts(self) -> None:
        """Keep only the beginning of the title and of the locations, and count the other items."""
        call = self.call
        call.content_left += len(call.content)
        call.lacks_input = call.lacks_input or call.raw_input is not None
        if len(call.title) > OLD_TITLE_CHARS:  # it may name a command, of which a part is then unknown
            call.title, call.lacks_input = shortened(call.title, OLD_TITLE_CHARS), True
        call.locations_left += max(0, len(call.locations) - OLD_PLACES)
        call.locations = call.locations[:OLD_PLACES]
        call.content, call.raw_input, call.raw_output, call.meta, call.earlier_input = [], None, None, None, ()
        self.past_diffs, self.size, self._checked = (), 0, ()
        self.forget_cut()

    def begin(self, now: float) -> None:
        """Restart the clock of the call's work, unless the call has finished."""
        if not self.call.finished:
            self._started = now

    def times(self) -> tuple[float | None, float | None]:
        """Return when the call started and ended; None for both if it took no longer than `INSTANT_SECONDS`."""
        if self._ended is None:
            return self._started if self.call.status == "in_progress" else None, None
        return (self._started, self._ended) if self._ended - self._started >= INSTANT_SECONDS else (None, None)

    def diffs(self) -> list[Diff]:
        """Return the diffs that it shows, or has shown last."""
        return [one for one in self.call.content if isinstance(one, Diff)] or list(self.past_diffs)

    def items(self) -> list[Item]:
        """Return all that it shows: its past diffs, its content, and the terminals reported by its updates."""
        content = self.call.content
        if not (self.terminals or self.past_diffs):
            return content
        named = {one.terminal_id for one in content if isinstance(one, TerminalShown)}
        more = (TerminalShown(terminal_id) for terminal_id in self.terminals if terminal_id in self.reported - named)
        return [*self.past_diffs, *content, *more]


def parent_of(meta: dict[str, Any] | UnsetType) -> str | None:
    """Return the id of a call's parent from its metadata, which the protocol does not define.

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
    """A permission request, or a question of the agent to the user, and its outcome; `call` is what it asks for."""

    def __init__(self, asked: events.Permission | Elicitation, call: CallBlock | None = None) -> None:
        self.asked = asked
        self.call = call
        self.news: list[QuestionNews] = []


class KeptBlock:
    """A stored block of a resumed conversation, which never changes."""

    def __init__(self, kept: Sequence[KeptEvent]) -> None:
        self.kept = kept


Block = (
    MessageBlock
    | CallBlock
    | QuestionBlock
    | KeptBlock
    | events.Notice
    | events.Plan  # its latest state
    | events.Subagent  # its latest state
    | PermissionAuto
    | Summary
)
"""A block of a transcript. A block that one event shows completely is that event."""
