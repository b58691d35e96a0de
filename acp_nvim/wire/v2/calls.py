"""What we ask of agents (version 2)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET

from acp_nvim.wire.base import Maybe, Omittable, Wire
from acp_nvim.wire.elicitation import ElicitationCapabilities
from acp_nvim.wire.facts import EnvVariable, HttpHeader, Implementation

# --- initialize -----------------------------------------------------------------------------------------------------


class TerminalAuthCapabilities(Wire):
    """The user can authenticate in a terminal."""


class ClientAuthCapabilities(Wire):
    """How the user can authenticate."""

    terminal: Maybe[TerminalAuthCapabilities] = UNSET


class ClientCapabilities(Wire):
    """What we can do for an agent."""

    auth: Maybe[ClientAuthCapabilities] = UNSET
    elicitation: Maybe[ElicitationCapabilities] = UNSET


class InitializeRequest(Wire):
    """The parameters of `initialize`."""

    protocol_version: int
    info: Implementation
    capabilities: Omittable[ClientCapabilities] = UNSET


class LoginAuthRequest(Wire):
    """The parameters of `auth/login`."""

    method_id: str


class LogoutAuthRequest(Wire):
    """The parameters of `auth/logout`."""


# --- sessions -------------------------------------------------------------------------------------------------------


class McpServerHttp(Wire, tag_field="type", tag="http"):
    """A server that is reached by HTTP."""

    name: str
    url: str
    headers: Omittable[list[HttpHeader]] = UNSET


class McpServerStdio(Wire, tag_field="type", tag="stdio"):
    """A server that the agent starts."""

    name: str
    command: str
    args: Omittable[list[str]] = UNSET
    env: Omittable[list[EnvVariable]] = UNSET


McpServer: TypeAlias = McpServerHttp | McpServerStdio


class NewSessionRequest(Wire):
    """The parameters of `session/new`."""

    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    mcp_servers: Omittable[list[McpServer]] = UNSET


class ReplayFromStart(Wire, tag_field="type", tag="start"):
    """Tell the whole conversation again."""


ReplayFrom: TypeAlias = ReplayFromStart


class ResumeSessionRequest(Wire):
    """The parameters of `session/resume`; without `replay_from` nothing is told again."""

    session_id: str
    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    mcp_servers: Omittable[list[McpServer]] = UNSET
    replay_from: Maybe[ReplayFrom] = UNSET


class SetSessionConfigOptionRequest(Wire):
    """The parameters of `session/set_config_option`; `type`: "id" for a str, "boolean" for a bool."""

    session_id: str
    config_id: str
    type: str
    value: str | bool


class CancelSessionNotification(Wire):
    """The parameters of `session/cancel`."""

    session_id: str


class CancelToolCallRequest(Wire):
    """The parameters of `tool_call/cancel`."""

    session_id: str
    tool_call_id: str


class CancelTerminalRequest(Wire):
    """The parameters of `terminal/cancel`."""

    session_id: str
    terminal_id: str
