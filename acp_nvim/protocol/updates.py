"""What `session/update` can say, whatever the protocol version: the model that versions are translated into."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.protocol.content import ContentBlock
from acp_nvim.protocol.tool_call import ToolCallPatch

Role = Literal["user", "agent", "thought"]


class MessageChunk(msgspec.Struct, frozen=True):
    """A piece of a message; pieces with the same `message_id` are one message."""

    role: Role
    content: ContentBlock
    message_id: str | None = None


class ToolCallChanged(msgspec.Struct, frozen=True):
    """News of a tool call. `announced`: the agent presents it (`tool_call`), rather than updating it."""

    patch: ToolCallPatch
    announced: bool


class PlanEntry(msgspec.Struct, frozen=True):
    """One step of a plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


class PlanReplaced(msgspec.Struct, frozen=True):
    """The whole plan as it is now."""

    entries: list[PlanEntry]


class Command(msgspec.Struct, frozen=True):
    """A slash command of the agent."""

    name: str
    description: str
    hint: str | None = None


class CommandsReplaced(msgspec.Struct, frozen=True):
    """All slash commands of the session."""

    commands: list[Command]


class ModeChanged(msgspec.Struct, frozen=True):
    """The session works in another mode now."""

    mode_id: str


class ConfigReplaced(msgspec.Struct, frozen=True):
    """All configuration options of the session, as the agent wrote them."""

    options: list[dict[str, Any]]


class SessionInfoChanged(msgspec.Struct, frozen=True):
    """The session got a title (or lost it: None)."""

    title: str | UnsetType | None = UNSET


class UsageChanged(msgspec.Struct, frozen=True):
    """Tokens in the context window, its size, and what it cost so far."""

    used: int
    size: int
    cost: float | None = None
    currency: str | None = None


class NoticeGiven(msgspec.Struct, frozen=True):
    """The agent has something to say about itself. `severity`: info, warning, error, or an unknown word."""

    severity: str
    title: str
    description: str | None = None


class Compaction(msgspec.Struct, frozen=True):
    """The agent shortens its context; `status` as in tool calls."""

    compaction_id: str
    status: str
    error: str | None = None


class UnknownUpdate(msgspec.Struct, frozen=True):
    """An update of a kind that we do not know, as it came."""

    kind: str
    original: Any


Update = (
    MessageChunk
    | ToolCallChanged
    | PlanReplaced
    | CommandsReplaced
    | ModeChanged
    | ConfigReplaced
    | SessionInfoChanged
    | UsageChanged
    | NoticeGiven
    | Compaction
    | UnknownUpdate
)
