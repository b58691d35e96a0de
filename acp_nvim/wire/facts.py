"""Small things that both versions say in the same words: updates, capabilities, names, lists."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import UNSET

from acp_nvim.wire.base import Maybe, Omittable, Wire
from acp_nvim.wire.content import ContentBlock


class Implementation(Wire):
    """Who the agent or the client is."""

    name: str
    version: str
    title: Maybe[str] = UNSET


class Error(Wire):
    """A JSON-RPC error; `data` is anything."""

    code: int
    message: str
    data: Any = UNSET


class CancelRequestNotification(Wire):
    """The parameters of `$/cancel_request`: the sender of a request wants no answer any more."""

    request_id: int | str | None


class EnvVariable(Wire):
    """An environment variable."""

    name: str
    value: str


class HttpHeader(Wire):
    """A header to be sent to an MCP server."""

    name: str
    value: str


# --- session/update -------------------------------------------------------------------------------------------------


class PlanEntry(Wire):
    """One step of a plan."""

    content: str
    priority: str
    status: str


class Cost(Wire):
    """What the session cost so far; `currency` by ISO 4217."""

    amount: float
    currency: str


class UsageUpdate(Wire, tag_field="sessionUpdate", tag="usage_update"):
    """Tokens in the context window, and how many there may be."""

    used: int
    size: int
    cost: Maybe[Cost] = UNSET


class Notice(Wire, tag_field="sessionUpdate", tag="notice"):
    """Something the agent has to say about itself."""

    severity: str
    title: str
    description: Maybe[str] = UNSET


class CompactionUpdate(Wire, tag_field="sessionUpdate", tag="compaction_update"):
    """The agent shortens its context."""

    compaction_id: str
    status: str
    summary: Maybe[list[ContentBlock]] = UNSET
    error: Maybe[str] = UNSET


class CompactionSummaryChunk(Wire, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    """A piece of what the shortened context says."""

    compaction_id: str
    content: ContentBlock


class SessionInfoUpdate(Wire, tag_field="sessionUpdate", tag="session_info_update"):
    """News of the session; null takes something away. `updated_at` by ISO 8601."""

    title: Maybe[str] = UNSET
    updated_at: Maybe[str] = UNSET


class ToolCallLocation(Wire):
    """A place that a tool call works on; `line` is 1-based (some agents say 0)."""

    path: str
    line: Maybe[int] = UNSET


class Terminal(Wire, tag_field="type", tag="terminal"):
    """Content of a tool call: what a terminal shows."""

    terminal_id: str


class Content(Wire, tag_field="type", tag="content"):
    """Content of a tool call: a content block."""

    content: ContentBlock


# --- session/request_permission -------------------------------------------------------------------------------------


class PermissionOption(Wire):
    """One answer to a permission request; its `kind` decides, never its id."""

    option_id: str
    name: str
    kind: str


class CancelledPermissionOutcome(Wire, tag_field="outcome", tag="cancelled"):
    """The turn was cancelled before the user answered."""


class SelectedPermissionOutcome(Wire, tag_field="outcome", tag="selected"):
    """The user chose."""

    option_id: str


RequestPermissionOutcome: TypeAlias = CancelledPermissionOutcome | SelectedPermissionOutcome


class RequestPermissionResponse(Wire):
    """Our answer to `session/request_permission`."""

    outcome: RequestPermissionOutcome


# --- sessions -------------------------------------------------------------------------------------------------------


class SessionInfo(Wire):
    """A session that the agent has; `updated_at` by ISO 8601."""

    session_id: str
    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    title: Maybe[str] = UNSET
    updated_at: Maybe[str] = UNSET


class ListSessionsRequest(Wire):
    """The parameters of `session/list`; `cursor` is the last answer's `next_cursor`."""

    cwd: Maybe[str] = UNSET
    cursor: Maybe[str] = UNSET


class ListSessionsResponse(Wire):
    """The answer to `session/list`."""

    sessions: list[SessionInfo]
    next_cursor: Maybe[str] = UNSET


class DeleteSessionRequest(Wire):
    """The parameters of `session/delete`."""

    session_id: str


class DeleteSessionResponse(Wire):
    """The answer to `session/delete`."""


class CloseSessionRequest(Wire):
    """The parameters of `session/close`."""

    session_id: str


class CloseSessionResponse(Wire):
    """The answer to `session/close`."""


class PromptRequest(Wire):
    """The parameters of `session/prompt`."""

    session_id: str
    prompt: list[ContentBlock]


class SessionDeleteCapabilities(Wire):
    """The agent has `session/delete`."""


class SessionAdditionalDirectoriesCapabilities(Wire):
    """The agent takes `additionalDirectories`."""
