"""Starts the process of the first agent before the rest of the host is loaded: the two take their time side by side.

Only what is imported here delays it. All else about the agent, and what is wrong with it, is left to `Peers`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import msgspec

from acp_nvim.agents.catalogue import Catalogue
from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.process.child import Child, ChildProcesses
from acp_nvim.process.end_times import ends_directory

log = logging.getLogger(__name__)


class FirstAgent(msgspec.Struct, frozen=True):
    """A process that was started, and that nobody has spoken to; `cwd` is the directory of its session."""

    definition: AgentDefinition
    cwd: str
    child: Child

    def serves(self, definition: AgentDefinition, cwd: str) -> bool:
        """Return whether it was started for that agent, with the same settings, in that directory."""
        return (self.definition, self.cwd) == (definition, cwd)


async def start_first(early: Sequence[tuple[str, Any]], processes: ChildProcesses) -> FirstAgent | None:
    """Start the agent that the first messages of Lua name; None without one, or when it cannot be started.

    `early` are the methods and parameters as they came, which nobody has checked.
    """
    try:
        hello = dict(early)["hello"]  # the latest settings count
        opened = dict(reversed(early))["open"]  # the first session is opened first
        config, cwd = hello["config"], opened["cwd"]
        agents = config["agents"] if isinstance(config.get("agents"), dict) else {}  # Lua's empty table is a list
        definition = Catalogue(agents, config.get("default_agent")).find(opened.get("agent"))
        if definition.is_remote or definition.paths:
            return None
        processes.guard.ends = ends_directory(hello["state_path"])
        child = await processes.start(definition.name, definition.command, cwd, definition.env)
    except Exception as error:
        log.debug("no agent is started early: %r", error)  # the session says what is wrong, in words
        return None
    return FirstAgent(definition, cwd, child)
