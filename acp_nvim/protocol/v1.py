"""ACP version 1 as it is written on the wire; field names are the specification's, in camel case."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.protocol.content import ContentBlock
from acp_nvim.protocol.tool_call import ToolCallPatch
from acp_nvim.protocol.updates import PlanEntry

VERSION = 1


class Wire(msgspec.Struct, rename="camel", kw_only=True):
    """Base of all wire types; unknown members are passed over."""


# --- session/update -------------------------------------------------------------------------------------------------


class Chunk(Wire, tag_field="sessionUpdate"):
    """`ContentChunk`."""

    content: ContentBlock
    message_id: str | None = None


class UserMessageChunk(Chunk, tag="user_message_chunk"):
    """A piece of what the user said."""


class AgentMessageChunk(Chunk, tag="agent_message_chunk"):
    """A piece of the answer."""


class AgentThoughtChunk(Chunk, tag="agent_thought_chunk"):
    """A piece of the agent's thinking."""


class ToolCallAnnounced(ToolCallPatch, tag_field="sessionUpdate", tag="tool_call"):
    """`ToolCall`."""


class ToolCallUpdate(ToolCallPatch, tag_field="sessionUpdate", tag="tool_call_update"):
    """`ToolCallUpdate`."""


class Plan(Wire, tag_field="sessionUpdate", tag="plan"):
    """`Plan`."""

    entries: list[PlanEntry]


class CommandInput(Wire):
    """`UnstructuredCommandInput`."""

    hint: str | None = None


class AvailableCommand(Wire):
    """`AvailableCommand`."""

    name: str
    description: str = ""
    input: CommandInput | None = None


class AvailableCommandsUpdate(Wire, tag_field="sessionUpdate", tag="available_commands_update"):
    """`AvailableCommandsUpdate`."""

    available_commands: list[AvailableCommand]


class CurrentModeUpdate(Wire, tag_field="sessionUpdate", tag="current_mode_update"):
    """`CurrentModeUpdate`."""

    current_mode_id: str


class ConfigOptionUpdate(Wire, tag_field="sessionUpdate", tag="config_option_update"):
    """`ConfigOptionUpdate`; the options stay as they came."""

    config_options: list[dict[str, Any]]


class SessionInfoUpdate(Wire, tag_field="sessionUpdate", tag="session_info_update"):
    """`SessionInfoUpdate`."""

    title: str | UnsetType | None = UNSET


class Cost(Wire):
    """`Cost`."""

    amount: float
    currency: str


class UsageUpdate(Wire, tag_field="sessionUpdate", tag="usage_update"):
    """`UsageUpdate`."""

    used: int
    size: int
    cost: Cost | None = None


class Notice(Wire, tag_field="sessionUpdate", tag="notice"):
    """`Notice`."""

    severity: str
    title: str
    description: str | None = None


class CompactionUpdate(Wire, tag_field="sessionUpdate", tag="compaction_update"):
    """`CompactionUpdate`."""

    compaction_id: str
    status: str
    error: str | None = None


class CompactionSummaryChunk(Wire, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    """`CompactionSummaryChunk`."""

    compaction_id: str
    content: ContentBlock


SessionUpdate = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallAnnounced
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
)

KNOWN_UPDATES = frozenset(
    {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
        "notice",
        "compaction_update",
        "compaction_summary_chunk",
    }
)


class SessionNotification(Wire):
    """The parameters of `session/update`."""

    session_id: str
    update: SessionUpdate


# --- requests of the agent ------------------------------------------------------------------------------------------


class PermissionOption(Wire):
    """`PermissionOption`; its `kind` decides, never its id."""

    option_id: str
    name: str
    kind: str


class RequestPermissionRequest(Wire):
    """The parameters of `session/request_permission`."""

    session_id: str
    tool_call: ToolCallPatch
    options: list[PermissionOption]


class ReadTextFileRequest(Wire):
    """The parameters of `fs/read_text_file`; `line` is 1-based."""

    session_id: str
    path: str
    line: int | None = None
    limit: int | None = None


class WriteTextFileRequest(Wire):
    """The parameters of `fs/write_text_file`."""

    session_id: str
    path: str
    content: str


# --- answers of the agent -------------------------------------------------------------------------------------------


class Implementation(Wire):
    """`Implementation`: who the agent says it is."""

    name: str
    version: str = ""
    title: str | None = None


class PromptCapabilities(Wire):
    """`PromptCapabilities`."""

    image: bool = False
    audio: bool = False
    embedded_context: bool = False


class AgentCapabilities(Wire):
    """`AgentCapabilities`, as far as we use them."""

    prompt_capabilities: PromptCapabilities = msgspec.field(default_factory=PromptCapabilities)


class InitializeResponse(Wire):
    """The answer to `initialize`."""

    protocol_version: int
    agent_capabilities: AgentCapabilities = msgspec.field(default_factory=AgentCapabilities)
    agent_info: Implementation | None = None
    auth_methods: list[dict[str, Any]] | None = None


class SessionModeState(Wire):
    """`SessionModeState`, as far as we use it."""

    current_mode_id: str


class NewSessionResponse(Wire):
    """The answer to `session/new`."""

    session_id: str
    modes: SessionModeState | None = None
    config_options: list[dict[str, Any]] | None = None


class PromptResponse(Wire):
    """The answer to `session/prompt`."""

    stop_reason: str
