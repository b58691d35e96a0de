"""All agents by name: the user's, those that come as data files, and the bundled demo agent."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from acp_nvim.agents.builtin_agents import builtin_agent, builtin_names
from acp_nvim.agents.definition import QUIRKS, AgentDefinition, AgentSettings, BuiltinAgent
from acp_nvim.errors import Failure, FailureError

DEMO = "demo"
_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])


def demo_agent() -> BuiltinAgent:
    """The bundled agent: no model, no key, no network."""
    command = [sys.executable, "-P", "-m", "acp_nvim.demo_agent"]
    return BuiltinAgent(title="Demo agent", commands=[command], env={"PYTHONPATH": _PACKAGE_ROOT})


class Catalogue:
    """Finds agents by name: what the user configured goes, field by field, before what the data files say."""

    def __init__(self, configured: Mapping[str, Any] | None = None, default: str | None = None) -> None:
        self._agents: dict[str, Any] = dict(configured or {})
        self._default = default

    def __repr__(self) -> str:
        return f"<Catalogue {self.names()} default={self.default_name()!r}>"

    def names(self) -> list[str]:
        """The user's agents, and the demo agent."""
        return [*sorted(self._agents), *([] if DEMO in self._agents else [DEMO])]

    def default_name(self) -> str:
        """The agent for those who name none: the configured default, else the first, else the demo agent."""
        return self._default or min(self._agents, default=DEMO)

    def find(self, name: str | None) -> AgentDefinition:
        """The agent called `name`, or the default one. Raises `FailureError` in words that list the known ones."""
        wanted = name or self.default_name()
        bundled = demo_agent() if wanted == DEMO else builtin_agent(wanted)
        if bundled is None and wanted not in self._agents:
            raise FailureError(self._unknown(wanted))
        return _define(wanted, self._agents.get(wanted, {}), bundled)

    def _unknown(self, name: str) -> Failure:
        close = get_close_matches(name, [*self.names(), *builtin_names()], n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        return Failure(
            "agent_unknown",
            f"There is no agent called {name!r}.{hint} Known agents: {', '.join(self.names())}.",
            "Add it to `agents` in your configuration; :help acp_nvim-agents lists those that need none.",
            name,
        )


def _define(name: str, settings: Any, builtin: BuiltinAgent | None) -> AgentDefinition:
    """Field by field: what the user says, else what the data file says."""
    try:
        wanted = msgspec.convert({} if settings == [] else settings, AgentSettings)  # Lua's empty table is a list
    except msgspec.ValidationError as error:
        raise FailureError(_bad_settings(name, str(error))) from error
    strange = sorted((wanted.quirks or frozenset()) - QUIRKS.keys())
    if strange:
        raise FailureError(_bad_settings(name, f"there is no quirk {strange[0]!r} (known: {', '.join(QUIRKS)})"))
    known: dict[str, Any] = {} if builtin is None else _facts(builtin)
    said = {field: value for field, value in msgspec.structs.asdict(wanted).items() if value is not None}
    if builtin is not None and wanted.command is None:
        said["command"] = chosen_command(builtin.commands, {**builtin.env, **(wanted.env or {})}, wanted.prefix)
    if not said.get("command"):
        reason = "there is no `command`" if wanted.command is None else "`command` is empty"
        raise FailureError(_bad_settings(name, reason))
    if builtin is not None and wanted.env:
        said["env"] = {**builtin.env, **wanted.env}
    return AgentDefinition(name=name, **{**known, **said})


def _facts(builtin: BuiltinAgent) -> dict[str, Any]:
    """What the data file says of it, apart from how it is started."""
    fields = ("title", "url", "install", "sign_in", "env", "env_needed", "quirks", "state")
    return {field: getattr(builtin, field) for field in fields}


def chosen_command(commands: list[list[str]], env: Mapping[str, str], prefix: list[str] | None) -> list[str]:
    """The first whose program is here, else the first; what is elsewhere, behind a prefix, cannot be looked for."""
    path = env.get("PATH", os.environ.get("PATH"))
    here = [] if prefix else [command for command in commands if shutil.which(command[0], path=path)]
    return [*here, *commands][0]


def _bad_settings(name: str, reason: str) -> Failure:
    return Failure(
        "agent_misconfigured",
        f"The configuration of agent {name!r} cannot be used: {reason}.",
        'It should look like agents = { ["' + name + '"] = { command = { "program", "argument" } } }.',
        name,
    )
