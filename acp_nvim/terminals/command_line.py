"""Decides what to run for an agent's command: a program, or a shell with a line; and its environment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence

import msgspec

from acp_nvim.lazy import pattern

ENVIRONMENT = {
    "TERM": "xterm-256color",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
}
"""Overrides the user's variables: a pager or an editor would wait for keys that cannot be pressed."""

_NOT_INHERITED = ("COLUMNS", "LINES")
"""They describe another terminal."""

SHELLS = frozenset(
    f"{folder}{name}" for folder in ("", "/bin/", "/usr/bin/") for name in ("sh", "bash", "dash", "zsh", "ksh")
)
"""Shells that read a line in much the same way. A program of such a name elsewhere may be anything."""

_POSIX = frozenset({"sh", "ash", "bash", "dash", "ksh", "mksh", "oksh", "osh", "posh", "rbash", "rksh", "yash", "zsh"})
"""Shells of users that read the lines that agents write; others (fish, nushell, csh) have languages of their own."""

_NAME = pattern(r"([a-z]+)(?:[-.\d].*)?")
"""The name of a shell, perhaps with a version."""

_LONG_OPTIONS = frozenset({"--login", "--noprofile", "--norc"})

_ORDINARY = pattern(r"[\w ./@+:,-]*")
"""Text that means the same in any quotes."""


class Command(msgspec.Struct, frozen=True):
    """A program with its arguments; `env` is its whole environment, `cwd` its working directory."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]


def command_to_run(
    command: str, args: Sequence[str], cwd: str, env: Mapping[str, str], shell: str | None = None
) -> Command:
    """Return what to run for an agent's `command` and `args`; `env` is added to our environment.

    Without `args`, agents send lines of shell. So a command that as a whole names no program is run as a line by
    `shell`. Without it: by the user's shell if it is one of `_POSIX`, else by bash, else by sh.
    """
    surroundings = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    surroundings |= {**ENVIRONMENT, **env}
    if args or _is_program(command, cwd, surroundings.get("PATH")):
        return Command([command, *args], cwd, surroundings)
    return Command([shell or _posix_shell(), "-c", command], cwd, surroundings)


def shell_line(command: str, args: Sequence[str]) -> str | None:
    """Return the line that a shell would run, if the command is only that; None for any other program.

    The options before the line may only say whether the shell reads its start-up files. Anything else is another
    program: `-i`, `-x`, `-s`, arguments behind the line, and options behind `-c`, which not all shells read alike.
    """
    if not args:
        return command
    if command not in SHELLS or len(args) < 2:
        return None
    *options, runs, line = args
    while options and options[0] in _LONG_OPTIONS and command.endswith("bash"):
        del options[0]  # bash reads them only before the short ones
    is_line = runs in ("-c", "-lc", "-cl") and not line.startswith(("-", "+"))  # that would be one more option
    return line if is_line and all(one == "-l" for one in options) else None


def without_cd(line: str, cwd: str) -> str:
    """Return the line without a change to `cwd`, its working directory anyway, with which some agents begin each line.

    The name of `cwd` comes from the agent and may contain shell syntax: it must match quoted.
    """
    ways = [shlex.quote(cwd)]
    if _ORDINARY.fullmatch(cwd):
        ways += [f"'{cwd}'", f'"{cwd}"']
    for quoted in ways:
        line = line.removeprefix(f"cd {quoted} && ")
    return line


def in_words(command: str, args: Sequence[str]) -> str:
    """Return the command as a user would type it."""
    line = shell_line(command, args)
    return shlex.join([command, *args]) if line is None else line


def _is_program(command: str, cwd: str, path: str | None) -> bool:
    if os.sep in command:
        command = os.path.join(cwd, command)
    import shutil  # here: the host starts without it

    return shutil.which(command, path=path) is not None


def _posix_shell() -> str:
    import shutil  # here: the host starts without it

    shell = os.environ.get("SHELL", "")
    name = _NAME.fullmatch(os.path.basename(shell))
    if name is None or name[1] not in _POSIX or not (os.path.isabs(shell) and os.access(shell, os.X_OK)):
        shell = shutil.which("bash") or ""
    return shell if os.path.isabs(shell) else "/bin/sh"
