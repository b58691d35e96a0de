"""What agents answer us (version 2)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire
from acp_nvim.wire.bounds import Argument, Id, Name, Words, cut, exact
from acp_nvim.wire.facts import (
    EnvVariable,
    Implementation,
    SessionAdditionalDirectoriesCapabilities,
    SessionDeleteCapabilities,
)
from acp_nvim.wire.v2.config import AvailableCommand, SessionConfigOption

# --- initialize -----------------------------------------------------------------------------------------------------


class AgentAuthCapabilities(Wire):
    """The agent has `auth/login` and `auth/logout`."""


class PromptImageCapabilities(Wire):
    """A prompt may hold pictures."""


class PromptAudioCapabilities(Wire):
    """A prompt may hold sound."""


class PromptEmbeddedContextCapabilities(Wire):
    """A prompt may hold resources with their contents."""


class PromptCapabilities(Wire):
    """What a prompt may hold, besides text and links."""

    image: Maybe[PromptImageCapabilities] = UNSET
    audio: Maybe[PromptAudioCapabilities] = UNSET
    embedded_context: Maybe[PromptEmbeddedContextCapabilities] = UNSET


class McpStdioCapabilities(Wire):
    """The agent can start MCP servers."""


class McpHttpCapabilities(Wire):
    """The agent can reach MCP servers by HTTP."""


class McpCapabilities(Wire):
    """Which MCP servers the agent can use."""

    stdio: Maybe[McpStdioCapabilities] = UNSET
    http: Maybe[McpHttpCapabilities] = UNSET


class SessionCapabilities(Wire):
    """What the agent can do in its sessions and with them."""

    prompt: Maybe[PromptCapabilities] = UNSET
    mcp: Maybe[McpCapabilities] = UNSET
    delete: Maybe[SessionDeleteCapabilities] = UNSET
    additional_directories: Maybe[SessionAdditionalDirectoriesCapabilities] = UNSET


class AgentCapabilities(Wire):
    """What the agent can do."""

    session: Maybe[SessionCapabilities] = UNSET
    auth: Maybe[AgentAuthCapabilities] = UNSET


class AuthMethodFacts(Wire):
    """What all ways to authenticate have."""

    method_id: Id
    name: Name
    description: Maybe[Words] = UNSET


class AuthMethodTerminal(AuthMethodFacts, tag_field="type", tag="terminal"):
    """The agent's own program asks the user, in a terminal."""

    args: Omittable[Annotated[list[Argument], exact(limits.ARGUMENTS)]] = UNSET
    env: Omittable[Annotated[list[EnvVariable], exact(limits.VARIABLES)]] = UNSET


class AuthMethodAgent(AuthMethodFacts, tag_field="type", tag="agent"):
    """The agent sees to it itself."""


class UnknownAuthMethod(Unknown):
    """A way to authenticate that we do not know."""


AuthMethod: TypeAlias = AuthMethodTerminal | AuthMethodAgent | UnknownAuthMethod


class InitializeResponse(Wire):
    """The answer to `initialize`."""

    protocol_version: int
    info: Implementation
    capabilities: Omittable[AgentCapabilities] = UNSET
    auth_methods: Omittable[Annotated[list[AuthMethod], cut(limits.AUTH_METHODS)]] = UNSET


class UnsupportedProtocolVersionErrorData(Wire):
    """The data of error -32022, which may answer `initialize`."""

    requested: int
    supported: Annotated[list[int], cut(limits.VERSIONS)]


class SessionNotFoundErrorData(Wire):
    """The data of the error that answers for a session that the agent does not have."""

    session_id: Id


class LoginAuthResponse(Wire):
    """The answer to `auth/login`."""


class LogoutAuthResponse(Wire):
    """The answer to `auth/logout`."""


# --- sessions -------------------------------------------------------------------------------------------------------


class ResumeSessionResponse(Wire):
    """The answer to `session/resume`."""

    config_options: Omittable[Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]] = UNSET
    available_commands: Omittable[Annotated[list[AvailableCommand], cut(limits.COMMANDS)]] = UNSET


class NewSessionResponse(ResumeSessionResponse, kw_only=True):
    """The answer to `session/new`."""

    session_id: Id


class PromptResponse(Wire):
    """The answer to `session/prompt`: the prompt was taken, as this message; the turn goes on."""

    message_id: Id


class SetSessionConfigOptionResponse(Wire):
    """The answer to `session/set_config_option`: all options as they are now."""

    config_options: Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]


class CancelToolCallResponse(Wire):
    """The answer to `tool_call/cancel`."""


class CancelTerminalResponse(Wire):
    """The answer to `terminal/cancel`."""
