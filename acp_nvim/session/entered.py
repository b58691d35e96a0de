"""The environment variables that the user entered for agents: in memory only, and masked wherever anything is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.protocol.answers import AuthMethod
from acp_nvim.traffic.learned import LEARNED


class Entered:
    """By the name of the agent; they end with the host."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, str]] = {}

    def __repr__(self) -> str:
        return f"<Entered { ({agent: sorted(values) for agent, values in self._values.items()}) }>"

    def added_to(self, definition: AgentDefinition) -> AgentDefinition:
        """The agent as it is to be started."""
        values = self._values.get(definition.name)
        return msgspec.structs.replace(definition, env={**definition.env, **values}) if values else definition

    def take(self, agent: str, method: AuthMethod, values: Mapping[str, str]) -> bool:
        """What the user entered for that method, empty ones left out; whether anything is different then."""
        open_ones = {one.name for one in method.variables if not one.secret}
        wanted = {one.name: values[one.name] for one in method.variables if values.get(one.name)}
        LEARNED.learn(value for name, value in wanted.items() if name not in open_ones)
        before = self._values.get(agent, {})
        self._values[agent] = before | wanted
        return self._values[agent] != before

    def forget(self, agent: str) -> bool:
        """The user signs out; whether there was anything."""
        return bool(self._values.pop(agent, None))


def is_set(definition: AgentDefinition, name: str) -> bool:
    """Whether an agent that is started so has that variable."""
    return bool(definition.env.get(name) or os.environ.get(name))
