"""What is run for a command of an agent: the program, or the user's shell for a line of shell; and its surroundings."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence

import msgspec

ENVIRONMENT = {
    "TERM": "xterm-256color",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
}
"""Over the user's: nobody can press a key in a pager or an editor."""

_NOT_INHERITED = ("COLUMNS", "LINES")
"""They are about another terminal."""

SHELLS = frozenset(
    f"{folder}{name}" for folder in ("", "/bin/", "/usr/bin/") for name in ("sh", "bash", "dash", "zsh", "ksh")
)
"""Shells that read a line in much the same way. A program of such a name elsewhere may be anything."""

_ORDINARY = re.compile(r"[\w ./@+:,-]*")
"""Means the same in any quotes."""


class Command(msgspec.Struct, frozen=True):
    """A program with its arguments; `env` is all of its environment, and `cwd` where it is started."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]


def command_to_run(command: str, args: Sequence[str], cwd: str, env: Mapping[str, str]) -> Command:
    """What an agent means by `command` and `args`; `env` is added to ours.

    Without `args` agents send lines of shell. So what names no program, word by word with all its blanks, is a line for
    the user's shell.
    """
    surroundings = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    surroundings |= {**ENVIRONMENT, **env}
    if args or _is_program(command, cwd, surroundings.get("PATH")):
        return Command([command, *args], cwd, surroundings)
    return Command([_shell(), "-c", command], cwd, surroundings)


def shell_line(command: str, args: Sequence[str]) -> str | None:
    """The line that a shell is to run, where that is all it is; None for any other program."""
    if not args:
        return command
    is_shell = command in SHELLS and len(args) == 2
    return args[1] if is_shell and args[0] in ("-c", "-lc", "-cl") else None


def without_cd(line: str, cwd: str) -> str:
    """The line without a change to `cwd`, the directory in which it runs anyway: some agents begin each line so.

    An agent may say that it is in a directory whose name a shell would run: that one has to be quoted well.
    """
    ways = [shlex.quote(cwd)]
    if _ORDINARY.fullmatch(cwd):
        ways += [f"'{cwd}'", f'"{cwd}"']
    for quoted in ways:
        line = line.removeprefix(f"cd {quoted} && ")
    return line


def in_words(command: str, args: Sequence[str]) -> str:
    """The command as a user would type it."""
    line = shell_line(command, args)
    return shlex.join([command, *args]) if line is None else line


def _is_program(command: str, cwd: str, path: str | None) -> bool:
    if os.sep in command:
        command = os.path.join(cwd, command)
    return shutil.which(command, path=path) is not None


def _shell() -> str:
    shell = os.environ.get("SHELL", "")
    return shell if os.path.isabs(shell) and os.access(shell, os.X_OK) else "/bin/sh"
