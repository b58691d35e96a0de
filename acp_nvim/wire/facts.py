"""Small things that both versions say in the same words: updates, capabilities, names, lists."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Wire
from acp_nvim.wire.bounds import Argument, Id, Name, Path, Title, Untyped, Uri, Word, Words, cut
from acp_nvim.wire.content import ContentBlock


class Implementation(Wire):
    """Who the agent or the client is."""

    name: Name
    version: Word
    title: Maybe[Title] = UNSET


class Error(Wire):
    """A JSON-RPC error; `data` is anything."""

    code: int
    message: Words
    data: Untyped = UNSET


class CancelRequestNotification(Wire):
    """The parameters of `$/cancel_request`: the sender of a request wants no answer any more."""

    request_id: int | Id | None


class EnvVariable(Wire):
    """An environment variable."""

    name: Argument
    value: Argument


class HttpHeader(Wire):
    """A header to be sent to an MCP server."""

    name: Argument
    value: Argument


# --- session/update -------------------------------------------------------------------------------------------------


class PlanEntry(Wire):
    """One step of a plan."""

    content: Name
    priority: Word
    status: Word


class PlanSteps(Wire):
    """A plan of steps inside an update that only the unstable schemas know."""

    entries: Annotated[list[PlanEntry], cut(limits.PLAN_ENTRIES)]


class Cost(Wire):
    """What the session cost so far; `currency` by ISO 4217."""

    amount: float
    currency: Word


class UsageUpdate(Wire, tag_field="sessionUpdate", tag="usage_update"):
    """Tokens in the context window, and how many there may be."""

    used: int
    size: int
    cost: Maybe[Cost] = UNSET


class Notice(Wire, tag_field="sessionUpdate", tag="notice"):
    """Something the agent has to say about itself."""

    severity: Word
    title: Title
    description: Maybe[Words] = UNSET


class CompactionUpdate(Wire, tag_field="sessionUpdate", tag="compaction_update"):
    """The agent shortens its context."""

    compaction_id: Id
    status: Word
    summary: Maybe[Annotated[list[ContentBlock], cut(limits.CONTENT_ITEMS)]] = UNSET
    error: Maybe[Words] = UNSET


class CompactionSummaryChunk(Wire, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    """A piece of what the shortened context says."""

    compaction_id: Id
    content: ContentBlock


class SessionInfoUpdate(Wire, tag_field="sessionUpdate", tag="session_info_update"):
    """News of the session; null takes something away. `updated_at` by ISO 8601."""

    title: Maybe[Title] = UNSET
    updated_at: Maybe[Word] = UNSET


class ToolCallLocation(Wire):
    """A place that a tool call works on; `line` is 1-based (some agents say 0)."""

    path: Path
    line: Maybe[int] = UNSET


class Terminal(Wire, tag_field="type", tag="terminal"):
    """Content of a tool call: what a terminal shows."""

    terminal_id: Id


class Content(Wire, tag_field="type", tag="content"):
    """Content of a tool call: a content block."""

    content: ContentBlock


# --- session/request_permission -------------------------------------------------------------------------------------


class PermissionOption(Wire):
    """One answer to a permission request; its `kind` decides, never its id."""

    option_id: Id
    name: Name
    kind: Word


class CancelledPermissionOutcome(Wire, tag_field="outcome", tag="cancelled"):
    """The turn was cancelled before the user answered."""


class SelectedPermissionOutcome(Wire, tag_field="outcome", tag="selected"):
    """The user chose."""

    option_id: Id


RequestPermissionOutcome: TypeAlias = CancelledPermissionOutcome | SelectedPermissionOutcome


class RequestPermissionResponse(Wire):
    """Our answer to `session/request_permission`."""

    outcome: RequestPermissionOutcome


# --- sessions -------------------------------------------------------------------------------------------------------


class SessionInfo(Wire):
    """A session that the agent has; `updated_at` by ISO 8601."""

    session_id: Id
    cwd: Path
    additional_directories: Omittable[Annotated[list[Path], cut(limits.DIRECTORIES)]] = UNSET
    title: Maybe[Title] = UNSET
    updated_at: Maybe[Word] = UNSET


class ListSessionsRequest(Wire):
    """The parameters of `session/list`; `cursor` is the last answer's `next_cursor`."""

    cwd: Maybe[Path] = UNSET
    cursor: Maybe[Uri] = UNSET


class ListSessionsResponse(Wire):
    """The answer to `session/list`."""

    sessions: Annotated[list[SessionInfo], cut(limits.SESSIONS)]
    next_cursor: Maybe[Uri] = UNSET


class DeleteSessionRequest(Wire):
    """The parameters of `session/delete`."""

    session_id: Id


class DeleteSessionResponse(Wire):
    """The answer to `session/delete`."""


class CloseSessionRequest(Wire):
    """The parameters of `session/close`."""

    session_id: Id


class CloseSessionResponse(Wire):
    """The answer to `session/close`."""


class PromptRequest(Wire):
    """The parameters of `session/prompt`."""

    session_id: Id
    prompt: Annotated[list[ContentBlock], cut(limits.CONTENT_ITEMS)]


class SessionDeleteCapabilities(Wire):
    """The agent has `session/delete`."""


class SessionAdditionalDirectoriesCapabilities(Wire):
    """The agent takes `additionalDirectories`."""
