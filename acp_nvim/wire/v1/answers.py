"""What agents answer us (version 1)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import UNTAGGED, Maybe, Omittable, Unknown, Wire
from acp_nvim.wire.bounds import Argument, Id, Name, Word, Words, cut, exact
from acp_nvim.wire.facts import (
    Implementation,
    SessionAdditionalDirectoriesCapabilities,
    SessionDeleteCapabilities,
)
from acp_nvim.wire.v1.config import SessionConfigOption, SessionModeState
from acp_nvim.wire.v1.unstable import SessionModelState

# --- initialize -----------------------------------------------------------------------------------------------------


class LogoutCapabilities(Wire):
    """The agent has `logout`."""


class AgentAuthCapabilities(Wire):
    """What the agent can do about authentication."""

    logout: Maybe[LogoutCapabilities] = UNSET


class PromptCapabilities(Wire):
    """What a prompt may hold, besides text and links."""

    image: Omittable[bool] = UNSET
    audio: Omittable[bool] = UNSET
    embedded_context: Omittable[bool] = UNSET


class McpCapabilities(Wire):
    """Which MCP servers the agent can reach, besides those it starts."""

    http: Omittable[bool] = UNSET
    sse: Omittable[bool] = UNSET


class SessionListCapabilities(Wire):
    """The agent has `session/list`."""


class SessionResumeCapabilities(Wire):
    """The agent has `session/resume`."""


class SessionCloseCapabilities(Wire):
    """The agent has `session/close`."""


class SessionForkCapabilities(Wire):
    """The agent has `session/fork` (unstable)."""


class SessionCapabilities(Wire):
    """Which methods the agent has for its sessions."""

    list: Maybe[SessionListCapabilities] = UNSET
    delete: Maybe[SessionDeleteCapabilities] = UNSET
    additional_directories: Maybe[SessionAdditionalDirectoriesCapabilities] = UNSET
    resume: Maybe[SessionResumeCapabilities] = UNSET
    close: Maybe[SessionCloseCapabilities] = UNSET
    fork: Maybe[SessionForkCapabilities] = UNSET


class AgentCapabilities(Wire):
    """What the agent can do."""

    load_session: Omittable[bool] = UNSET
    prompt_capabilities: Omittable[PromptCapabilities] = UNSET
    mcp_capabilities: Omittable[McpCapabilities] = UNSET
    session_capabilities: Omittable[SessionCapabilities] = UNSET
    auth: Omittable[AgentAuthCapabilities] = UNSET


class AuthMethodFacts(Wire):
    """What all ways to authenticate have."""

    id: Id
    name: Name
    description: Maybe[Words] = UNSET


class AuthMethodTerminal(AuthMethodFacts, tag_field="type", tag="terminal"):
    """The agent's own program asks the user, in a terminal."""

    args: Omittable[Annotated[list[Argument], exact(limits.ARGUMENTS)]] = UNSET
    env: Omittable[Annotated[dict[Id, Argument], exact(limits.VARIABLES)]] = UNSET


class AuthMethodAgent(AuthMethodFacts, tag_field="type", tag=UNTAGGED):
    """The agent sees to it itself."""


class UnknownAuthMethod(Unknown):
    """A way to authenticate that we do not know."""


AuthMethod: TypeAlias = AuthMethodTerminal | AuthMethodAgent | UnknownAuthMethod


class InitializeResponse(Wire):
    """The answer to `initialize`."""

    protocol_version: int
    agent_capabilities: Omittable[AgentCapabilities] = UNSET
    auth_methods: Omittable[Annotated[list[AuthMethod], cut(limits.AUTH_METHODS)]] = UNSET
    agent_info: Maybe[Implementation] = UNSET


class AuthenticateResponse(Wire):
    """The answer to `authenticate`."""


class LogoutResponse(Wire):
    """The answer to `logout`."""


# --- sessions -------------------------------------------------------------------------------------------------------


class LoadSessionResponse(Wire):
    """The answer to `session/load`; `models` is older than `config_options`."""

    modes: Maybe[SessionModeState] = UNSET
    models: Maybe[SessionModelState] = UNSET
    config_options: Maybe[Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]] = UNSET


class ResumeSessionResponse(LoadSessionResponse):
    """The answer to `session/resume`."""


class NewSessionResponse(LoadSessionResponse, kw_only=True):
    """The answer to `session/new`."""

    session_id: Id


class SetSessionModeResponse(Wire):
    """The answer to `session/set_mode`."""


class SetSessionConfigOptionResponse(Wire):
    """The answer to `session/set_config_option`: all options as they are now."""

    config_options: Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]


class PromptResponse(Wire):
    """The answer to `session/prompt`: the turn is over."""

    stop_reason: Word
