"""All agents by name: the user's, and the bundled demo agent."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from acp_nvim.agents.definition import AgentDefinition, AgentSettings
from acp_nvim.errors import Failure, FailureError

DEMO = "demo"
_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])


def demo_agent() -> AgentDefinition:
    """The bundled agent: no model, no key, no network."""
    command = [sys.executable, "-P", "-m", "acp_nvim.demo_agent"]
    return AgentDefinition(name=DEMO, command=command, env={"PYTHONPATH": _PACKAGE_ROOT})


class Catalogue:
    """Finds an agent by name."""

    def __init__(self, configured: Mapping[str, Any] | None = None, default: str | None = None) -> None:
        self._agents: dict[str, Any] = dict(configured or {})
        self._default = default

    def __repr__(self) -> str:
        return f"<Catalogue {self.names()} default={self.default_name()!r}>"

    def names(self) -> list[str]:
        """Every agent that can be asked for."""
        return [*sorted(self._agents), *([] if DEMO in self._agents else [DEMO])]

    def default_name(self) -> str:
        """The agent for those who name none: the configured default, else the first, else the demo agent."""
        return self._default or min(self._agents, default=DEMO)

    def find(self, name: str | None) -> AgentDefinition:
        """The agent called `name`, or the default one. Raises `FailureError` in words that list the known ones."""
        wanted = name or self.default_name()
        if wanted in self._agents:
            return _define(wanted, self._agents[wanted])
        if wanted == DEMO:
            return demo_agent()
        raise FailureError(self._unknown(wanted))

    def _unknown(self, name: str) -> Failure:
        close = get_close_matches(name, self.names(), n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        return Failure(
            "agent_unknown",
            f"There is no agent called {name!r}.{hint} Known agents: {', '.join(self.names())}.",
            "Add it to `agents` in your configuration (:help acp_nvim-agents).",
            name,
        )


def _define(name: str, settings: Any) -> AgentDefinition:
    try:
        wanted = msgspec.convert(settings, AgentSettings)
    except msgspec.ValidationError as error:
        raise FailureError(_bad_settings(name, str(error))) from error
    if not wanted.command:
        raise FailureError(_bad_settings(name, "`command` is empty"))
    return AgentDefinition(name=name, command=wanted.command, env=wanted.env, mcp_servers=wanted.mcp_servers)


def _bad_settings(name: str, reason: str) -> Failure:
    return Failure(
        "agent_misconfigured",
        f"The configuration of agent {name!r} cannot be used: {reason}.",
        'It should look like agents = { ["' + name + '"] = { command = { "program", "argument" } } }.',
        name,
    )
