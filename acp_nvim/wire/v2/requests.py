"""What agents ask of us (version 2); our answers are the same as in version 1."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET

from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire, require
from acp_nvim.wire.elicitation import ElicitationPropertySchema, UnknownElicitation
from acp_nvim.wire.facts import PermissionOption
from acp_nvim.wire.v2.tool_calls import ToolCallUpdateFields

# --- session/request_permission -------------------------------------------------------------------------------------


class ToolCallPermissionSubject(Wire, tag_field="type", tag="tool_call"):
    """May this tool call go on?"""

    tool_call: ToolCallUpdateFields


class CommandPermissionSubject(Wire, tag_field="type", tag="command"):
    """May this command be run?"""

    command: str
    cwd: str
    tool_call_id: Maybe[str] = UNSET
    terminal_id: Maybe[str] = UNSET


class UnknownPermissionSubject(Unknown):
    """May something happen that we do not know?"""


RequestPermissionSubject: TypeAlias = ToolCallPermissionSubject | CommandPermissionSubject | UnknownPermissionSubject


class RequestPermissionRequest(Wire):
    """The parameters of `session/request_permission`."""

    session_id: str
    title: str
    options: list[PermissionOption]
    description: Maybe[str] = UNSET
    subject: Maybe[RequestPermissionSubject] = UNSET


# --- elicitation/create ---------------------------------------------------------------------------------------------


class ElicitationSchema(Wire):
    """The fields of a form."""

    type: str
    properties: dict[str, ElicitationPropertySchema]
    title: Maybe[str] = UNSET
    required: Maybe[list[str]] = UNSET
    description: Maybe[str] = UNSET


class ElicitationScope(Wire):
    """`ElicitationSessionScope` when it has `session_id`, else `ElicitationRequestScope`."""

    message: str
    session_id: Omittable[str] = UNSET
    tool_call_id: Maybe[str] = UNSET
    request_id: Omittable[int | str] = UNSET

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
