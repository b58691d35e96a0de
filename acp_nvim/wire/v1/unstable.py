"""What agents of version 1 say that its stable schema does not have: models, and copies of a session."""

from __future__ import annotations

from msgspec import UNSET

from acp_nvim.wire.base import Maybe, Omittable, Wire
from acp_nvim.wire.v1.config import SessionConfigOption, SessionModeState
from acp_nvim.wire.v1.mcp import McpServer


class ModelInfo(Wire):
    """A model to choose."""

    model_id: str
    name: str
    description: Maybe[str] = UNSET


class SessionModelState(Wire):
    """The models there are, and the one the session uses."""

    available_models: list[ModelInfo]
    current_model_id: str


class SetSessionModelRequest(Wire):
    """The parameters of `session/set_model`."""

    session_id: str
    model_id: str


class SetSessionModelResponse(Wire):
    """The answer to `session/set_model`."""


class ForkSessionRequest(Wire):
    """The parameters of `session/fork`."""

    session_id: str
    cwd: str
    additional_directories: Omittable[list[str]] = UNSET
    mcp_servers: Omittable[list[McpServer]] = UNSET


class ForkSessionResponse(Wire):
    """The answer to `session/fork`: the copy."""

    session_id: str
    modes: Maybe[SessionModeState] = UNSET
    models: Maybe[SessionModelState] = UNSET
    config_options: Maybe[list[SessionConfigOption]] = UNSET
