"""What agents of version 1 say that its stable schema does not have: models, and copies of a session."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Wire
from acp_nvim.wire.bounds import Id, Name, Path, Words, cut
from acp_nvim.wire.v1.config import SessionConfigOption, SessionModeState
from acp_nvim.wire.v1.mcp import McpServer


class ModelInfo(Wire):
    """A model to choose."""

    model_id: Id
    name: Name
    description: Maybe[Words] = UNSET


class SessionModelState(Wire):
    """The models there are, and the one the session uses."""

    available_models: Annotated[list[ModelInfo], cut(limits.MODELS)]
    current_model_id: Id


class SetSessionModelRequest(Wire):
    """The parameters of `session/set_model`."""

    session_id: Id
    model_id: Id


class SetSessionModelResponse(Wire):
    """The answer to `session/set_model`."""


class ForkSessionRequest(Wire):
    """The parameters of `session/fork`."""

    session_id: Id
    cwd: Path
    additional_directories: Omittable[Annotated[list[Path], cut(limits.DIRECTORIES)]] = UNSET
    mcp_servers: Omittable[Annotated[list[McpServer], cut(limits.CONFIG_OPTIONS)]] = UNSET


class ForkSessionResponse(Wire):
    """The answer to `session/fork`: the copy."""

    session_id: Id
    modes: Maybe[SessionModeState] = UNSET
    models: Maybe[SessionModelState] = UNSET
    config_options: Maybe[Annotated[list[SessionConfigOption], cut(limits.CONFIG_OPTIONS)]] = UNSET
