"""ACP types of version 1 of the protocol.

Generated from the official schema by `make schema`: do not edit.
The annotations are no strings: msgspec would compile each of them before it decodes the first message.
"""
# ruff: noqa: F403, F405

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.acp import field_limits as limits
from acp_nvim.acp.fields import (
    UNTAGGED,
    Argument,
    DiffText,
    FileText,
    Id,
    Maybe,
    Name,
    Omittable,
    Path,
    Sent,
    Title,
    Unknown,
    Untyped,
    Uri,
    Wire,
    Word,
    Words,
    cut,
    exact,
)
from acp_nvim.acp.schema_common import *


class LogoutCapabilities(Wire, kw_only=True):
    """The definition `LogoutCapabilities` of the official schema."""


class AgentAuthCapabilities(Wire, kw_only=True):
    """The definition `AgentAuthCapabilities` of the official schema."""

    logout: Maybe[LogoutCapabilities] = UNSET
    status: Maybe[AuthStatusCapabilities] = UNSET


class McpCapabilities(Wire, kw_only=True):
    """The definition `McpCapabilities` of the official schema."""

    http: Omittable[bool] = UNSET
    sse: Omittable[bool] = UNSET
    acp: Omittable[bool] = UNSET


class PromptCapabilities(Wire, kw_only=True):
    """The definition `PromptCapabilities` of the official schema."""

    image: Omittable[bool] = UNSET
    audio: Omittable[bool] = UNSET
    embedded_context: Omittable[bool] = UNSET


class SessionCloseCapabilities(Wire, kw_only=True):
    """The definition `SessionCloseCapabilities` of the official schema."""


class SessionForkCapabilities(Wire, kw_only=True):
    """The definition `SessionForkCapabilities` of the official schema."""


class SessionListCapabilities(Wire, kw_only=True):
    """The definition `SessionListCapabilities` of the official schema."""


class SessionResumeCapabilities(Wire, kw_only=True):
    """The definition `SessionResumeCapabilities` of the official schema."""


class SessionCapabilities(Wire, kw_only=True):
    """The definition `SessionCapabilities` of the official schema."""

    list: Maybe[SessionListCapabilities] = UNSET
    delete: Maybe[SessionDeleteCapabilities] = UNSET
    additional_directories: Maybe[SessionAdditionalDirectoriesCapabilities] = UNSET
    resume: Maybe[SessionResumeCapabilities] = UNSET
    close: Maybe[SessionCloseCapabilities] = UNSET
    fork: Maybe[SessionForkCapabilities] = UNSET
    system_prompt: Maybe[SessionSystemPromptCapabilities] = UNSET
    title: Maybe[SessionTitleCapabilities] = UNSET
    archive: Maybe[SessionArchiveCapabilities] = UNSET


class AgentCapabilities(Wire, kw_only=True):
    """The definition `AgentCapabilities` of the official schema."""

    load_session: Omittable[bool] = UNSET
    prompt_capabilities: Omittable[PromptCapabilities] = UNSET
    mcp_capabilities: Omittable[McpCapabilities] = UNSET
    session_capabilities: Omittable[SessionCapabilities] = UNSET
    auth: Omittable[AgentAuthCapabilities] = UNSET
    providers: Maybe[ProvidersCapabilities] = UNSET


class ContentChunk(Wire, kw_only=True):
    """The definition `ContentChunk` of the official schema."""

    content: ContentBlock
    message_id: Maybe[Id] = UNSET


class AgentMessageChunk(ContentChunk, kw_only=True, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """The definition `ContentChunk` of the official schema."""


class AgentThoughtChunk(ContentChunk, kw_only=True, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """The definition `ContentChunk` of the official schema."""


class AuthMethodAgent(Wire, kw_only=True, tag_field="type", tag=UNTAGGED):
    """The definition `AuthMethodAgent` of the official schema."""

    id: Id
    name: Name
    description: Maybe[Words] = UNSET


class AuthMethodTerminal(Wire, kw_only=True, tag_field="type", tag="terminal"):
    """The definition `AuthMethodTerminal` of the official schema."""

    id: Id
    name: Name
    description: Maybe[Words] = UNSET
    args: Omittable[Annotated[list[Argument], exact(limits.ARGUMENTS)]] = UNSET
    env: Omittable[Annotated[dict[Id, Argument], exact(limits.VARIABLES)]] = UNSET


class UnknownAuthMethod(Unknown):
    """A `AuthMethod` of a kind that the schema does not have."""


AuthMethod: TypeAlias = AuthMethodTerminal | AuthMethodAgent | UnknownAuthMethod


class AuthenticateRequest(Sent, kw_only=True):
    """The definition `AuthenticateRequest` of the official schema."""

    method_id: str


class AvailableCommandInput(Wire, kw_only=True):
    """The definition `AvailableCommandInput` of the official schema."""

    hint: Words


class AvailableCommand(Wire, kw_only=True):
    """The definition `AvailableCommand` of the official schema."""

    name: Id
    description: Words
    input: Maybe[AvailableCommandInput] = UNSET


class AvailableCommandsUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="available_commands_update"):
    """The definition `AvailableCommandsUpdate` of the official schema."""

    available_commands: Annotated[list[AvailableCommand], cut(limits.COMMANDS)]


class CancelNotification(Sent, kw_only=True):
    """The definition `CancelNotification` of the official schema."""

    session_id: str


class SessionConfigBoolean(Wire, kw_only=True, tag_field="type", tag="boolean"):
    """The definition `SessionConfigBoolean` of the official schema."""

    id: Id
    name: Name
    description: Maybe[Words] = UNSET
    category: Maybe[Word] = UNSET
    current_value: bool


class SessionConfigSelectOptionsItem(Wire, kw_only=True):
    """The definition `SessionConfigSelectOptions` of the official schema."""

    value: Omittable[Id] = UNSET
    name: Name
    description: Maybe[Words] = UNSET
    group: Omittable[Id] = UNSET
    options: Omittable[Annotated[list[SessionConfigSelectOption], cut(limits.MODELS)]] = UNSET

    def __post_init__(self) -> None:
        self.require_one(("value",), ("group", "options"))


class SessionConfigSelect(Wire, kw_only=True, tag_field="type", tag="select"):
    """The definition `SessionConfigSelect` of the official schema."""

    id: Id
    name: Name
    description: Maybe[Words] = UNSET
    category: Maybe[Word] = UNSET
    current_value: Id
    options: Annotated[list[SessionConfigSelectOptionsItem], cut(limits.MODELS)]


class UnknownSessionConfigOption(Unknown):
    """A `SessionConfigOption` of a kind that the schema does not have."""


SessionConfigOption: TypeAlias = SessionConfigSelect | SessionConfigBoolean | UnknownSessionConfigOption


class ConfigOptionUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="config_option_update"):
    """The definition `ConfigOptionUpdate` of the official schema."""

    config_options: Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]


class ElicitationSchema(Wire, kw_only=True):
    """The definition `ElicitationSchema` of the official schema."""

    type: Omittable[Word] = UNSET
    title: Maybe[Title] = UNSET
    properties: Omittable[Annotated[dict[Id, ElicitationPropertySchema], exact(limits.FORM_FIELDS)]] = UNSET
    required: Maybe[Annotated[list[Name], exact(limits.FORM_FIELDS)]] = UNSET
    description: Maybe[Words] = UNSET


class ElicitationFormMode(Wire, kw_only=True, tag_field="mode", tag="form"):
    """The definition `ElicitationFormMode` of the official schema."""

    message: Words
    requested_schema: ElicitationSchema
    session_id: Omittable[Id] = UNSET
    tool_call_id: Maybe[Id] = UNSET
    request_id: Maybe[int | Id] = UNSET

    def __post_init__(self) -> None:
        self.require_one(("session_id",), ("request_id",))


class ElicitationUrlMode(Wire, kw_only=True, tag_field="mode", tag="url"):
    """The definition `ElicitationUrlMode` of the official schema."""

    message: Words
    elicitation_id: Id
    url: Uri
    session_id: Omittable[Id] = UNSET
    tool_call_id: Maybe[Id] = UNSET
    request_id: Maybe[int | Id] = UNSET

    def __post_init__(self) -> None:
        self.require_one(("session_id",), ("request_id",))


class UnknownCreateElicitationRequest(Unknown, tag_field="mode"):
    """A `CreateElicitationRequest` of a kind that the schema does not have."""


CreateElicitationRequest: TypeAlias = ElicitationFormMode | ElicitationUrlMode | UnknownCreateElicitationRequest


class CreateTerminalRequest(Wire, kw_only=True):
    """The definition `CreateTerminalRequest` of the official schema."""

    session_id: Id
    command: Argument
    args: Omittable[Annotated[list[Argument], exact(limits.ARGUMENTS)]] = UNSET
    env: Omittable[Annotated[list[EnvVariable], exact(limits.VARIABLES)]] = UNSET
    cwd: Maybe[Path] = UNSET
    output_byte_limit: Maybe[int] = UNSET


class CurrentModeUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="current_mode_update"):
    """The definition `CurrentModeUpdate` of the official schema."""

    current_mode_id: Id


class Diff(Wire, kw_only=True, tag_field="type", tag="diff"):
    """The definition `Diff` of the official schema."""

    path: Path
    old_text: Maybe[DiffText] = UNSET
    new_text: DiffText


class McpServerHttp(Sent, kw_only=True, tag_field="type", tag="http"):
    """The definition `McpServerHttp` of the official schema."""

    name: str
    url: str
    headers: list[HttpHeader]


class McpServerSse(Sent, kw_only=True, tag_field="type", tag="sse"):
    """The definition `McpServerSse` of the official schema."""

    name: str
    url: str
    headers: list[HttpHeader]


class McpServerStdio(Sent, kw_only=True):
    """The definition `McpServerStdio` of the official schema."""

    name: str
    command: str
    args: list[str]
    env: list[EnvVariable]


McpServer: TypeAlias = McpServerHttp | McpServerSse | McpServerStdio | McpServerAcp


class ForkSessionRequest(Sent, kw_only=True):
    """The definition `ForkSessionRequest` of the official schema."""

    session_id: str
    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    mcp_servers: Omittable[list[McpServer]] = UNSET
    system_prompt: Maybe[SystemPrompt] = UNSET


class SessionMode(Wire, kw_only=True):
    """The definition `SessionMode` of the official schema."""

    id: Id
    name: Name
    description: Maybe[Words] = UNSET


class SessionModeState(Wire, kw_only=True):
    """The definition `SessionModeState` of the official schema."""

    current_mode_id: Id
    available_modes: Annotated[list[SessionMode], cut(limits.MODES)]


class ModelInfo(Wire, kw_only=True):
    """The definition `ModelInfo` of the official schema."""

    model_id: Id
    name: Name
    description: Maybe[Words] = UNSET


class SessionModelState(Wire, kw_only=True):
    """The definition `SessionModelState` of the official schema."""

    available_models: Annotated[list[ModelInfo], cut(limits.MODELS)]
    current_model_id: Id


class ForkSessionResponse(Wire, kw_only=True):
    """The definition `ForkSessionResponse` of the official schema."""

    session_id: Id
    modes: Maybe[SessionModeState] = UNSET
    config_options: Maybe[Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]] = UNSET
    models: Maybe[SessionModelState] = UNSET


class InitializeResponse(Wire, kw_only=True):
    """The definition `InitializeResponse` of the official schema."""

    protocol_version: int
    agent_capabilities: Omittable[AgentCapabilities] = UNSET
    auth_methods: Omittable[Annotated[list[AuthMethod], cut(limits.AUTH_METHODS)]] = UNSET
    agent_info: Maybe[Implementation] = UNSET


class KillTerminalRequest(Wire, kw_only=True):
    """The definition `KillTerminalRequest` of the official schema."""

    session_id: Id
    terminal_id: Id


class LoadSessionRequest(Sent, kw_only=True):
    """The definition `LoadSessionRequest` of the official schema."""

    mcp_servers: list[McpServer]
    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    session_id: str
    system_prompt: Maybe[SystemPrompt] = UNSET


class LoadSessionResponse(Wire, kw_only=True):
    """The definition `LoadSessionResponse` of the official schema."""

    modes: Maybe[SessionModeState] = UNSET
    config_options: Maybe[Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]] = UNSET
    models: Maybe[SessionModelState] = UNSET


class LogoutRequest(Sent, kw_only=True):
    """The definition `LogoutRequest` of the official schema."""


class NewSessionRequest(Sent, kw_only=True):
    """The definition `NewSessionRequest` of the official schema."""

    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    mcp_servers: list[McpServer]
    system_prompt: Maybe[SystemPrompt] = UNSET


class NewSessionResponse(Wire, kw_only=True):
    """The definition `NewSessionResponse` of the official schema."""

    session_id: Id
    modes: Maybe[SessionModeState] = UNSET
    config_options: Maybe[Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]] = UNSET
    models: Maybe[SessionModelState] = UNSET


class Plan(Wire, kw_only=True, tag_field="sessionUpdate", tag="plan"):
    """The definition `Plan` of the official schema."""

    entries: Annotated[list[PlanEntry], cut(limits.PLAN_ENTRIES)]


class PromptResponse(Wire, kw_only=True):
    """The definition `PromptResponse` of the official schema."""

    stop_reason: Word
    usage: Maybe[Usage] = UNSET


class ReadTextFileRequest(Wire, kw_only=True):
    """The definition `ReadTextFileRequest` of the official schema."""

    session_id: Id
    path: Path
    line: Maybe[int] = UNSET
    limit: Maybe[int] = UNSET


class ReleaseTerminalRequest(Wire, kw_only=True):
    """The definition `ReleaseTerminalRequest` of the official schema."""

    session_id: Id
    terminal_id: Id


class UnknownToolCallContent(Unknown):
    """A `ToolCallContent` of a kind that the schema does not have."""


ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownToolCallContent


class ToolCallUpdateFields(Wire, kw_only=True):
    """The definition `ToolCallUpdate` of the official schema."""

    tool_call_id: Id
    kind: Maybe[Word] = UNSET
    status: Maybe[Word] = UNSET
    title: Maybe[Title] = UNSET
    name: Maybe[Name] = UNSET
    content: Maybe[Annotated[list[ToolCallContent], cut(limits.CONTENT_ITEMS)]] = UNSET
    locations: Maybe[Annotated[list[ToolCallLocation], cut(limits.LOCATIONS)]] = UNSET
    raw_input: Untyped = UNSET
    raw_output: Untyped = UNSET


class RequestPermissionRequest(Wire, kw_only=True):
    """The definition `RequestPermissionRequest` of the official schema."""

    session_id: Id
    tool_call: ToolCallUpdateFields
    options: Annotated[list[PermissionOption], exact(limits.OPTIONS)]


class ResumeSessionRequest(Sent, kw_only=True):
    """The definition `ResumeSessionRequest` of the official schema."""

    session_id: str
    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    mcp_servers: Omittable[list[McpServer]] = UNSET
    system_prompt: Maybe[SystemPrompt] = UNSET


class ResumeSessionResponse(Wire, kw_only=True):
    """The definition `ResumeSessionResponse` of the official schema."""

    modes: Maybe[SessionModeState] = UNSET
    config_options: Maybe[Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]] = UNSET
    models: Maybe[SessionModelState] = UNSET


class StateUpdate(Wire, kw_only=True):
    """The definition `StateUpdate` of the official schema."""

    state: Words
    stop_reason: Maybe[Word] = UNSET
    error: Maybe[Error] = UNSET


class SubagentUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="subagent_update"):
    """The definition `SubagentUpdate` of the official schema."""

    session_id: Id
    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET
    capabilities: Maybe[SubagentSessionCapabilities] = UNSET
    state: Maybe[StateUpdate] = UNSET
    cwd: Maybe[Path] = UNSET
    additional_directories: Maybe[Annotated[list[Path], cut(limits.DIRECTORIES)]] = UNSET


class ToolCall(Wire, kw_only=True, tag_field="sessionUpdate", tag="tool_call"):
    """The definition `ToolCall` of the official schema."""

    tool_call_id: Id
    title: Title
    name: Maybe[Name] = UNSET
    kind: Omittable[Word] = UNSET
    status: Omittable[Word] = UNSET
    content: Omittable[Annotated[list[ToolCallContent], cut(limits.CONTENT_ITEMS)]] = UNSET
    locations: Omittable[Annotated[list[ToolCallLocation], cut(limits.LOCATIONS)]] = UNSET
    raw_input: Untyped = UNSET
    raw_output: Untyped = UNSET


class ToolCallUpdate(ToolCallUpdateFields, kw_only=True, tag_field="sessionUpdate", tag="tool_call_update"):
    """The definition `ToolCallUpdate` of the official schema."""


class UserMessageChunk(ContentChunk, kw_only=True, tag_field="sessionUpdate", tag="user_message_chunk"):
    """The definition `ContentChunk` of the official schema."""


class UnknownSessionUpdate(Unknown, tag_field="sessionUpdate"):
    """A `SessionUpdate` of a kind that the schema does not have."""


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
    | PlanUpdate
    | PlanRemoved
    | SubagentUpdate
    | SessionMessage
    | SessionMessageChunk
    | UnknownSessionUpdate
)


class SessionNotification(Wire, kw_only=True):
    """The definition `SessionNotification` of the official schema."""

    session_id: Id
    update: SessionUpdate


class SetSessionConfigOptionRequest(Sent, kw_only=True):
    """The definition `SetSessionConfigOptionRequest` of the official schema."""

    session_id: str
    config_id: str
    type: Omittable[str] = UNSET
    value: bool | str


class SetSessionConfigOptionResponse(Wire, kw_only=True):
    """The definition `SetSessionConfigOptionResponse` of the official schema."""

    config_options: Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]


class SetSessionModeRequest(Sent, kw_only=True):
    """The definition `SetSessionModeRequest` of the official schema."""

    session_id: str
    mode_id: str


class SetSessionModelRequest(Sent, kw_only=True):
    """The definition `SetSessionModelRequest` of the official schema."""

    session_id: str
    model_id: str


class TerminalOutputRequest(Wire, kw_only=True):
    """The definition `TerminalOutputRequest` of the official schema."""

    session_id: Id
    terminal_id: Id


class WaitForTerminalExitRequest(Wire, kw_only=True):
    """The definition `WaitForTerminalExitRequest` of the official schema."""

    session_id: Id
    terminal_id: Id


class WriteTextFileRequest(Wire, kw_only=True):
    """The definition `WriteTextFileRequest` of the official schema."""

    session_id: Id
    path: Path
    content: FileText
