"""The agents that come as data files, read one at a time and only when they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from acp_nvim.agents.definition import BuiltinAgent

_FILES = Path(__file__).with_name("builtin")


@cache
def builtin_names() -> tuple[str, ...]:
    """Return the names of the agents that the plugin knows, sorted."""
    return tuple(sorted(file.stem for file in _FILES.glob("*.toml")))


@cache
def builtin_agent(name: str) -> BuiltinAgent | None:
    """What the data file says, if there is one."""
    if name not in builtin_names():
        return None
    import tomllib  # which takes 4 ms, and few start an agent that needs it

    return msgspec.convert(tomllib.loads((_FILES / f"{name}.toml").read_text(encoding="utf-8")), BuiltinAgent)


@cache
def quirks_of(agent_name: str) -> frozenset[str]:
    """The deviations of the program that calls itself so in `initialize`, whatever the user calls it."""
    return frozenset(quirk for agent in _called(agent_name) for quirk in agent.quirks)


@cache
def state_of(agent_name: str) -> tuple[str, ...]:
    """The files of a project in which that program keeps its own records, see `AgentDefinition`."""
    return tuple(glob for agent in _called(agent_name) for glob in agent.state)


def _called(agent_name: str) -> Iterator[BuiltinAgent]:
    for name in builtin_names():
        text = (_FILES / f"{name}.toml").read_text(encoding="utf-8")
        agent = builtin_agent(name) if f'"{agent_name}"' in text else None  # most need not be parsed
        if agent is not None and agent_name in agent.agent_names:
            yield agent
