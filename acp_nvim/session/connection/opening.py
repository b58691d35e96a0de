"""Opens the way to an agent: starts its process, or connects to the address where others have started it."""

from __future__ import annotations

import logging
from typing import NamedTuple

from acp_nvim.acp.remote_paths import PathMap, unmapped
from acp_nvim.agents.address import Address
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import FailureError
from acp_nvim.process.child import Child
from acp_nvim.process.guarding import Guard
from acp_nvim.session import failures
from acp_nvim.session.connection.startup import PeerSettings, launch
from acp_nvim.transports.interface import Transport

log = logging.getLogger(__name__)


class Opened(NamedTuple):
    """An open transport; `first` are the bytes to send before the protocol begins."""

    transport: Transport
    first: bytes = b""


async def open_transport(
    definition: AgentDefinition, cwd: str, paths: PathMap, settings: PeerSettings, guard: Guard
) -> Opened:
    """Start the agent in `cwd`, or connect to its address. Raises `FailureError`."""
    if definition.address is not None:
        return Opened(await _connect(definition, definition.address, cwd, paths, settings, guard))
    try:
        run = launch(definition, cwd, paths)
        child = await Child.spawn(definition.name, run.argv, cwd, run.env, guard)
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
        link = await connect_tcp(address, definition.tls, guard, settings.initialize_seconds)
    except UnreachableError as error:
        raise FailureError(failures.cannot_reach(definition, error.cause, str(error))) from error
    return link
