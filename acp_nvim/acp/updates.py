"""The model of `session/update`, into which both protocol versions are translated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.acp.answers import Command, ConfigOption, TurnTokens
from acp_nvim.acp.schema_common import ContentBlock
from acp_nvim.acp.terminal import TerminalPatch
from acp_nvim.acp.tool_call import Item, ToolCallPatch

Role = Literal["user", "agent", "thought"]


class MessageChunk(msgspec.Struct, frozen=True):
    """A piece of a message; pieces with the same `message_id` form one message."""

    role: Role
    content: ContentBlock
    message_id: str | None = None


class MessageReplaced(msgspec.Struct, frozen=True):
    """The new content of a message (v2 "Prompt Lifecycle", Message IDs); without `content` it is unchanged."""

    role: Role
    message_id: str
    content: list[ContentBlock] | UnsetType | None = UNSET


class TerminalChanged(msgspec.Struct, frozen=True):
    """An update of a terminal, the agent's or the host's."""

    patch: TerminalPatch


class TerminalPrinted(msgspec.Struct, frozen=True):
    """Output of a terminal; `lost` bytes before it were dropped, with the ends of `lost_lines`."""

    terminal_id: str
    data: bytes
    lost: int = 0
    lost_lines: int = 0


TerminalNews = TerminalChanged | TerminalPrinted


class ToolCallChanged(msgspec.Struct, frozen=True):
    """An update of a tool call; `announced`: a new one (`tool_call`); `asks`: part of a permission request for it.

    `terminals` are updates of its terminals.
    """

    patch: ToolCallPatch
    announced: bool = False
    terminals: Sequence[TerminalNews] = ()
    asks: bool = False

    def absorb(self, later: ToolCallChanged) -> bool:
        """Take over the update of the same call that follows this one, if that is exact (`ToolCallPatch.absorb`)."""
        return not (later.announced or later.terminals) and self.patch.absorb(later.patch)


class ToolCallContentAdded(msgspec.Struct, frozen=True):
    """An item to append to a tool call's content, or a part of one; `size` is that of the message in bytes."""

    tool_call_id: str
    item: Item
    size: int = 0
    is_cut: bool = False


class PlanEntry(msgspec.Struct, frozen=True):
    """One step of a plan (ACP "Agent Plan"), with `status` and `priority` as in the protocol."""

    content: str
    status: str = "pending"
    priority: str = "medium"


class PlanReplaced(msgspec.Struct, frozen=True):
    """The new state of a plan: steps, `text`, or the `uri` of a file. Version 1 has one plan, without an id.

    `left` is the number of steps that were dropped.
    """

    entries: list[PlanEntry]
    plan_id: str | None = None
    text: str | None = None
    uri: str | None = None
    left: int = 0


class PlanRemoved(msgspec.Struct, frozen=True):
    """The agent has removed a plan (unstable)."""

    plan_id: str


class StateChanged(msgspec.Struct, frozen=True):
    """The agent works (`running`), waits for the user (`requires_action`) or for a prompt (`idle`).

    An `idle` that ends a turn has a reason. `background` are the tool calls that continue; None if not reported.
    `tokens` are those of the work that has ended.
    """

    state: str
    stop_reason: str | None = None
    error: str | None = None
    background: frozenset[str] | None = None
    tokens: TurnTokens | None = None


class CommandsReplaced(msgspec.Struct, frozen=True):
    """All slash commands of the session, except for `left` ones that were dropped."""

    commands: list[Command]
    left: int = 0


class ModeChanged(msgspec.Struct, frozen=True):
    """The session has switched to another mode."""

    mode_id: str


class ConfigReplaced(msgspec.Struct, frozen=True):
    """All configuration options of the session, except for `left` options or values that were dropped."""

    options: list[ConfigOption]
    left: int = 0


class SessionInfoChanged(msgspec.Struct, frozen=True):
    """The session has a new title, or none any more (None); `suggestion` is the prompt that the agent suggests."""

    title: str | UnsetType | None = UNSET
    suggestion: str | UnsetType | None = UNSET


class Cost(msgspec.Struct, frozen=True):
    """The cost of the whole session; `currency` is one of ISO 4217, or another unit such as "credits"."""

    amount: float
    currency: str


class UsageChanged(msgspec.Struct, frozen=True):
    """Tokens in the context window, its size, and the cost of the session so far; None: not known any more."""

    used: int
    size: int
    cost: Cost | UnsetType | None = UNSET


class NoticeGiven(msgspec.Struct, frozen=True):
    """A notice of the agent. `severity`: info, warning, error, or an unknown one."""

    severity: str
    title: str
    description: str | None = None


class Retrying(msgspec.Struct, frozen=True):
    """The agent repeats a failed request to its provider (an extension); `reason` in a few words."""

    reason: str | None = None


class Compaction(msgspec.Struct, frozen=True):
    """The agent compacts its context; `status` is as in tool calls, `summary` replaces earlier chunks of it."""

    compaction_id: str
    status: str
    error: str | None = None
    summary: list[ContentBlock] | UnsetType | None = UNSET


class SessionMessage(msgspec.Struct, frozen=True):
    """A message between this session and another one (ACP "Subagents"); absent members are unchanged."""

    message_id: str
    content: list[ContentBlock] | UnsetType | None = UNSET
    sender: str | UnsetType | None = UNSET
    recipient: str | UnsetType | None = UNSET


class SessionMessageChunk(msgspec.Struct, frozen=True):
    """A piece of a message between this session and another one."""

    message_id: str
    content: ContentBlock


class SubagentChanged(msgspec.Struct, frozen=True):
    """The agent has created a child session, or changes what it says of it (ACP "Subagents").

    Absent members are unchanged; None: not known any more. `can_cancel`: the client may cancel the child's work.
    """

    session_id: str
    title: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    can_cancel: bool | UnsetType = UNSET
    state: StateChanged | UnsetType | None = UNSET
    cwd: str | UnsetType | None = UNSET
    additional_directories: list[str] | UnsetType | None = UNSET


class UnknownUpdate(msgspec.Struct, frozen=True):
    """An update of an unknown kind, as it was received."""

    kind: str
    original: dict[str, Any]


Update = (
    MessageChunk
    | MessageReplaced
    | ToolCallChanged
    | ToolCallContentAdded
    | TerminalChanged
    | TerminalPrinted
    | PlanReplaced
    | PlanRemoved
    | StateChanged
    | CommandsReplaced
    | ModeChanged
    | ConfigReplaced
    | SessionInfoChanged
    | UsageChanged
    | NoticeGiven
    | Retrying
    | SessionMessage
    | SessionMessageChunk
    | SubagentChanged
    | Compaction
    | UnknownUpdate
)
