"""Starts agents for :checkhealth, all at once, and reports their abilities, and whether they require a sign-in.

`main` reads a `Wanted` in MessagePack from standard input, and writes a line of JSON for each agent, a `Report`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any, Final

import anyio
import anyio.abc
import msgspec

from acp_nvim import decoders
from acp_nvim.agents.catalogue import Catalogue
from acp_nvim.connection.startup import PeerSettings
from acp_nvim.contract.settings import Config
from acp_nvim.errors import FailureError
from acp_nvim.failures import failures
from acp_nvim.host_log import configured_env
from acp_nvim.process.child import ChildProcesses
from acp_nvim.process.guarding import Guard
from acp_nvim.session.agent_report import Report, describe_address, note_failure, try_agent
from acp_nvim.traffic.masking import Masker, known_secrets

CHECKUP_INITIALIZE_SECONDS: Final = 20.0
"""Time for an agent to answer `initialize`: the slowest known one takes 3 s alone, but all start at once."""


class Wanted(msgspec.Struct):
    """The agents to check. Those that are remote are to work in `cwd`, the others in a temporary directory."""

    names: list[str]
    cwd: str
    config: Config


async def check(wanted: Wanted) -> None:
    """Check all agents, and print each report as soon as it is complete. No agent is left running."""
    agents = wanted.config.agents if isinstance(wanted.config.agents, dict) else {}  # Lua's empty table is a list
    catalogue = Catalogue(agents, wanted.config.default_agent)
    masker = Masker(known_secrets(configured_env(wanted.config), os.environ))
    processes = ChildProcesses(Guard())

    async def one(name: str) -> None:
        report = await _report(catalogue, name, wanted, processes)
        line = msgspec.json.encode(masker.value(msgspec.to_builtins(report)))
        print(line.decode(), flush=True)

    async with anyio.create_task_group() as group:
        for name in wanted.names:
            group.start_soon(one, name)


async def _report(catalogue: Catalogue, name: str, wanted: Wanted, processes: ChildProcesses) -> Report:
    report = Report(name=name)
    try:
        definition = catalogue.find(name)
        report.hint = definition.sign_in
        describe_address(report, definition.address)
        with tempfile.TemporaryDirectory(prefix="acp_nvim-checkup-", ignore_cleanup_errors=True) as directory:
            cwd = wanted.cwd if definition.is_remote else directory
            await try_agent(report, definition, cwd, _settings(wanted.config), processes)
    except FailureError as error:
        note_failure(report, error.failure)
    except Exception as error:  # must not affect the other agents
        note_failure(report, failures.bug(name, error))
    return report


def _settings(config: Config) -> PeerSettings:
    seconds = min(config.timeouts.initialize / 1000, CHECKUP_INITIALIZE_SECONDS)
    return PeerSettings(seconds, config.protocol.v2, config.protocol.draft_transports)


def main() -> None:
    """Read a `Wanted` in MessagePack from stdin, check its agents, and print the reports."""
    wanted: Any = decoders.convert(msgspec.msgpack.decode(sys.stdin.buffer.read()), Wanted)
    anyio.run(check, wanted)
