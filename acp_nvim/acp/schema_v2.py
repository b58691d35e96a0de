"""ACP types of version 2 of the protocol, a draft.

Generated from the official schema by `make schema`: do not edit.
The annotations are no strings: msgspec would compile each of them before it decodes the first message.
"""
# ruff: noqa: F403, F405

from typing import Annotated, ClassVar, TypeAlias

from msgspec import UNSET

from acp_nvim.acp import field_limits as limits
from acp_nvim.acp.fields import (
    Argument,
    DiffText,
    Id,
    Maybe,
    Name,
    Omittable,
    Output,
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


class AgentAuthCapabilities(Wire, kw_only=True):
    """The definition `AgentAuthCapabilities` of the official schema."""

    status: Maybe[AuthStatusCapabilities] = UNSET


class McpAcpCapabilities(Wire, kw_only=True):
    """The definition `McpAcpCapabilities` of the official schema."""


class McpHttpCapabilities(Wire, kw_only=True):
    """The definition `McpHttpCapabilities` of the official schema."""


class McpStdioCapabilities(Wire, kw_only=True):
    """The definition `McpStdioCapabilities` of the official schema."""


class McpCapabilities(Wire, kw_only=True):
    """The definition `McpCapabilities` of the official schema."""

    stdio: Maybe[McpStdioCapabilities] = UNSET
    http: Maybe[McpHttpCapabilities] = UNSET
    acp: Maybe[McpAcpCapabilities] = UNSET


class PromptAudioCapabilities(Wire, kw_only=True):
    """The definition `PromptAudioCapabilities` of the official schema."""


class PromptEmbeddedContextCapabilities(Wire, kw_only=True):
    """The definition `PromptEmbeddedContextCapabilities` of the official schema."""


class PromptImageCapabilities(Wire, kw_only=True):
    """The definition `PromptImageCapabilities` of the official schema."""


class PromptCapabilities(Wire, kw_only=True):
    """The definition `PromptCapabilities` of the official schema."""

    image: Maybe[PromptImageCapabilities] = UNSET
    audio: Maybe[PromptAudioCapabilities] = UNSET
    embedded_context: Maybe[PromptEmbeddedContextCapabilities] = UNSET


class SessionCapabilities(Wire, kw_only=True):
    """The definition `SessionCapabilities` of the official schema."""

    prompt: Maybe[PromptCapabilities] = UNSET
    mcp: Maybe[McpCapabilities] = UNSET
    delete: Maybe[SessionDeleteCapabilities] = UNSET
    additional_directories: Maybe[SessionAdditionalDirectoriesCapabilities] = UNSET
    system_prompt: Maybe[SessionSystemPromptCapabilities] = UNSET
    title: Maybe[SessionTitleCapabilities] = UNSET
    archive: Maybe[SessionArchiveCapabilities] = UNSET


class AgentCapabilities(Wire, kw_only=True):
    """The definition `AgentCapabilities` of the official schema."""

    session: Maybe[SessionCapabilities] = UNSET
    auth: Maybe[AgentAuthCapabilities] = UNSET
    providers: Maybe[ProvidersCapabilities] = UNSET


class AgentMessage(Wire, kw_only=True, tag_field="sessionUpdate", tag="agent_message"):
    """The definition `AgentMessage` of the official schema."""

    message_id: Id
    content: Maybe[Annotated[list[ContentBlock], cut(limits.CONTENT_ITEMS)]] = UNSET


class ContentChunk(Wire, kw_only=True):
    """The definition `ContentChunk` of the official schema."""

    message_id: Id
    content: ContentBlock


class AgentMessageChunk(ContentChunk, kw_only=True, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """The definition `ContentChunk` of the official schema."""


class AgentThought(Wire, kw_only=True, tag_field="sessionUpdate", tag="agent_thought"):
    """The definition `AgentThought` of the official schema."""

    message_id: Id
    content: Maybe[Annotated[list[ContentBlock], cut(limits.CONTENT_ITEMS)]] = UNSET


class AgentThoughtChunk(ContentChunk, kw_only=True, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """The definition `ContentChunk` of the official schema."""


class AuthMethodAgent(Wire, kw_only=True, tag_field="type", tag="agent"):
    """The definition `AuthMethodAgent` of the official schema."""

    method_id: Id
    name: Name
    description: Maybe[Words] = UNSET


class AuthMethodTerminal(Wire, kw_only=True, tag_field="type", tag="terminal"):
    """The definition `AuthMethodTerminal` of the official schema."""

    method_id: Id
    name: Name
    description: Maybe[Words] = UNSET
    args: Omittable[Annotated[list[Argument], exact(limits.ARGUMENTS)]] = UNSET
    env: Omittable[Annotated[list[EnvVariable], exact(limits.VARIABLES)]] = UNSET


class UnknownAuthMethod(Unknown):
    """A `AuthMethod` of a kind that the schema does not have."""


AuthMethod: TypeAlias = AuthMethodTerminal | AuthMethodAgent | UnknownAuthMethod


class TextCommandInput(Wire, kw_only=True, tag_field="type", tag="text"):
    """The definition `TextCommandInput` of the official schema."""

    hint: Words


class UnknownAvailableCommandInput(Unknown):
    """A `AvailableCommandInput` of a kind that the schema does not have."""


AvailableCommandInput: TypeAlias = TextCommandInput | UnknownAvailableCommandInput


class Command(Wire, kw_only=True, tag_field="type", tag="command"):
    """The definition `Command` of the official schema."""

    name: Id
    description: Words
    input: Maybe[AvailableCommandInput] = UNSET


class UnknownAvailableCommand(Unknown):
    """A `AvailableCommand` of a kind that the schema does not have."""


AvailableCommand: TypeAlias = Command | UnknownAvailableCommand


class AvailableCommandsUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="available_commands_update"):
    """The definition `AvailableCommandsUpdate` of the official schema."""

    available_commands: Annotated[list[AvailableCommand], cut(limits.COMMANDS)]


class BackgroundTerminal(Wire, kw_only=True, tag_field="type", tag="terminal"):
    """The definition `BackgroundTerminal` of the official schema."""

    terminal_id: Id


class BackgroundToolCall(Wire, kw_only=True, tag_field="type", tag="tool_call"):
    """The definition `BackgroundToolCall` of the official schema."""

    tool_call_id: Id


class UnknownBackgroundWork(Unknown):
    """A `BackgroundWork` of a kind that the schema does not have."""


BackgroundWork: TypeAlias = BackgroundTerminal | BackgroundToolCall | UnknownBackgroundWork


class CancelTerminalRequest(Sent, kw_only=True):
    """The definition `CancelTerminalRequest` of the official schema."""

    session_id: str
    terminal_id: str


class CancelToolCallRequest(Sent, kw_only=True):
    """The definition `CancelToolCallRequest` of the official schema."""

    session_id: str
    tool_call_id: str


class CommandPermissionSubject(Wire, kw_only=True, tag_field="type", tag="command"):
    """The definition `CommandPermissionSubject` of the official schema."""

    command: Argument
    cwd: Path
    tool_call_id: Maybe[Id] = UNSET
    terminal_id: Maybe[Id] = UNSET


class SessionConfigBoolean(Wire, kw_only=True, tag_field="type", tag="boolean"):
    """The definition `SessionConfigBoolean` of the official schema."""

    config_id: Id
    name: Name
    description: Maybe[Words] = UNSET
    category: Maybe[Word] = UNSET
    current_value: bool


class SessionConfigSelectOptionsItem(Wire, kw_only=True):
    """The definition `SessionConfigSelectOptions` of the official schema."""

    value: Omittable[Id] = UNSET
    name: Name
    description: Maybe[Words] = UNSET
    group_id: Omittable[Id] = UNSET
    options: Omittable[Annotated[list[SessionConfigSelectOption], cut(limits.MODELS)]] = UNSET

    def __post_init__(self) -> None:
        self.require_one(("value",), ("group_id", "options"))


class SessionConfigSelect(Wire, kw_only=True, tag_field="type", tag="select"):
    """The definition `SessionConfigSelect` of the official schema."""

    config_id: Id
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

    type: Word
    title: Maybe[Title] = UNSET
    properties: Annotated[dict[Id, ElicitationPropertySchema], exact(limits.FORM_FIELDS)]
    required: Maybe[Annotated[list[Name], exact(limits.FORM_FIELDS)]] = UNSET
    description: Maybe[Words] = UNSET


class ElicitationFormMode(Wire, kw_only=True, tag_field="mode", tag="form"):
    """The definition `ElicitationFormMode` of the official schema."""

    message: Words
    requested_schema: ElicitationSchema
    session_id: Omittable[Id] = UNSET
    tool_call_id: Maybe[Id] = UNSET
    request_id: Omittable[int | Id] = UNSET

    def __post_init__(self) -> None:
        self.require_one(("session_id",), ("request_id",))


class ElicitationUrlMode(Wire, kw_only=True, tag_field="mode", tag="url"):
    """The definition `ElicitationUrlMode` of the official schema."""

    message: Words
    elicitation_id: Id
    url: Uri
    session_id: Omittable[Id] = UNSET
    tool_call_id: Maybe[Id] = UNSET
    request_id: Omittable[int | Id] = UNSET

    def __post_init__(self) -> None:
        self.require_one(("session_id",), ("request_id",))


class UnknownCreateElicitationRequest(Unknown, tag_field="mode"):
    """A `CreateElicitationRequest` of a kind that the schema does not have."""


CreateElicitationRequest: TypeAlias = ElicitationFormMode | ElicitationUrlMode | UnknownCreateElicitationRequest


class DiffPathChange(Wire, kw_only=True):
    """The definition `DiffPathChange` of the official schema."""

    file_type: Maybe[Word] = UNSET
    mime_type: Maybe[Word] = UNSET
    path: Path


class DiffChangeAdd(DiffPathChange, kw_only=True, tag_field="operation", tag="add"):
    """The definition `DiffPathChange` of the official schema."""


class DiffPathPairChange(Wire, kw_only=True):
    """The definition `DiffPathPairChange` of the official schema."""

    file_type: Maybe[Word] = UNSET
    mime_type: Maybe[Word] = UNSET
    old_path: Path
    path: Path


class DiffChangeCopy(DiffPathPairChange, kw_only=True, tag_field="operation", tag="copy"):
    """The definition `DiffPathPairChange` of the official schema."""


class DiffChangeDelete(DiffPathChange, kw_only=True, tag_field="operation", tag="delete"):
    """The definition `DiffPathChange` of the official schema."""


class DiffChangeModify(DiffPathChange, kw_only=True, tag_field="operation", tag="modify"):
    """The definition `DiffPathChange` of the official schema."""


class DiffChangeMove(DiffPathPairChange, kw_only=True, tag_field="operation", tag="move"):
    """The definition `DiffPathPairChange` of the official schema."""


class UnknownDiffChange(Unknown, tag_field="operation"):
    """A `DiffChange` of a kind that the schema does not have."""


DiffChange: TypeAlias = (
    DiffChangeAdd | DiffChangeDelete | DiffChangeModify | DiffChangeMove | DiffChangeCopy | UnknownDiffChange
)


class DiffPatch(Wire, kw_only=True):
    """The definition `DiffPatch` of the official schema."""

    format: Word
    text: DiffText


class Diff(Wire, kw_only=True, tag_field="type", tag="diff"):
    """The definition `Diff` of the official schema."""

    changes: Omittable[Annotated[list[DiffChange], cut(limits.DIFF_CHANGES)]] = UNSET
    patch: Maybe[DiffPatch] = UNSET
    path: Omittable[Path] = UNSET
    old_text: Maybe[DiffText] = UNSET
    new_text: Omittable[DiffText] = UNSET

    def __post_init__(self) -> None:
        self.require_one(("changes",), ("new_text", "path"))


class InitializeResponse(Wire, kw_only=True):
    """The definition `InitializeResponse` of the official schema."""

    protocol_version: int
    info: Implementation
    capabilities: Omittable[AgentCapabilities] = UNSET
    auth_methods: Omittable[Annotated[list[AuthMethod], cut(limits.AUTH_METHODS)]] = UNSET


class McpServerHttp(Sent, kw_only=True, tag_field="type", tag="http"):
    """The definition `McpServerHttp` of the official schema."""

    name: str
    url: str
    headers: Omittable[list[HttpHeader]] = UNSET


class McpServerStdio(Sent, kw_only=True, tag_field="type", tag="stdio"):
    """The definition `McpServerStdio` of the official schema."""

    name: str
    command: str
    args: Omittable[list[str]] = UNSET
    env: Omittable[list[EnvVariable]] = UNSET


McpServer: TypeAlias = McpServerHttp | McpServerStdio | McpServerAcp


class NewSessionRequest(Sent, kw_only=True):
    """The definition `NewSessionRequest` of the official schema."""

    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    mcp_servers: Omittable[list[McpServer]] = UNSET
    system_prompt: Maybe[SystemPrompt] = UNSET


class NewSessionResponse(Wire, kw_only=True):
    """The definition `NewSessionResponse` of the official schema."""

    session_id: Id
    config_options: Omittable[Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]] = UNSET
    available_commands: Omittable[Annotated[list[AvailableCommand], cut(limits.COMMANDS)]] = UNSET


class PromptResponse(Wire, kw_only=True):
    """The definition `PromptResponse` of the official schema."""

    message_id: Id


class ReplayFromStart(Sent, kw_only=True, tag_field="type", tag="start"):
    """The definition `ReplayFromStart` of the official schema."""


ReplayFrom: TypeAlias = ReplayFromStart


class ToolCallCancelCapabilities(Wire, kw_only=True):
    """The definition `ToolCallCancelCapabilities` of the official schema."""


class ToolCallCapabilities(Wire, kw_only=True):
    """The definition `ToolCallCapabilities` of the official schema."""

    cancel: Maybe[ToolCallCancelCapabilities] = UNSET


class UnknownToolCallContent(Unknown):
    """A `ToolCallContent` of a kind that the schema does not have."""


ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownToolCallContent


class ToolCallUpdateFields(Wire, kw_only=True):
    """The definition `ToolCallUpdate` of the official schema."""

    tool_call_id: Id
    name: Maybe[Name] = UNSET
    title: Maybe[Title] = UNSET
    kind: Maybe[Word] = UNSET
    status: Maybe[Word] = UNSET
    content: Maybe[Annotated[list[ToolCallContent], cut(limits.CONTENT_ITEMS)]] = UNSET
    locations: Maybe[Annotated[list[ToolCallLocation], cut(limits.LOCATIONS)]] = UNSET
    raw_input: Untyped = UNSET
    raw_output: Untyped = UNSET
    capabilities: Maybe[ToolCallCapabilities] = UNSET


class ToolCallPermissionSubject(Wire, kw_only=True, tag_field="type", tag="tool_call"):
    """The definition `ToolCallPermissionSubject` of the official schema."""

    tool_call: ToolCallUpdateFields


class UnknownRequestPermissionSubject(Unknown):
    """A `RequestPermissionSubject` of a kind that the schema does not have."""


RequestPermissionSubject: TypeAlias = (
    ToolCallPermissionSubject | CommandPermissionSubject | UnknownRequestPermissionSubject
)


class RequestPermissionRequest(Wire, kw_only=True):
    """The definition `RequestPermissionRequest` of the official schema."""

    session_id: Id
    title: Title
    description: Maybe[Words] = UNSET
    subject: Maybe[RequestPermissionSubject] = UNSET
    options: Annotated[list[PermissionOption], exact(limits.OPTIONS)]


class ResumeSessionRequest(Sent, kw_only=True):
    """The definition `ResumeSessionRequest` of the official schema."""

    session_id: str
    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    mcp_servers: Omittable[list[McpServer]] = UNSET
    replay_from: Maybe[ReplayFrom] = UNSET
    system_prompt: Maybe[SystemPrompt] = UNSET


class ResumeSessionResponse(Wire, kw_only=True):
    """The definition `ResumeSessionResponse` of the official schema."""

    config_options: Omittable[Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]] = UNSET
    available_commands: Omittable[Annotated[list[AvailableCommand], cut(limits.COMMANDS)]] = UNSET


class StateUpdateFields(Wire, kw_only=True):
    """The definition `StateUpdate` of the official schema."""

    state: Word
    background: Maybe[Annotated[list[BackgroundWork], exact(limits.BACKGROUND)]] = UNSET
    stop_reason: Maybe[Word] = UNSET
    usage: Maybe[Usage] = UNSET
    error: Maybe[Error] = UNSET


class StateUpdate(StateUpdateFields, kw_only=True, tag_field="sessionUpdate", tag="state_update"):
    """The definition `StateUpdate` of the official schema."""

    open_members: ClassVar[dict[str, frozenset[str]]] = {
        "state": frozenset({"idle", "requires_action", "running", "unknown"})
    }

    def __post_init__(self) -> None:
        self.require_known()


class SubagentUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="subagent_update"):
    """The definition `SubagentUpdate` of the official schema."""

    session_id: Id
    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET
    capabilities: Maybe[SubagentSessionCapabilities] = UNSET
    state: Maybe[StateUpdateFields] = UNSET
    cwd: Maybe[Path] = UNSET
    additional_directories: Maybe[Annotated[list[Path], cut(limits.DIRECTORIES)]] = UNSET


class TerminalOutputChunk(Wire, kw_only=True, tag_field="sessionUpdate", tag="terminal_output_chunk"):
    """The definition `TerminalOutputChunk` of the official schema."""

    terminal_id: Id
    data: Output


class TerminalCancelCapabilities(Wire, kw_only=True):
    """The definition `TerminalCancelCapabilities` of the official schema."""


class TerminalCapabilities(Wire, kw_only=True):
    """The definition `TerminalCapabilities` of the official schema."""

    cancel: Maybe[TerminalCancelCapabilities] = UNSET


class TerminalExitStatus(Wire, kw_only=True):
    """The definition `TerminalExitStatus` of the official schema."""

    exit_code: Maybe[int] = UNSET
    signal: Maybe[Word] = UNSET


class TerminalOutput(Wire, kw_only=True):
    """The definition `TerminalOutput` of the official schema."""

    data: Output


class TerminalSize(Wire, kw_only=True):
    """The definition `TerminalSize` of the official schema."""

    cols: int
    rows: int


class TerminalUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="terminal_update"):
    """The definition `TerminalUpdate` of the official schema."""

    terminal_id: Id
    command: Maybe[Argument] = UNSET
    cwd: Maybe[Path] = UNSET
    output: Maybe[TerminalOutput] = UNSET
    exit_status: Maybe[TerminalExitStatus] = UNSET
    size: Maybe[TerminalSize] = UNSET
    capabilities: Maybe[TerminalCapabilities] = UNSET


class ToolCallContentChunk(Wire, kw_only=True, tag_field="sessionUpdate", tag="tool_call_content_chunk"):
    """The definition `ToolCallContentChunk` of the official schema."""

    tool_call_id: Id
    content: ToolCallContent


class ToolCallUpdate(ToolCallUpdateFields, kw_only=True, tag_field="sessionUpdate", tag="tool_call_update"):
    """The definition `ToolCallUpdate` of the official schema."""


class UserMessage(Wire, kw_only=True, tag_field="sessionUpdate", tag="user_message"):
    """The definition `UserMessage` of the official schema."""

    message_id: Id
    content: Maybe[Annotated[list[ContentBlock], cut(limits.CONTENT_ITEMS)]] = UNSET


class UserMessageChunk(ContentChunk, kw_only=True, tag_field="sessionUpdate", tag="user_message_chunk"):
    """The definition `ContentChunk` of the official schema."""


class UnknownSessionUpdate(Unknown, tag_field="sessionUpdate"):
    """A `SessionUpdate` of a kind that the schema does not have."""


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | UserMessage
    | AgentMessageChunk
    | AgentMessage
    | AgentThoughtChunk
    | AgentThought
    | StateUpdate
    | ToolCallContentChunk
    | ToolCallUpdate
    | TerminalUpdate
    | TerminalOutputChunk
    | PlanUpdate
    | AvailableCommandsUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | PlanRemoved
    | SubagentUpdate
    | SessionMessage
    | SessionMessageChunk
    | UnknownSessionUpdate
)


class SetSessionConfigOptionResponse(Wire, kw_only=True):
    """The definition `SetSessionConfigOptionResponse` of the official schema."""

    config_options: Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]


class UpdateSessionNotification(Wire, kw_only=True):
    """The definition `UpdateSessionNotification` of the official schema."""

    session_id: Id
    update: SessionUpdate
