"""What we ask of agents (version 1)."""

from __future__ import annotations

from msgspec import UNSET

from acp_nvim.wire.base import Maybe, Omittable, Wire
from acp_nvim.wire.elicitation import ElicitationCapabilities
from acp_nvim.wire.facts import Implementation
from acp_nvim.wire.v1.mcp import McpServer

# --- initialize -----------------------------------------------------------------------------------------------------


class FileSystemCapabilities(Wire):
    """Which of `fs/*` we answer."""

    read_text_file: Omittable[bool] = UNSET
    write_text_file: Omittable[bool] = UNSET


class CompactionCapabilities(Wire):
    """We show compactions."""


class NoticeCapabilities(Wire):
    """We show notices."""


class BooleanConfigOptionCapabilities(Wire):
    """We show options that are on or off."""


class SessionConfigOptionsCapabilities(Wire):
    """Which kinds of configuration options we show."""

    boolean: Maybe[BooleanConfigOptionCapabilities] = UNSET


class ClientSessionCapabilities(Wire):
    """Which news of a session we can show."""

    compaction: Maybe[CompactionCapabilities] = UNSET
    config_options: Maybe[SessionConfigOptionsCapabilities] = UNSET
    notices: Maybe[NoticeCapabilities] = UNSET


class AuthCapabilities(Wire):
    """How the user can authenticate."""

    terminal: Omittable[bool] = UNSET


class ClientCapabilities(Wire):
    """What we can do for an agent."""

    fs: Omittable[FileSystemCapabilities] = UNSET
    terminal: Omittable[bool] = UNSET
    session: Maybe[ClientSessionCapabilities] = UNSET
    auth: Omittable[AuthCapabilities] = UNSET
    elicitation: Maybe[ElicitationCapabilities] = UNSET


class InitializeRequest(Wire):
    """The parameters of `initialize`."""

    protocol_version: int
    client_capabilities: Omittable[ClientCapabilities] = UNSET
    client_info: Maybe[Implementation] = UNSET


class AuthenticateRequest(Wire):
    """The parameters of `authenticate`."""

    method_id: str


class LogoutRequest(Wire):
    """The parameters of `logout`."""


# --- sessions -------------------------------------------------------------------------------------------------------


class NewSessionRequest(Wire):
    """The parameters of `session/new`."""

    cwd: str
    mcp_servers: list[McpServer]
    additional_directories: Omittable[list[str]] = UNSET


class LoadSessionRequest(Wire):
    """The parameters of `session/load`: the conversation is told again."""

    session_id: str
    cwd: str
    mcp_servers: list[McpServer]
    additional_directories: Omittable[list[str]] = UNSET


class ResumeSessionRequest(Wire):
    """The parameters of `session/resume`: nothing is told again."""

    session_id: str
    cwd: str
    mcp_servers: Omittable[list[McpServer]] = UNSET
    additional_directories: Omittable[list[str]] = UNSET


class SetSessionModeRequest(Wire):
    """The parameters of `session/set_mode`."""

    session_id: str
    mode_id: str


class SetSessionConfigOptionRequest(Wire):
    """The parameters of `session/set_config_option`; `type` is "boolean" for a bool, absent otherwise."""

    session_id: str
    config_id: str
    value: str | bool
    type: Omittable[str] = UNSET


class CancelNotification(Wire):
    """The parameters of `session/cancel`."""

    session_id: str
