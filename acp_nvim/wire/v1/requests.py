"""What agents ask of us, and our answers (version 1)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET

from acp_nvim.wire.base import Maybe, Omittable, Wire, require
from acp_nvim.wire.elicitation import ElicitationPropertySchema, UnknownElicitation
from acp_nvim.wire.facts import EnvVariable, PermissionOption
from acp_nvim.wire.v1.updates import ToolCallUpdateFields


class RequestPermissionRequest(Wire):
    """The parameters of `session/request_permission`."""

    session_id: str
    tool_call: ToolCallUpdateFields
    options: list[PermissionOption]


# --- fs/* -----------------------------------------------------------------------------------------------------------


class ReadTextFileRequest(Wire):
    """The parameters of `fs/read_text_file`; `line` is 1-based."""

    session_id: str
    path: str
    line: Maybe[int] = UNSET
    limit: Maybe[int] = UNSET


class ReadTextFileResponse(Wire):
    """Our answer to `fs/read_text_file`."""

    content: str


class WriteTextFileRequest(Wire):
    """The parameters of `fs/write_text_file`."""

    session_id: str
    path: str
    content: str


class WriteTextFileResponse(Wire):
    """Our answer to `fs/write_text_file`."""


# --- terminal/* -----------------------------------------------------------------------------------------------------


class CreateTerminalRequest(Wire):
    """The parameters of `terminal/create`; `output_byte_limit` in bytes."""

    session_id: str
    command: str
    args: Omittable[list[str]] = UNSET
    env: Omittable[list[EnvVariable]] = UNSET
    cwd: Maybe[str] = UNSET
    output_byte_limit: Maybe[int] = UNSET


class CreateTerminalResponse(Wire):
    """Our answer to `terminal/create`."""

    terminal_id: str


class TerminalRequest(Wire):
    """A request that is about one terminal."""

    session_id: str
    terminal_id: str


class TerminalOutputRequest(TerminalRequest):
    """The parameters of `terminal/output`."""


class TerminalExitStatus(Wire):
    """How the command ended."""

    exit_code: Maybe[int] = UNSET
    signal: Maybe[str] = UNSET


class TerminalOutputResponse(Wire):
    """Our answer to `terminal/output`."""

    output: str
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
    signal: Maybe[str] = UNSET


class KillTerminalRequest(TerminalRequest):
    """The parameters of `terminal/kill`."""


class KillTerminalResponse(Wire):
    """Our answer to `terminal/kill`."""


# --- elicitation/create ---------------------------------------------------------------------------------------------


class ElicitationSchema(Wire):
    """The fields of a form."""

    type: Omittable[str] = UNSET
    title: Maybe[str] = UNSET
    properties: Omittable[dict[str, ElicitationPropertySchema]] = UNSET
    required: Maybe[list[str]] = UNSET
    description: Maybe[str] = UNSET


class ElicitationScope(Wire):
    """`ElicitationSessionScope` when it has `session_id`, else `ElicitationRequestScope`."""

    message: str
    session_id: Omittable[str] = UNSET
    tool_call_id: Maybe[str] = UNSET
    request_id: Maybe[int | str] = UNSET

    def __post_init__(self) -> None:
        if self.request_id is UNSET:
            require(self.session_id, "sessionId", "requestId")


class ElicitationFormMode(ElicitationScope, kw_only=True, tag_field="mode", tag="form"):
    """The user is to fill in a form."""

    requested_schema: ElicitationSchema


class ElicitationUrlMode(ElicitationScope, kw_only=True, tag_field="mode", tag="url"):
    """The user is to do something at a URL."""

    elicitation_id: str
    url: str


CreateElicitationRequest: TypeAlias = ElicitationFormMode | ElicitationUrlMode | UnknownElicitation
"""The parameters of `elicitation/create`."""
