"""The command line of an agent's process; behind a prefix it brings its directory and its environment along."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence

import msgspec

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.errors import FailureError
from acp_nvim.protocol.path_map import PathMap, unmapped

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Launch(msgspec.Struct, frozen=True):
    """What is started here: `env` on top of ours; `first` goes to its standard input before anything else."""

    argv: list[str]
    env: Mapping[str, str]
    first: bytes = b""


def path_map(definition: AgentDefinition) -> PathMap:
    """What is where."""
    return PathMap(definition.name, [(pair.here, pair.there) for pair in definition.paths])


def launch(definition: AgentDefinition, cwd: str, paths: PathMap) -> Launch:
    """How to start it. Raises `FailureError`: nobody knows where `cwd` is there; `ValueError`: no name of a variable.

    Behind a prefix the environment comes by standard input: ssh and containers pass none on, and what stands in a
    command line can be read by everybody on the machine.
    """
    if not definition.prefix:
        return Launch(definition.command, definition.env)
    first = _exports(definition.env)
    setup = [f'eval "$(dd bs=1 count={len(first)} 2>/dev/null)"'] if first else []
    return Launch(_behind(definition, cwd, paths, setup, definition.command), {}, first)


def in_terminal(
    definition: AgentDefinition, cwd: str, paths: PathMap, command: Sequence[str], env: Mapping[str, str]
) -> Launch:
    """Another program with `env`, to sign in where the agent runs; somebody types into it.

    Behind a prefix secrets of the configured environment are left out: they would stand in the command line.
    """
    if not definition.prefix:
        return Launch(list(command), {**definition.env, **env})
    from acp_nvim.traffic.secret_names import is_secret_variable  # few sign in so

    known = {name: value for name, value in definition.env.items() if not is_secret_variable(name)}
    words = [f"{name}={value}" for name, value in {**known, **env}.items()]
    return Launch(_behind(definition, cwd, paths, [], ["env", *words, *command] if words else command), {})


def _behind(
    definition: AgentDefinition, cwd: str, paths: PathMap, setup: Sequence[str], command: Sequence[str]
) -> list[str]:
    """The command behind the prefix, in the directory that is `cwd` there, if `paths` say where things are."""
    words = list(command)
    directory = paths.to_there(cwd) if paths else None
    if paths and directory is None:
        raise FailureError(unmapped(definition.name, cwd))
    steps = [*setup, *(['cd "$0"'] if directory else []), 'exec "$@"']
    if len(steps) > 1:
        words = ["sh", "-c", " && ".join(steps), directory or "sh", *words]
    is_ssh = any(os.path.basename(word) == "ssh" for word in definition.prefix)
    return [*definition.prefix, *([shlex.join(words)] if is_ssh else words)]  # ssh hands one line to a shell


def _exports(env: Mapping[str, str]) -> bytes:
    for name in env:
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} cannot be the name of a variable behind a prefix")
    lines = (f"export {name}={shlex.quote(value)}\n" for name, value in env.items())
    return "".join(lines).encode("utf-8", "surrogateescape")
