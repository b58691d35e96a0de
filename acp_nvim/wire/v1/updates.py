"""What agents tell of a session (version 1): `session/update`."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import UNSET

from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire
from acp_nvim.wire.content import ContentBlock
from acp_nvim.wire.facts import (
    CompactionSummaryChunk,
    CompactionUpdate,
    Content,
    Notice,
    PlanEntry,
    SessionInfoUpdate,
    Terminal,
    ToolCallLocation,
    UsageUpdate,
)
from acp_nvim.wire.v1.config import SessionConfigOption


class ContentChunk(Wire):
    """A piece of a message."""

    content: ContentBlock
    message_id: Maybe[str] = UNSET


class UserMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="user_message_chunk"):
    """A piece of what the user said."""


class AgentMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """A piece of the answer."""


class AgentThoughtChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """A piece of the agent's thinking."""


class Diff(Wire, tag_field="type", tag="diff"):
    """Content of a tool call: a change of a file; without `old_text` the file is new."""

    path: str
    new_text: str
    old_text: Maybe[str] = UNSET


class UnknownToolCallContent(Unknown):
    """Content of a tool call of a kind that we do not know."""


ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownToolCallContent


class ToolCall(Wire, tag_field="sessionUpdate", tag="tool_call"):
    """The agent presents a tool call."""

    tool_call_id: str
    title: str
    name: Maybe[str] = UNSET
    kind: Omittable[str] = UNSET
    status: Omittable[str] = UNSET
    content: Omittable[list[ToolCallContent]] = UNSET
    locations: Omittable[list[ToolCallLocation]] = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET


class ToolCallUpdateFields(Wire):
    """`ToolCallUpdate` where it is no update: in a permission request."""

    tool_call_id: str
    kind: Maybe[str] = UNSET
    status: Maybe[str] = UNSET
    title: Maybe[str] = UNSET
    name: Maybe[str] = UNSET
    content: Maybe[list[ToolCallContent]] = UNSET
    locations: Maybe[list[ToolCallLocation]] = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET


class ToolCallUpdate(ToolCallUpdateFields, tag_field="sessionUpdate", tag="tool_call_update"):
    """News of a tool call; what it does not mention stays."""


class Plan(Wire, tag_field="sessionUpdate", tag="plan"):
    """The whole plan as it is now."""

    entries: list[PlanEntry]


class UnstructuredCommandInput(Wire):
    """What follows the command is one text."""

    hint: str


AvailableCommandInput: TypeAlias = UnstructuredCommandInput


class AvailableCommand(Wire):
    """A slash command."""

    name: str
    description: str
    input: Maybe[AvailableCommandInput] = UNSET


class AvailableCommandsUpdate(Wire, tag_field="sessionUpdate", tag="available_commands_update"):
    """All slash commands as they are now."""

    available_commands: list[AvailableCommand]


class CurrentModeUpdate(Wire, tag_field="sessionUpdate", tag="current_mode_update"):
    """The session is in another mode now."""

    current_mode_id: str


class ConfigOptionUpdate(Wire, tag_field="sessionUpdate", tag="config_option_update"):
    """All configuration options as they are now."""

    config_options: list[SessionConfigOption]


class UnknownSessionUpdate(Unknown, tag_field="sessionUpdate"):
    """An update of a kind that we do not know."""


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCall
    | ToolCallUpdate
    | Plan
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | UnknownSessionUpdate
)


class SessionNotification(Wire):
    """The parameters of `session/update`."""

    session_id: str
    update: SessionUpdate
