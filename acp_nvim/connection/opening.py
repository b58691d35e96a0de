"""Opens the way to an agent: starts its process, or connects to the address where others have started it."""

from __future__ import annotations

import logging
import os
import sys
from typing import NamedTuple

from acp_nvim.acp.remote_paths import PathMap, unmapped
from acp_nvim.agents.address import Address
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.connection.startup import PeerSettings, launch
from acp_nvim.errors import FailureError
from acp_nvim.failures import failures
from acp_nvim.limits import TOKEN_CHARS
from acp_nvim.process.child import ChildProcesses
from acp_nvim.process.guarding import Guard
from acp_nvim.transports.interface import Transport

log = logging.getLogger(__name__)


class Opened(NamedTuple):
    """An open transport; `first` are the bytes to send before the protocol begins."""

    transport: Transport
    first: bytes = b""


async def open_transport(
    definition: AgentDefinition, cwd: str, paths: PathMap, settings: PeerSettings, processes: ChildProcesses
) -> Opened:
    """Start the agent in `cwd`, or connect to its address. Raises `FailureError`."""
    if definition.address is not None:
        return Opened(await _connect(definition, definition.address, cwd, paths, settings, processes.guard))
    try:
        run = launch(definition, cwd, paths)
        child = await processes.start(definition.name, run.argv, cwd, run.env)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the command or its environment
        raise FailureError(failures.cannot_start(definition, cwd, error)) from error
    log.info("%s: started %s", definition.name, run.argv)
    return Opened(child, run.first)


async def _connect(
    definition: AgentDefinition, address: Address, cwd: str, paths: PathMap, settings: PeerSettings, guard: Guard
) -> Transport:
    if paths and paths.to_there(cwd) is None:
        raise FailureError(unmapped(definition.name, cwd))
    from acp_nvim.transports.reaching import UnreachableError  # most agents are processes, which need none of this
    from acp_nvim.transports.tcp import connect_tcp

    try:
        if address.url:
            return await _connect_websocket(definition, address, settings, guard)
        return await connect_tcp(address, definition.tls, guard, settings.initialize_seconds)
    except UnreachableError as error:
        raise FailureError(failures.cannot_reach(definition, error.cause, str(error))) from error


async def _connect_websocket(
    definition: AgentDefinition, address: Address, settings: PeerSettings, guard: Guard
) -> Transport:
    from acp_nvim.transports.reaching import UnreachableError

    if not settings.draft_transports:
        raise UnreachableError("draft", f"{address} is for WebSocket, which is a draft of the protocol")
    try:
        from acp_nvim.transports.websocket import connect_websocket
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("websockets"):
            raise
        words = f"the host's Python has no package `websockets` ({sys.executable})"
        raise UnreachableError("no_package", words) from error
    token = _token(definition)
    return await connect_websocket(address, definition.tls, token, guard, settings.initialize_seconds)


def _token(definition: AgentDefinition) -> str | None:
    """Return the value of `token_env`, which is masked from then on."""
    from acp_nvim.traffic.masking import LEARNED  # 15 ms, rarely needed
    from acp_nvim.transports.reaching import UnreachableError

    name = definition.token_env
    if name is None:
        return None
    token = os.environ.get(name, "").strip()
    if not token or not (token.isascii() and token.isprintable()):
        reason = "is not set" if not token else "contains characters that no token has"
        raise UnreachableError("no_token", f"the environment variable {name} {reason}")
    LEARNED.learn([token], TOKEN_CHARS)
    return token
