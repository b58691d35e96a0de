"""Starts an agent whose older versions know another form of its command, such as another name of the option for ACP."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable

import msgspec

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.errors import FailureError
from acp_nvim.lazy import pattern
from acp_nvim.process.child import Child, ChildProcesses
from acp_nvim.tasks import Tasks

log = logging.getLogger(__name__)

_USAGE = pattern(
    r"(?mi)^(?:not a JSON-RPC message \(.*\): )?\W*usage\b|"  # on stderr; on stdout it is logged as odd
    r"\b(?:unknown|unrecogni[sz]ed|unexpected|invalid|illegal|no such|too many|extra) "
    r"(?:extra |command.line )?(?:arguments?|options?|flags?|switch|(?:sub)?commands?|parameters?)\b|"
    r"\bflag provided but not defined\b"
)


def with_command(definition: AgentDefinition, command: list[str]) -> AgentDefinition:
    """Return the definition with one of its commands chosen; the others remain as `other_commands`."""
    others = [one for one in (definition.command, *definition.other_commands) if one != command]
    return msgspec.structs.replace(definition, command=command, other_commands=others)


async def start_known_form(
    definition: AgentDefinition,
    new: Callable[[AgentDefinition], AgentPeer],
    tasks: Tasks,
    processes: ChildProcesses,
    started: Child | None = None,
) -> AgentPeer:
    """Start the agent with the first of its commands that it knows; each is tried once.

    The next one is tried if the process ends with a usage message before it has answered `initialize`. `new` makes an
    `AgentPeer`; its `remark` then says what was done. `started` is a process that runs already with the first command.
    Raises the `FailureError` of the command that fails without a usage message, else that of the first one.
    """
    first: FailureError | None = None
    for command in (definition.command, *definition.other_commands):
        peer = new(with_command(definition, command))
        try:
            await peer.start(tasks, processes, started if first is None else None)
        except FailureError as error:
            if error.failure.code != "agent_exited" or not _USAGE.search(peer.said_so_far):
                raise
            first = first or error
            log.info("%s: does not know its command %s", definition.name, command)
        else:
            if first is not None:
                peer.remark = "\n".join(filter(None, (_remark(definition, command), peer.remark)))
            return peer
    assert first is not None
    raise first


def _remark(definition: AgentDefinition, command: list[str]) -> str:
    before, now = shlex.join(definition.command), shlex.join(command)
    newer = f" To install a newer version, type: {definition.install}" if definition.install else ""
    return f"This version of {definition.name!r} does not know `{before}`: it was started as `{now}`.{newer}"
