"""ACP types that are the same in both versions of the protocol.

Generated from the official schema by `make schema`: do not edit.
The annotations are no strings: msgspec would compile each of them before it decodes the first message.
"""

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.acp import field_limits as limits
from acp_nvim.acp.fields import (
    UNTAGGED,
    Argument,
    Data,
    Id,
    Maybe,
    Name,
    Omittable,
    Path,
    Pattern,
    Sent,
    Text,
    Title,
    Unknown,
    Untyped,
    Uri,
    Value,
    Wire,
    Word,
    Words,
    cut,
    exact,
)


class Annotations(Wire, kw_only=True):
    """The definition `Annotations` of the official schema."""

    audience: Maybe[Annotated[list[Word], cut(limits.ICONS)]] = UNSET
    last_modified: Maybe[Word] = UNSET
    priority: Maybe[float] = UNSET


class ArchiveSessionRequest(Sent, kw_only=True):
    """The definition `ArchiveSessionRequest` of the official schema."""

    session_id: str


class AudioContent(Wire, kw_only=True, tag_field="type", tag="audio"):
    """The definition `AudioContent` of the official schema."""

    annotations: Maybe[Annotations] = UNSET
    data: Data
    mime_type: Word


class AuthAccount(Wire, kw_only=True):
    """The definition `AuthAccount` of the official schema."""

    label: Words
    active: Maybe[bool] = UNSET
    name: Maybe[Name] = UNSET
    email: Maybe[Words] = UNSET
    organization: Maybe[Words] = UNSET


class AuthStatusCapabilities(Wire, kw_only=True):
    """The definition `AuthStatusCapabilities` of the official schema."""


class AuthStatusRequest(Sent, kw_only=True):
    """The definition `AuthStatusRequest` of the official schema."""


class AuthStatusResponse(Wire, kw_only=True):
    """The definition `AuthStatusResponse` of the official schema."""

    state: Word
    accounts: Omittable[Annotated[list[AuthAccount], cut(limits.AUTH_METHODS)]] = UNSET


class AuthStatusUpdateNotification(Wire, kw_only=True):
    """The definition `AuthStatusUpdateNotification` of the official schema."""

    state: Word
    accounts: Omittable[Annotated[list[AuthAccount], cut(limits.AUTH_METHODS)]] = UNSET


class BooleanPropertySchema(Wire, kw_only=True, tag_field="type", tag="boolean"):
    """The definition `BooleanPropertySchema` of the official schema."""

    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET
    default: Maybe[bool] = UNSET


class CancelledPermissionOutcome(Sent, kw_only=True, tag_field="outcome", tag="cancelled"):
    """The definition `CancelledPermissionOutcome` of the official schema."""


class CloseSessionRequest(Sent, kw_only=True):
    """The definition `CloseSessionRequest` of the official schema."""

    session_id: str


class EmbeddedResourceResource(Wire, kw_only=True):
    """The definition `EmbeddedResourceResource` of the official schema."""

    text: Omittable[Text] = UNSET
    uri: Uri
    mime_type: Maybe[Word] = UNSET
    blob: Omittable[Data] = UNSET

    def __post_init__(self) -> None:
        self.require_one(("text",), ("blob",))


class EmbeddedResource(Wire, kw_only=True, tag_field="type", tag="resource"):
    """The definition `EmbeddedResource` of the official schema."""

    annotations: Maybe[Annotations] = UNSET
    resource: EmbeddedResourceResource


class ImageContent(Wire, kw_only=True, tag_field="type", tag="image"):
    """The definition `ImageContent` of the official schema."""

    annotations: Maybe[Annotations] = UNSET
    data: Data
    mime_type: Word
    uri: Maybe[Uri] = UNSET


class Icon(Wire, kw_only=True):
    """The definition `Icon` of the official schema."""

    src: Words
    mime_type: Maybe[Word] = UNSET
    sizes: Maybe[Annotated[list[Word], cut(limits.ICONS)]] = UNSET
    theme: Maybe[Word] = UNSET


class ResourceLink(Wire, kw_only=True, tag_field="type", tag="resource_link"):
    """The definition `ResourceLink` of the official schema."""

    name: Name
    uri: Uri
    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET
    icons: Maybe[Annotated[list[Icon], cut(limits.ICONS)]] = UNSET
    mime_type: Maybe[Word] = UNSET
    size: Maybe[int] = UNSET
    annotations: Maybe[Annotations] = UNSET


class TextContent(Wire, kw_only=True, tag_field="type", tag="text"):
    """The definition `TextContent` of the official schema."""

    annotations: Maybe[Annotations] = UNSET
    text: Text


class UnknownContentBlock(Unknown):
    """A `ContentBlock` of a kind that the schema does not have."""


ContentBlock: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownContentBlock
)


class CompactionSummaryChunk(Wire, kw_only=True, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    """The definition `CompactionSummaryChunk` of the official schema."""

    compaction_id: Id
    content: ContentBlock


class CompactionUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="compaction_update"):
    """The definition `CompactionUpdate` of the official schema."""

    compaction_id: Id
    status: Word
    summary: Maybe[Annotated[list[ContentBlock], cut(limits.CONTENT_ITEMS)]] = UNSET
    error: Maybe[Words] = UNSET


class CompleteElicitationNotification(Wire, kw_only=True):
    """The definition `CompleteElicitationNotification` of the official schema."""

    elicitation_id: Id


class Content(Wire, kw_only=True, tag_field="type", tag="content"):
    """The definition `Content` of the official schema."""

    content: ContentBlock


class Cost(Wire, kw_only=True):
    """The definition `Cost` of the official schema."""

    amount: float
    currency: Word


class CreateElicitationResponse(Sent, kw_only=True):
    """The definition `CreateElicitationResponse` of the official schema."""

    action: str
    content: Maybe[dict[str, str | int | float | bool | list[str]]] = UNSET


class DeleteSessionRequest(Sent, kw_only=True):
    """The definition `DeleteSessionRequest` of the official schema."""

    session_id: str


class DisableProviderRequest(Sent, kw_only=True):
    """The definition `DisableProviderRequest` of the official schema."""

    provider_id: str


class IntegerPropertySchema(Wire, kw_only=True, tag_field="type", tag="integer"):
    """The definition `IntegerPropertySchema` of the official schema."""

    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET
    minimum: Maybe[int] = UNSET
    maximum: Maybe[int] = UNSET
    default: Maybe[int] = UNSET


class StringMultiSelectItems(Wire, kw_only=True, tag_field="type", tag="string"):
    """The definition `StringMultiSelectItems` of the official schema."""

    enum: Annotated[list[Value], exact(limits.FORM_CHOICES)]


class EnumOption(Wire, kw_only=True):
    """The definition `EnumOption` of the official schema."""

    const: Value
    title: Title
    description: Maybe[Words] = UNSET


class TitledMultiSelectItems(Wire, kw_only=True, tag_field="type", tag=UNTAGGED):
    """The definition `TitledMultiSelectItems` of the official schema."""

    any_of: Annotated[list[EnumOption], exact(limits.FORM_CHOICES)]


class UnknownMultiSelectItems(Unknown):
    """A `MultiSelectItems` of a kind that the schema does not have."""


MultiSelectItems: TypeAlias = StringMultiSelectItems | TitledMultiSelectItems | UnknownMultiSelectItems


class MultiSelectPropertySchema(Wire, kw_only=True, tag_field="type", tag="array"):
    """The definition `MultiSelectPropertySchema` of the official schema."""

    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET
    min_items: Maybe[int] = UNSET
    max_items: Maybe[int] = UNSET
    items: MultiSelectItems
    default: Maybe[Annotated[list[Value], exact(limits.FORM_CHOICES)]] = UNSET


class NumberPropertySchema(Wire, kw_only=True, tag_field="type", tag="number"):
    """The definition `NumberPropertySchema` of the official schema."""

    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET
    minimum: Maybe[float] = UNSET
    maximum: Maybe[float] = UNSET
    default: Maybe[float] = UNSET


class StringPropertySchema(Wire, kw_only=True, tag_field="type", tag="string"):
    """The definition `StringPropertySchema` of the official schema."""

    title: Maybe[Title] = UNSET
    description: Maybe[Words] = UNSET
    min_length: Maybe[int] = UNSET
    max_length: Maybe[int] = UNSET
    pattern: Maybe[Pattern] = UNSET
    format: Maybe[Word] = UNSET
    default: Maybe[Value] = UNSET
    enum: Maybe[Annotated[list[Value], exact(limits.FORM_CHOICES)]] = UNSET
    one_of: Maybe[Annotated[list[EnumOption], exact(limits.FORM_CHOICES)]] = UNSET


class UnknownElicitationPropertySchema(Unknown):
    """A `ElicitationPropertySchema` of a kind that the schema does not have."""


ElicitationPropertySchema: TypeAlias = (
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
    | UnknownElicitationPropertySchema
)


class EnvVariable(Wire, kw_only=True):
    """The definition `EnvVariable` of the official schema."""

    name: Argument
    value: Argument


class Error(Wire, kw_only=True):
    """The definition `Error` of the official schema."""

    code: int
    message: Words
    data: Untyped = UNSET


class HttpHeader(Sent, kw_only=True):
    """The definition `HttpHeader` of the official schema."""

    name: str
    value: str


class Implementation(Wire, kw_only=True):
    """The definition `Implementation` of the official schema."""

    name: Name
    title: Maybe[Title] = UNSET
    version: Word


class ListProvidersRequest(Sent, kw_only=True):
    """The definition `ListProvidersRequest` of the official schema."""


class ProviderCurrentConfig(Wire, kw_only=True):
    """The definition `ProviderCurrentConfig` of the official schema."""

    api_type: Word
    base_url: Uri


class ProviderInfo(Wire, kw_only=True):
    """The definition `ProviderInfo` of the official schema."""

    provider_id: Id
    supported: Annotated[list[Word], cut(limits.ENTRIES)]
    required: bool
    current: Maybe[ProviderCurrentConfig] = UNSET


class ListProvidersResponse(Wire, kw_only=True):
    """The definition `ListProvidersResponse` of the official schema."""

    providers: Annotated[list[ProviderInfo], cut(limits.AUTH_METHODS)]


class ListSessionsRequest(Sent, kw_only=True):
    """The definition `ListSessionsRequest` of the official schema."""

    cwd: Maybe[str] = UNSET
    cursor: Maybe[str] = UNSET
    archived: Maybe[str] = UNSET


class SessionInfo(Wire, kw_only=True):
    """The definition `SessionInfo` of the official schema."""

    session_id: Id
    cwd: Path
    additional_directories: Omittable[Annotated[list[Path], cut(limits.DIRECTORIES)]] = UNSET
    title: Maybe[Title] = UNSET
    updated_at: Maybe[Word] = UNSET
    archived: Maybe[bool] = UNSET


class ListSessionsResponse(Wire, kw_only=True):
    """The definition `ListSessionsResponse` of the official schema."""

    sessions: Annotated[list[SessionInfo], cut(limits.SESSIONS)]
    next_cursor: Maybe[Uri] = UNSET


class McpServerAcp(Sent, kw_only=True, tag_field="type", tag="acp"):
    """The definition `McpServerAcp` of the official schema."""

    name: str
    server_id: str


class Notice(Wire, kw_only=True, tag_field="sessionUpdate", tag="notice"):
    """The definition `Notice` of the official schema."""

    severity: Word
    title: Title
    description: Maybe[Words] = UNSET


class PermissionOption(Wire, kw_only=True):
    """The definition `PermissionOption` of the official schema."""

    option_id: Id
    name: Name
    kind: Word


class PlanEntry(Wire, kw_only=True):
    """The definition `PlanEntry` of the official schema."""

    content: Name
    priority: Word
    status: Word


class PlanFile(Wire, kw_only=True, tag_field="type", tag="file"):
    """The definition `PlanFile` of the official schema."""

    plan_id: Id
    uri: Uri


class PlanItems(Wire, kw_only=True, tag_field="type", tag="items"):
    """The definition `PlanItems` of the official schema."""

    plan_id: Id
    entries: Annotated[list[PlanEntry], cut(limits.PLAN_ENTRIES)]


class PlanMarkdown(Wire, kw_only=True, tag_field="type", tag="markdown"):
    """The definition `PlanMarkdown` of the official schema."""

    plan_id: Id
    content: Text


class PlanRemoved(Wire, kw_only=True, tag_field="sessionUpdate", tag="plan_removed"):
    """The definition `PlanRemoved` of the official schema."""

    plan_id: Id


class UnknownPlanUpdateContent(Unknown):
    """A `PlanUpdateContent` of a kind that the schema does not have."""


PlanUpdateContent: TypeAlias = PlanItems | PlanFile | PlanMarkdown | UnknownPlanUpdateContent


class PlanUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="plan_update"):
    """The definition `PlanUpdate` of the official schema."""

    plan: PlanUpdateContent


class PromptRequest(Sent, kw_only=True):
    """The definition `PromptRequest` of the official schema."""

    session_id: str
    prompt: list[ContentBlock]


class ProvidersCapabilities(Wire, kw_only=True):
    """The definition `ProvidersCapabilities` of the official schema."""


class SelectedPermissionOutcome(Sent, kw_only=True, tag_field="outcome", tag="selected"):
    """The definition `SelectedPermissionOutcome` of the official schema."""

    option_id: str


RequestPermissionOutcome: TypeAlias = CancelledPermissionOutcome | SelectedPermissionOutcome


class RequestPermissionResponse(Sent, kw_only=True):
    """The definition `RequestPermissionResponse` of the official schema."""

    outcome: RequestPermissionOutcome


class SessionAdditionalDirectoriesCapabilities(Wire, kw_only=True):
    """The definition `SessionAdditionalDirectoriesCapabilities` of the official schema."""


class SessionArchiveCapabilities(Wire, kw_only=True):
    """The definition `SessionArchiveCapabilities` of the official schema."""


class SessionCancelCapabilities(Wire, kw_only=True):
    """The definition `SessionCancelCapabilities` of the official schema."""


class SessionConfigSelectOption(Wire, kw_only=True):
    """The definition `SessionConfigSelectOption` of the official schema."""

    value: Id
    name: Name
    description: Maybe[Words] = UNSET


class SessionDeleteCapabilities(Wire, kw_only=True):
    """The definition `SessionDeleteCapabilities` of the official schema."""


class SessionInfoUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="session_info_update"):
    """The definition `SessionInfoUpdate` of the official schema."""

    title: Maybe[Title] = UNSET
    updated_at: Maybe[Word] = UNSET


class SessionMessage(Wire, kw_only=True, tag_field="sessionUpdate", tag="session_message"):
    """The definition `SessionMessage` of the official schema."""

    message_id: Id
    sender_session_id: Maybe[Id] = UNSET
    recipient_session_id: Maybe[Id] = UNSET
    sender_message_id: Maybe[Id] = UNSET
    recipient_message_id: Maybe[Id] = UNSET
    content: Maybe[Annotated[list[ContentBlock], cut(limits.CONTENT_ITEMS)]] = UNSET


class SessionMessageChunk(Wire, kw_only=True, tag_field="sessionUpdate", tag="session_message_chunk"):
    """The definition `SessionMessageChunk` of the official schema."""

    message_id: Id
    content: ContentBlock


class SessionSystemPromptOverrideCapabilities(Wire, kw_only=True):
    """The definition `SessionSystemPromptOverrideCapabilities` of the official schema."""


class SessionSystemPromptModeCapabilities(Wire, kw_only=True):
    """The definition `SessionSystemPromptModeCapabilities` of the official schema."""

    override: Maybe[SessionSystemPromptOverrideCapabilities] = UNSET


class SessionSystemPromptCapabilities(Wire, kw_only=True):
    """The definition `SessionSystemPromptCapabilities` of the official schema."""

    mode: Maybe[SessionSystemPromptModeCapabilities] = UNSET


class SessionTitleCapabilities(Wire, kw_only=True):
    """The definition `SessionTitleCapabilities` of the official schema."""


class SetProviderRequest(Sent, kw_only=True):
    """The definition `SetProviderRequest` of the official schema."""

    provider_id: str
    api_type: str
    base_url: str
    headers: Omittable[dict[str, str]] = UNSET


class SetSessionTitleRequest(Sent, kw_only=True):
    """The definition `SetSessionTitleRequest` of the official schema."""

    session_id: str
    title: str


class SetSessionTitleResponse(Wire, kw_only=True):
    """The definition `SetSessionTitleResponse` of the official schema."""

    title: Title


class SubagentSessionCapabilities(Wire, kw_only=True):
    """The definition `SubagentSessionCapabilities` of the official schema."""

    cancel: Maybe[SessionCancelCapabilities] = UNSET


class SystemPrompt(Sent, kw_only=True):
    """The definition `SystemPrompt` of the official schema."""

    mode: str
    content: list[ContentBlock]


class Terminal(Wire, kw_only=True, tag_field="type", tag="terminal"):
    """The definition `Terminal` of the official schema."""

    terminal_id: Id


class ToolCallLocation(Wire, kw_only=True):
    """The definition `ToolCallLocation` of the official schema."""

    path: Path
    line: Maybe[int] = UNSET


class UnarchiveSessionRequest(Sent, kw_only=True):
    """The definition `UnarchiveSessionRequest` of the official schema."""

    session_id: str


class Usage(Wire, kw_only=True):
    """The definition `Usage` of the official schema."""

    total_tokens: int
    input_tokens: int
    output_tokens: int
    thought_tokens: Maybe[int] = UNSET
    cached_read_tokens: Maybe[int] = UNSET
    cached_write_tokens: Maybe[int] = UNSET


class UsageUpdate(Wire, kw_only=True, tag_field="sessionUpdate", tag="usage_update"):
    """The definition `UsageUpdate` of the official schema."""

    used: int
    size: int
    cost: Maybe[Cost] = UNSET
