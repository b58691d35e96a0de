"""What `session/update` can say, whatever the protocol version: the model that versions are translated into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.acp.answers import Command, ConfigOption
from acp_nvim.acp.schema_common import ContentBlock
from acp_nvim.acp.terminal import TerminalPatch
from acp_nvim.acp.tool_call import Item, ToolCallPatch

Role = Literal["user", "agent", "thought"]


class MessageChunk(msgspec.Struct, frozen=True):
    """A piece of a message; pieces with the same `message_id` are one message."""

    role: Role
    content: ContentBlock
    message_id: str | None = None


class MessageReplaced(msgspec.Struct, frozen=True):
    """The whole of a message as it is now (v2 "Prompt Lifecycle", Message IDs); without `content` it stays as it is."""

    role: Role
    message_id: str
    content: list[ContentBlock] | UnsetType | None = UNSET


class TerminalChanged(msgspec.Struct, frozen=True):
    """News of a terminal, the agent's or ours."""

    patch: TerminalPatch


class TerminalPrinted(msgspec.Struct, frozen=True):
    """More output of a terminal; of what came before it `lost` bytes were not kept."""

    terminal_id: str
    data: bytes
    lost: int = 0


TerminalNews = TerminalChanged | TerminalPrinted


class ToolCallChanged(msgspec.Struct, frozen=True):
    """News of a tool call. `announced`: the agent presents it (`tool_call`), rather than updating it.

    `terminals`: what it says of terminals that it shows, whether its content names them or not.
    """

    patch: ToolCallPatch
    announced: bool = False
    terminals: Sequence[TerminalNews] = ()


class ToolCallContentAdded(msgspec.Struct, frozen=True):
    """One more item of a tool call's content, or a part of it; `size`: bytes of the message that said it."""

    tool_call_id: str
    item: Item
    size: int = 0
    is_cut: bool = False


class PlanEntry(msgspec.Struct, frozen=True):
    """One step of a plan (ACP "Agent Plan"), with `status` and `priority` in the words of the protocol."""

    content: str
    status: str = "pending"
    priority: str = "medium"


class PlanReplaced(msgspec.Struct, frozen=True):
    """The whole plan as it is now: steps, `text`, or the `uri` of a file. Version 1 has one plan, without an id.

    The agent has sent so many steps more that are `left` out.
    """

    entries: list[PlanEntry]
    plan_id: str | None = None
    text: str | None = None
    uri: str | None = None
    left: int = 0


class PlanRemoved(msgspec.Struct, frozen=True):
    """The plan is not wanted any more (unstable)."""

    plan_id: str


class StateChanged(msgspec.Struct, frozen=True):
    """The agent works (`running`), waits for the user (`requires_action`) or for a prompt (`idle`).

    An `idle` that ends something has the reason why. `background` are the tool calls that go on whatever the state;
    None says nothing of them.
    """

    state: str
    stop_reason: str | None = None
    error: str | None = None
    background: frozenset[str] | None = None


class CommandsReplaced(msgspec.Struct, frozen=True):
    """All slash commands of the session, but for so many that are `left` out."""

    commands: list[Command]
    left: int = 0


class ModeChanged(msgspec.Struct, frozen=True):
    """The session works in another mode now."""

    mode_id: str


class ConfigReplaced(msgspec.Struct, frozen=True):
    """All configuration options of the session, but for so many, or of their values, that are `left` out."""

    options: list[ConfigOption]
    left: int = 0


class SessionInfoChanged(msgspec.Struct, frozen=True):
    """The session got a title (or lost it: None)."""

    title: str | UnsetType | None = UNSET


class Cost(msgspec.Struct, frozen=True):
    """What the whole session cost; `currency` by ISO 4217, or another unit such as "credits"."""

    amount: float
    currency: str


class UsageChanged(msgspec.Struct, frozen=True):
    """Tokens in the context window, its size, and what the session cost so far; None: nobody knows any more."""

    used: int
    size: int
    cost: Cost | UnsetType | None = UNSET


class NoticeGiven(msgspec.Struct, frozen=True):
    """The agent has something to say about itself. `severity`: info, warning, error, or an unknown word."""

    severity: str
    title: str
    description: str | None = None


class Compaction(msgspec.Struct, frozen=True):
    """The agent shortens its context; `status` as in tool calls, `summary` replaces what chunks gathered."""

    compaction_id: str
    status: str
    error: str | None = None
    summary: list[ContentBlock] | UnsetType | None = UNSET


class SessionMessage(msgspec.Struct, frozen=True):
    """A message between this session and another one (unstable); without `content` it is what it was."""

    content: list[ContentBlock] | UnsetType | None = UNSET
    sender: str | None = None
    recipient: str | None = None


class UnknownUpdate(msgspec.Struct, frozen=True):
    """An update of a kind that we do not know, as it came."""

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
    | SessionMessage
    | Compaction
    | UnknownUpdate
)
