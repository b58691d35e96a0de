"""What agents tell of a session (version 1): `session/update`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire
from acp_nvim.wire.bounds import DiffText, Id, Name, Path, Title, Untyped, Word, Words, cut
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
    message_id: Maybe[Id] = UNSET


class UserMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="user_message_chunk"):
    """A piece of what the user said."""


class AgentMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """A piece of the answer."""


class AgentThoughtChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """A piece of the agent's thinking."""


class Diff(Wire, tag_field="type", tag="diff"):
    """Content of a tool call: a change of a file; without `old_text` the file is new."""

    path: Path
    new_text: DiffText
    old_text: Maybe[DiffText] = UNSET


class UnknownToolCallContent(Unknown):
    """Content of a tool call of a kind that we do not know."""


ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownToolCallContent


class ToolCall(Wire, tag_field="sessionUpdate", tag="tool_call"):
    """The agent presents a tool call."""

    tool_call_id: Id
    title: Title
    name: Maybe[Name] = UNSET
    kind: Omittable[Word] = UNSET
    status: Omittable[Word] = UNSET
    content: Omittable[Annotated[list[ToolCallContent], cut(limits.CONTENT_ITEMS)]] = UNSET
    locations: Omittable[Annotated[list[ToolCallLocation], cut(limits.LOCATIONS)]] = UNSET
    raw_input: Untyped = UNSET
    raw_output: Untyped = UNSET


class ToolCallUpdateFields(Wire):
    """`ToolCallUpdate` where it is no update: in a permission request."""

    tool_call_id: Id
    kind: Maybe[Word] = UNSET
    status: Maybe[Word] = UNSET
    title: Maybe[Title] = UNSET
    name: Maybe[Name] = UNSET
    content: Maybe[Annotated[list[ToolCallContent], cut(limits.CONTENT_ITEMS)]] = UNSET
    locations: Maybe[Annotated[list[ToolCallLocation], cut(limits.LOCATIONS)]] = UNSET
    raw_input: Untyped = UNSET
    raw_output: Untyped = UNSET


class ToolCallUpdate(ToolCallUpdateFields, tag_field="sessionUpdate", tag="tool_call_update"):
    """News of a tool call; what it does not mention stays."""


class Plan(Wire, tag_field="sessionUpdate", tag="plan"):
    """The whole plan as it is now."""

    entries: Annotated[list[PlanEntry], cut(limits.PLAN_ENTRIES)]


class UnstructuredCommandInput(Wire):
    """What follows the command is one text."""

    hint: Words


AvailableCommandInput: TypeAlias = UnstructuredCommandInput


class AvailableCommand(Wire):
    """A slash command."""

    name: Id
    description: Words
    input: Maybe[AvailableCommandInput] = UNSET


class AvailableCommandsUpdate(Wire, tag_field="sessionUpdate", tag="available_commands_update"):
    """All slash commands as they are now."""

    available_commands: Annotated[list[AvailableCommand], cut(limits.COMMANDS)]


class CurrentModeUpdate(Wire, tag_field="sessionUpdate", tag="current_mode_update"):
    """The session is in another mode now."""

    current_mode_id: Id


class ConfigOptionUpdate(Wire, tag_field="sessionUpdate", tag="config_option_update"):
    """All configuration options as they are now."""

    config_options: Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]


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

    session_id: Id
    update: SessionUpdate
