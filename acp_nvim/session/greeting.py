"""The first words with an agent: who it is, what it can do, and which protocol version both speak."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import FailureError
from acp_nvim.jsonrpc.messages import AUTH_REQUIRED, RpcError
from acp_nvim.limits.lives import IDLE_SECONDS
from acp_nvim.protocol.answers import Initialized
from acp_nvim.protocol.capabilities import initialize_params
from acp_nvim.protocol.dialect import Dialect
from acp_nvim.protocol.negotiation import NEWEST, VersionError, choose_dialect
from acp_nvim.session import failures

log = logging.getLogger(__name__)

Request = Callable[[str, Any], Awaitable[msgspec.Raw]]


class PeerSettings(msgspec.Struct, frozen=True):
    """What the configuration says of every agent; `traffic` is the directory for recordings, if they are wanted.

    After `idle_seconds` without a turn a process is stopped, unless that is 0, or the agent's definition knows better.
    """

    initialize_seconds: float
    v2: bool = False
    traffic: Path | None = None
    idle_seconds: float = IDLE_SECONDS


async def greet(
    definition: AgentDefinition, settings: PeerSettings, request: Request, last_words: Callable[[], tuple[str, ...]]
) -> tuple[Dialect, Initialized]:
    """`initialize`. Raises `FailureError`: it is silent, refuses, or speaks no version that we do."""
    name = definition.name
    try:
        with anyio.fail_after(settings.initialize_seconds):
            answer = await _answer(definition, settings.v2, request)
    except TimeoutError as error:
        raise FailureError(failures.silent(name, settings.initialize_seconds, last_words())) from error
    except RpcError as error:
        raise FailureError(failures.not_initialized(name, error, NEWEST)) from error
    try:
        dialect = choose_dialect(answer, settings.v2)
        info = dialect.initialized(answer)
    except VersionError as error:
        raise FailureError(failures.wrong_version(name, error.version, NEWEST)) from error
    except msgspec.DecodeError as error:
        raise FailureError(failures.malformed_answer(name, "initialize", error)) from error
    log.info("%s: %s %s, ACP version %d", name, info.name, info.version, dialect.version)
    return dialect, info


async def _answer(definition: AgentDefinition, v2: bool, request: Request) -> msgspec.Raw:
    """The answer to `initialize`. Who refuses version 2, rather than to answer with version 1, is asked again.

    Whatever the error: agents of version 1 choke on the newer one in many ways.
    """
    try:
        return await request("initialize", initialize_params(v2, definition.offers_terminal))
    except RpcError as error:
        if not v2 or error.code == AUTH_REQUIRED:
            raise
        log.info("%s: refused version 2 (%r), is asked for version 1", definition.name, error)
        return await request("initialize", initialize_params(v2=False, terminal=definition.offers_terminal))
