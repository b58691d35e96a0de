"""What agents ask of us (version 2); our answers are the same as in version 1."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire, require
from acp_nvim.wire.bounds import Argument, Id, Name, Path, Title, Uri, Word, Words, exact
from acp_nvim.wire.elicitation import ElicitationPropertySchema, UnknownElicitation
from acp_nvim.wire.facts import PermissionOption
from acp_nvim.wire.v2.tool_calls import ToolCallUpdateFields

# --- session/request_permission -------------------------------------------------------------------------------------


class ToolCallPermissionSubject(Wire, tag_field="type", tag="tool_call"):
    """May this tool call go on?"""

    tool_call: ToolCallUpdateFields


class CommandPermissionSubject(Wire, tag_field="type", tag="command"):
    """May this command be run?"""

    command: Argument
    cwd: Path
    tool_call_id: Maybe[Id] = UNSET
    terminal_id: Maybe[Id] = UNSET


class UnknownPermissionSubject(Unknown):
    """May something happen that we do not know?"""


RequestPermissionSubject: TypeAlias = ToolCallPermissionSubject | CommandPermissionSubject | UnknownPermissionSubject


class RequestPermissionRequest(Wire):
    """The parameters of `session/request_permission`."""

    session_id: Id
    title: Title
    options: Annotated[list[PermissionOption], exact(limits.OPTIONS)]
    description: Maybe[Words] = UNSET
    subject: Maybe[RequestPermissionSubject] = UNSET


# --- elicitation/create ---------------------------------------------------------------------------------------------


class ElicitationSchema(Wire):
    """The fields of a form."""

    type: Word
    properties: Annotated[dict[Id, ElicitationPropertySchema], exact(limits.FORM_FIELDS)]
    title: Maybe[Title] = UNSET
    required: Maybe[Annotated[list[Name], exact(limits.FORM_FIELDS)]] = UNSET
    description: Maybe[Words] = UNSET


class ElicitationScope(Wire):
    """`ElicitationSessionScope` when it has `session_id`, else `ElicitationRequestScope`."""

    message: Words
    session_id: Omittable[Id] = UNSET
    tool_call_id: Maybe[Id] = UNSET
    request_id: Omittable[int | Id] = UNSET

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
