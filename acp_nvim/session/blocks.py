"""The kinds of blocks that a transcript consists of."""

from __future__ import annotations

from msgspec import UNSET

from acp_nvim import events
from acp_nvim.errors import Severity
from acp_nvim.permission_events import PermissionAuto
from acp_nvim.protocol.diff import Diff
from acp_nvim.protocol.terminal import Terminal
from acp_nvim.protocol.tool_call import Item, TerminalShown, ToolCall, ToolCallPatch
from acp_nvim.protocol.updates import Role
from acp_nvim.review_events import Summary


class MessageBlock:
    """A message; its text is kept as UTF-8, which takes a third of what a list of small strings takes."""

    def __init__(self, role: Role, message_id: str | None) -> None:
        self.role: Role = role
        self.message_id = message_id
        self.text = bytearray()


class CallBlock:
    """A tool call, and the diffs that it showed before its content became something else.

    Agents show a diff while they ask and edit, and then often replace it by a word of success.
    """

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.past_diffs: list[Diff] = []
        self.terminals: dict[str, Terminal] = {}
        """Those that it has shown: a later agent may use their ids for others."""
        self.told_of: set[str] = set()
        """Those that it tells of itself, although its content need not name them."""

    def apply(self, patch: ToolCallPatch) -> bool:
        """Take over what `patch` says; True when that changed anything that is shown."""
        shown = [one for one in self.call.content if isinstance(one, Diff)] or self.past_diffs
        changed = self.call.apply(patch)
        if patch.content is not UNSET:
            content = self.call.content
            self.past_diffs = [] if not content or any(isinstance(one, Diff) for one in content) else shown
        return changed

    def items(self) -> list[Item]:
        """All that it shows: what its content was, what it is, and terminals that it tells of."""
        content = self.call.content
        named = {one.terminal_id for one in content if isinstance(one, TerminalShown)}
        more = (TerminalShown(terminal_id) for terminal_id in self.terminals if terminal_id in self.told_of - named)
        return [*self.past_diffs, *content, *more]


class PlanBlock:
    """One plan of one turn, as it was shown last."""

    def __init__(self, shown: events.Plan) -> None:
        self.shown = shown


class NoticeBlock:
    """A line of ours."""

    def __init__(self, level: Severity, text: str) -> None:
        self.level: Severity = level
        self.text = text


class RequestBlock:
    """A permission request and what became of it."""

    def __init__(self, request: events.RequestView) -> None:
        self.request = request
        self.done: events.PermissionDone | None = None


class AutoBlock:
    """A permission request that a rule has answered."""

    def __init__(self, shown: PermissionAuto) -> None:
        self.shown = shown


class SummaryBlock:
    """The files that a turn has changed."""

    def __init__(self, shown: Summary) -> None:
        self.shown = shown


Block = MessageBlock | CallBlock | PlanBlock | NoticeBlock | RequestBlock | AutoBlock | SummaryBlock
