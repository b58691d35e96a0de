"""Finds agents by name: the user's, those with a data file, and the bundled demo agent."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from acp_nvim import decoders
from acp_nvim.agents.address import Address, parse_address
from acp_nvim.agents.definition import QUIRKS, AgentDefinition, AgentInfo, AgentSettings, BuiltinAgent
from acp_nvim.errors import Failure, FailureError, configured

DEMO = "demo"
_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
_FILES = Path(__file__).with_name("builtin")


@cache
def builtin_names() -> tuple[str, ...]:
    """Return the names of the agents with a data file, sorted."""
    return tuple(sorted(file.stem for file in _FILES.glob("*.toml")))


@cache
def builtin_agent(name: str) -> BuiltinAgent | None:
    """Return the content of an agent's data file, if there is one."""
    if name not in builtin_names():
        return None
    import tomllib  # imported here: it takes 4 ms, and is rarely needed

    return decoders.convert(tomllib.loads((_FILES / f"{name}.toml").read_text(encoding="utf-8")), BuiltinAgent)


@cache
def quirks_of(agent_name: str) -> frozenset[str]:
    """Return the deviations of the program with this name in `initialize`, whatever the user calls it."""
    return frozenset(quirk for agent in _called(agent_name) for quirk in agent.quirks)


@cache
def state_of(agent_name: str) -> tuple[str, ...]:
    """Return the state files of the program with this name in `initialize`, see `AgentInfo`."""
    return tuple(glob for agent in _called(agent_name) for glob in agent.state)


def _called(agent_name: str) -> Iterator[BuiltinAgent]:
    for name in builtin_names():
        text = (_FILES / f"{name}.toml").read_text(encoding="utf-8")
        agent = builtin_agent(name) if f'"{agent_name}"' in text else None  # most need not be parsed
        if agent is not None and agent_name in agent.agent_names:
            yield agent


def hint_without_name(definition: AgentDefinition) -> str:
    """Return what to configure for an agent that does not report its name, so that its deviations are known.

    "" if nothing: those of an agent with a data file's name are known by it, and of most programs there are none.
    """
    program = os.path.basename(definition.command[0])
    for name in builtin_names():
        text = (_FILES / f"{name}.toml").read_text(encoding="utf-8")
        agent = builtin_agent(name) if f'"{program}"' in text else None
        if agent is not None and any(command[0] == program for command in agent.commands):
            is_known = agent.quirks <= definition.quirks
            hint = f"{definition.name!r} does not say which program it is. If it is {agent.title}, call it {name!r}"
            return "" if is_known else f"{hint} in your configuration: then acp_nvim knows its peculiarities."
    return ""


def demo_agent() -> BuiltinAgent:
    """Return the bundled agent, which needs no model, no key and no network."""
    command = [sys.executable, "-P", "-m", "acp_nvim.demo_agent"]
    return BuiltinAgent(title="Demo agent", commands=[command], env={"PYTHONPATH": _PACKAGE_ROOT})


class Catalogue:
    """Finds agents by name; each member of the user's settings overrides that of the data file."""

    def __init__(self, configured: Mapping[str, Any] | None = None, default: str | None = None) -> None:
        self._agents: dict[str, Any] = dict(configured or {})
        self._default = default

    def __repr__(self) -> str:
        return f"<Catalogue {self.names()} default={self.default_name()!r}>"

    def names(self) -> list[str]:
        """Return the names of the user's agents, and of the demo agent."""
        return [*sorted(self._agents), *([] if DEMO in self._agents else [DEMO])]

    def default_name(self) -> str:
        """Return the name of the configured default agent, else of the user's first, else of the demo agent."""
        return self._default or min(self._agents, default=DEMO)

    def find(self, name: str | None) -> AgentDefinition:
        """Return the agent called `name`, or the default one. Raises `FailureError`, which lists the known names."""
        wanted = name or self.default_name()
        bundled = demo_agent() if wanted == DEMO else builtin_agent(wanted)
        if bundled is None and wanted not in self._agents:
            raise FailureError(self._unknown(wanted))
        return _define(wanted, self._agents.get(wanted, {}), bundled)

    def _unknown(self, name: str) -> Failure:
        from difflib import get_close_matches  # here: the host starts without it

        close = get_close_matches(name, [*self.names(), *builtin_names()], n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        return Failure(
            "agent_unknown",
            f"There is no agent called {name!r}.{hint} Known agents: {', '.join(self.names())}.",
            "Add it to `agents` in your configuration; :help acp_nvim-agents lists those that need none.",
            name,
        )


def _define(name: str, settings: Any, builtin: BuiltinAgent | None) -> AgentDefinition:
    try:
        wanted = decoders.convert({} if settings == [] else settings, AgentSettings)  # Lua's empty table is a list
    except msgspec.ValidationError as error:
        raise FailureError(_bad_settings(name, configured(error, f"agents.{name}"))) from error
    strange = sorted((wanted.quirks or frozenset()) - QUIRKS.keys())
    if strange:
        raise FailureError(_bad_settings(name, f"there is no quirk {strange[0]!r} (known: {', '.join(QUIRKS)})"))
    given = {field: value for field, value in msgspec.structs.asdict(wanted).items() if value is not None}
    known: dict[str, Any] = {}
    if (reason := _bad_connection(wanted)) is not None:
        raise FailureError(_bad_settings(name, reason))
    if wanted.address is not None:
        given["address"] = _address(name, wanted)
        known = {field: getattr(builtin, field) for field in AgentInfo.__struct_fields__ if builtin and field != "env"}
    elif builtin is not None:
        known = {field: getattr(builtin, field) for field in AgentInfo.__struct_fields__}
        env = {**builtin.env, **(wanted.env or {})}
        known["command"] = chosen_command(builtin.commands, env, wanted.prefix)
        given["env"] = env
    members = {**known, **given}
    if builtin is not None and wanted.command is None and wanted.address is None:
        members["other_commands"] = _other_forms(builtin.commands, members["command"])
    if not members.get("command") and wanted.address is None:
        reason = "there is no `command`, and no `address`" if wanted.command is None else "`command` is empty"
        raise FailureError(_bad_settings(name, reason))
    starts = "prefix" if wanted.prefix else "command"
    members[starts] = _from_home(members.get(starts) or [])
    return AgentDefinition(name=name, **members)


def _from_home(command: list[str]) -> list[str]:
    """Return a command with the home directory for `~/` at its beginning; a program behind a prefix is elsewhere."""
    return [os.path.expanduser(word) if word.startswith("~/") else word for word in command[:1]] + command[1:]


def _bad_connection(wanted: AgentSettings) -> str | None:
    """Return what is wrong with the settings of where the agent runs, apart from the address itself."""
    if wanted.address is None:
        alone = [field for field in ("tls", "token_env") if getattr(wanted, field) is not None]
        return f"`{alone[0]}` is for an `address`, and there is none" if alone else None
    if wanted.command is not None:
        return "it has a `command` and an `address`, and needs one of them"
    beside = [field for field in ("prefix", "env") if getattr(wanted, field)]
    if beside:
        return f"`{beside[0]}` is for a `command`: the agent at an `address` was started by others"
    return None


def _address(name: str, wanted: AgentSettings) -> Address:
    """Return the checked address of an agent. Raises `FailureError`."""
    try:
        address = parse_address(wanted.address or "")
        if address.url and wanted.tls and not address.tls:
            raise ValueError("`tls` needs an address that begins with wss://")
        if wanted.token_env is not None and not address.url:
            raise ValueError("`token_env` is for wss://: plain TCP has no place for a token")
        if wanted.token_env is not None and not (address.tls or address.is_local):
            raise ValueError("`token_env` needs wss://: with ws:// others could read the token on the way")
    except ValueError as error:
        raise FailureError(_bad_settings(name, str(error), 'address = "localhost:3000"')) from error
    tls = address.tls or bool(wanted.tls)
    return msgspec.structs.replace(address, tls=tls)


def chosen_command(commands: list[list[str]], env: Mapping[str, str], prefix: list[str] | None) -> list[str]:
    """Return the first command whose program exists, or the first one; behind a prefix existence is unknown."""
    if prefix or len(commands) == 1:
        return commands[0]
    import shutil  # here: the host starts without it

    path = env.get("PATH", os.environ.get("PATH"))
    here = (command for command in commands if shutil.which(command[0], path=path))
    return next(here, commands[0])


def _other_forms(commands: list[list[str]], chosen: list[str]) -> list[list[str]]:
    """Return the other commands of the chosen one's program: what other versions of it know."""
    return [command for command in commands if command != chosen and command[0] == chosen[0]]


def _bad_settings(name: str, reason: str, example: str = 'command = { "program", "argument" }') -> Failure:
    return Failure(
        "agent_misconfigured",
        f"The configuration of agent {name!r} cannot be used: {reason}.",
        f'It should look like agents = {{ ["{name}"] = {{ {example} }} }}.',
        name,
    )
