"""Starting an agent: the command line of its process, and the `initialize` handshake."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.acp.answers import Initialized
from acp_nvim.acp.dialect import Dialect
from acp_nvim.acp.negotiation import NEWEST, VersionError, choose_dialect, initialize_params
from acp_nvim.acp.remote_paths import PathMap, elsewhere, unmapped
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import FailureError
from acp_nvim.failures import failures
from acp_nvim.jsonrpc.connection import Tap
from acp_nvim.jsonrpc.messages import AUTH_REQUIRED, RpcError
from acp_nvim.lazy import pattern
from acp_nvim.limits import IDLE_SECONDS
from acp_nvim.traffic.masking import masked
from acp_nvim.workspace import guarded_names

log = logging.getLogger(__name__)

PREPARE_SECONDS: Final = 0.05
"""Time from the handshake until the decoder of updates is built, which takes 7 ms; a fast agent is then ready."""
QUESTION_SECONDS: Final = 0.4
"""Time from then until what a question needs is built, 20 ms: a replay is over, and no model has asked by then."""

_VARIABLE = pattern(r"[A-Za-z_][A-Za-z0-9_]*")


class Launch(msgspec.Struct, frozen=True):
    """A process to start: `env` is added to our environment, `first` is written to its standard input first."""

    argv: list[str]
    env: Mapping[str, str]
    first: bytes = b""


def path_map(definition: AgentDefinition) -> PathMap:
    """Return the path mapping between this machine and the agent's, from its definition (`paths`)."""
    return PathMap(definition.name, [(pair.here, pair.there) for pair in definition.paths])


def launch(definition: AgentDefinition, cwd: str, paths: PathMap) -> Launch:
    """Return how to start the agent in `cwd`.

    Behind a prefix the environment comes by standard input: ssh and containers pass none on, and everybody on the
    machine can read a command line. Raises `FailureError` if `cwd` is not mapped, `ValueError` for an invalid name of
    a variable.
    """
    if not definition.prefix:
        return Launch(definition.command, definition.env)
    first = _exports(definition.env)
    setup = [f'eval "$(dd bs=1 count={len(first)} 2>/dev/null)"'] if first else []
    return Launch(_behind(definition, cwd, paths, setup, definition.command), {}, first)


def in_terminal(
    definition: AgentDefinition, cwd: str, paths: PathMap, command: Sequence[str], env: Mapping[str, str]
) -> Launch:
    """Return how to run an interactive sign-in program with `env` where the agent runs.

    Behind a prefix, secrets of the configured environment are left out, as the command line would show them.
    """
    if not definition.prefix:
        return Launch(list(command), {**definition.env, **env})
    from acp_nvim.traffic.masking import public_variables  # rarely needed

    words = [f"{name}={value}" for name, value in {**public_variables(definition.env), **env}.items()]
    return Launch(_behind(definition, cwd, paths, [], ["env", *words, *command] if words else command), {})


def _behind(
    definition: AgentDefinition, cwd: str, paths: PathMap, setup: Sequence[str], command: Sequence[str]
) -> list[str]:
    """Return the command behind the prefix, run in the directory that `cwd` is mapped to, if paths are mapped."""
    words = list(command)
    directory = paths.to_there(cwd) if paths else None
    if paths and directory is None:
        raise FailureError(unmapped(definition.name, cwd))
    steps = [*setup, *(['cd "$0"'] if directory else []), 'exec "$@"']
    if len(steps) > 1:
        words = ["sh", "-c", " && ".join(steps), directory or "sh", *words]
    is_ssh = any(os.path.basename(word) == "ssh" for word in definition.prefix)
    return [*definition.prefix, *([shlex.join(words)] if is_ssh else words)]  # ssh passes one line to a shell


def _exports(env: Mapping[str, str]) -> bytes:
    for name in env:
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} cannot be the name of a variable behind a prefix")
    lines = (f"export {name}={shlex.quote(value)}\n" for name, value in env.items())
    return "".join(lines).encode("utf-8", "surrogateescape")


Request = Callable[[str, Any], Awaitable[msgspec.Raw]]


class PeerSettings(msgspec.Struct, frozen=True):
    """Settings for all agents; `traffic` is the directory for recordings, None for no recordings.

    `draft_transports`: WebSocket may be used. A process is stopped after `idle_seconds` without a turn, never if 0; an
    agent's definition may override it.
    """

    initialize_seconds: float
    v2: bool = False
    draft_transports: bool = False
    traffic: Path | None = None
    idle_seconds: float = IDLE_SECONDS


class Recording(Tap, Protocol):
    """A tap that writes all messages to a file."""

    def close(self) -> None:
        """End the recording; later messages are not in it."""


def recording(definition: AgentDefinition, cwd: str, settings: PeerSettings) -> Recording | None:
    """Begin a recording of the messages with an agent in `cwd`; None if the settings want none."""
    if settings.traffic is None:
        return None
    from acp_nvim.traffic.log import TrafficLog  # 15 ms, rarely needed

    command = definition.command if definition.address is None else [definition.address.text]
    return TrafficLog.open(settings.traffic, definition.name, command, cwd, definition.env)


async def initialize(
    definition: AgentDefinition,
    paths: PathMap,
    settings: PeerSettings,
    request: Request,
    last_words: Callable[[], tuple[str, ...]],
) -> tuple[Dialect, Initialized]:
    """Perform the handshake. Raises `FailureError` if the agent is silent, refuses, or speaks no known version."""
    name = definition.name
    try:
        with anyio.fail_after(settings.initialize_seconds):
            answer = await _answer(definition, settings.v2, request)
    except TimeoutError as error:
        raise FailureError(failures.silent(definition, settings.initialize_seconds, last_words())) from error
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
    is_here = definition.offers_terminal and not paths
    return dialect if is_here else elsewhere(dialect, paths, definition.offers_terminal), info


async def prepare() -> None:
    """Build what the first update needs: by then a fast agent has opened the session, a slow one still works at it.

    Then what the first question and the first command need: the user would wait for it, and so would the agent.
    """
    await anyio.sleep(PREPARE_SECONDS)
    DialectV1.prepare()
    await anyio.sleep(QUESTION_SECONDS)
    DialectV1.prepare_question()
    await anyio.to_thread.run_sync(_compile)


def _compile() -> None:
    guarded_names.prepare()
    masked("a command line")


async def _answer(definition: AgentDefinition, v2: bool, request: Request) -> msgspec.Raw:
    """Send `initialize`; after any error to version 2 send it again for version 1.

    Agents of version 1 should answer with theirs, but fail on the newer one in many ways.
    """
    try:
        return await request("initialize", initialize_params(v2, definition.offers_terminal))
    except RpcError as error:
        if not v2 or error.code == AUTH_REQUIRED:
            raise
        log.info("%s: refused version 2 (%r), trying version 1", definition.name, error)
        return await request("initialize", initialize_params(v2=False, terminal=definition.offers_terminal))
