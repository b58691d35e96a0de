"""What agents ask of us, and our answers (version 1)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Wire, require
from acp_nvim.wire.bounds import Argument, FileText, Id, Name, Path, Title, Uri, Word, Words, exact
from acp_nvim.wire.elicitation import ElicitationPropertySchema, UnknownElicitation
from acp_nvim.wire.facts import EnvVariable, PermissionOption
from acp_nvim.wire.v1.updates import ToolCallUpdateFields


class RequestPermissionRequest(Wire):
    """The parameters of `session/request_permission`."""

    session_id: Id
    tool_call: ToolCallUpdateFields
    options: Annotated[list[PermissionOption], exact(limits.OPTIONS)]


# --- fs/* -----------------------------------------------------------------------------------------------------------


class ReadTextFileRequest(Wire):
    """The parameters of `fs/read_text_file`; `line` is 1-based."""

    session_id: Id
    path: Path
    line: Maybe[int] = UNSET
    limit: Maybe[int] = UNSET


class ReadTextFileResponse(Wire):
    """Our answer to `fs/read_text_file`."""

    content: FileText


class WriteTextFileRequest(Wire):
    """The parameters of `fs/write_text_file`."""

    session_id: Id
    path: Path
    content: FileText


class WriteTextFileResponse(Wire):
    """Our answer to `fs/write_text_file`."""


# --- terminal/* -----------------------------------------------------------------------------------------------------


class CreateTerminalRequest(Wire):
    """The parameters of `terminal/create`; `output_byte_limit` in bytes."""

    session_id: Id
    command: Argument
    args: Omittable[Annotated[list[Argument], exact(limits.ARGUMENTS)]] = UNSET
    env: Omittable[Annotated[list[EnvVariable], exact(limits.VARIABLES)]] = UNSET
    cwd: Maybe[Path] = UNSET
    output_byte_limit: Maybe[int] = UNSET


class CreateTerminalResponse(Wire):
    """Our answer to `terminal/create`."""

    terminal_id: Id


class TerminalRequest(Wire):
    """A request that is about one terminal."""

    session_id: Id
    terminal_id: Id


class TerminalOutputRequest(TerminalRequest):
    """The parameters of `terminal/output`."""


class TerminalExitStatus(Wire):
    """How the command ended."""

    exit_code: Maybe[int] = UNSET
    signal: Maybe[Word] = UNSET


class TerminalOutputResponse(Wire):
    """Our answer to `terminal/output`."""

    output: FileText
    truncated: bool
    exit_status: Maybe[TerminalExitStatus] = UNSET


class ReleaseTerminalRequest(TerminalRequest):
    """The parameters of `terminal/release`."""


class ReleaseTerminalResponse(Wire):
    """Our answer to `terminal/release`."""


class WaitForTerminalExitRequest(TerminalRequest):
    """The parameters of `terminal/wait_for_exit`."""


class WaitForTerminalExitResponse(Wire):
    """Our answer to `terminal/wait_for_exit`."""

    exit_code: Maybe[int] = UNSET
    signal: Maybe[Word] = UNSET


class KillTerminalRequest(TerminalRequest):
    """The parameters of `terminal/kill`."""


class KillTerminalResponse(Wire):
    """Our answer to `terminal/kill`."""


# --- elicitation/create ---------------------------------------------------------------------------------------------


class ElicitationSchema(Wire):
    """The fields of a form."""

    type: Omittable[Word] = UNSET
    title: Maybe[Title] = UNSET
    properties: Omittable[Annotated[dict[Id, ElicitationPropertySchema], exact(limits.FORM_FIELDS)]] = UNSET
    required: Maybe[Annotated[list[Name], exact(limits.FORM_FIELDS)]] = UNSET
    description: Maybe[Words] = UNSET


class ElicitationScope(Wire):
    """`ElicitationSessionScope` when it has `session_id`, else `ElicitationRequestScope`."""

    message: Words
    session_id: Omittable[Id] = UNSET
    tool_call_id: Maybe[Id] = UNSET
    request_id: Maybe[int | Id] = UNSET

    def __post_init__(self) -> None:
        if self.request_id is UNSET:
            require(self.session_id, "sessionId", "requestId")


class ElicitationFormMode(ElicitationScope, kw_only=True, tag_field="mode", tag="form"):
    """The user is to fill in a form."""

    requested_schema: ElicitationSchema


class ElicitationUrlMode(ElicitationScope, kw_only=True, tag_field="mode", tag="url"):
    """The user is to do something at a URL."""

    elicitation_id: Id
    url: Uri


CreateElicitationRequest: TypeAlias = ElicitationFormMode | ElicitationUrlMode | UnknownElicitation
"""The parameters of `elicitation/create`."""
