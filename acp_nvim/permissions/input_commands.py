"""Finds the command in the input of a tool call, under the names that agents use."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from acp_nvim.limits import COMMAND_SHOWN_CHARS
from acp_nvim.permissions.input_members import InputMembers, has_command, of_command
from acp_nvim.terminals.command_line import shell_line


def command_chars(line: str, env: Sequence[str]) -> int:
    """Return the number of characters that a command and its variables (`NAME=value`) take on the screen."""
    return len(line) + sum(map(len, env))


class NamedCommand(msgspec.Struct, frozen=True):
    """A command as an agent names it: a shell line, or the words of a program; `cwd` as the agent writes it.

    `env` are the variables of the command, as `NAME=value`.
    """

    command: str | tuple[str, ...]
    cwd: str | None = None
    env: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The command as a user would type it."""
        return self.command if isinstance(self.command, str) else shlex.join(self.command)

    @property
    def is_shown(self) -> bool:
        """Whether the user can see the whole command."""
        return command_chars(self.line, self.env) <= COMMAND_SHOWN_CHARS


def named_command(raw_input: Any) -> NamedCommand | None:
    """Return the command in the input of a tool call.

    None if there is none, or it is ambiguous: two commands, or arguments that are not strings.
    """
    if not has_command(raw_input):
        return None
    members = of_command(raw_input)
    commands, cwds, args = members.commands, members.directories, members.arguments or [[]]
    if not commands or any(any(one != many[0] for one in many) for many in (commands, cwds, args) if many):
        return None
    command, args, cwd = commands[0], args[0], cwds[0] if cwds else None
    if not isinstance(args, list) or not isinstance(cwd, str | None):
        return None
    env = tuple(one for value in members.environments for one in _named_env(value))
    if isinstance(command, str) and not args:
        return NamedCommand(command, cwd, env)
    words = [*(command if isinstance(command, list) else [command]), *args]
    if not all(isinstance(word, str) for word in words):
        return None
    line = line_of(words)
    return NamedCommand(tuple(words) if line is None else line, cwd, env)


def _named_env(env: Any) -> tuple[str, ...]:
    """Return the variables in the input of a tool call: a mapping, a list as for terminals, or any other shape."""
    if isinstance(env, Mapping):
        return tuple(f"{name}={value}" for name, value in env.items())
    pairs = [one for one in env if isinstance(one, Mapping)] if isinstance(env, list) else []
    if env and (not pairs or len(pairs) < len(env)):
        return (str(env),)
    return tuple(f"{one.get('name')}={one.get('value')}" for one in pairs)


def all_commands(members: InputMembers) -> list[Any]:
    """Return all commands that an input names, each with the arguments: lines, words, or what is neither."""
    found: list[Any] = list(members.commands)
    for args in members.arguments:
        more = args if isinstance(args, list) else [None]  # a string may be any number of words
        found = [[*(one if isinstance(one, list) else [one]), *more] for one in found]
    return found


def line_of(words: list[str]) -> str | None:
    """Return the line for a shell that these words run; None if they run another program."""
    return shell_line(words[0], words[1:]) if len(words) > 1 else None
