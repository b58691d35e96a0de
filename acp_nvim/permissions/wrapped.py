"""Finds the commands that a command runs, such as `rm` in `sudo rm x`, as far as its words show them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.permissions.bash_tree import Word

COMMAND_STARTS: Final = 20
"""Words at which an inner command may begin, as options cannot be told from their arguments."""

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"})

_BEFORE_IT = (
    "sudo doas env xargs time nohup command builtin exec nice ionice setsid stdbuf unbuffer strace ltrace noglob"
    " nocorrect - coproc not and or busybox toybox parallel entr caffeinate chronic proot fakeroot pkexec run0"
    " systemd-run winpty valgrind rlwrap script watch unshare nsenter"
)
_BEHIND_ANOTHER = "timeout chroot taskset flock repeat chrt ssh"
PREFIXES: Final = {**dict.fromkeys(_BEFORE_IT.split(), 0), **dict.fromkeys(_BEHIND_ANOTHER.split(), 1)}
"""Programs whose arguments are a command, and the number of other arguments before it."""

_EXECUTING: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
"""Options of `find` and `fd` that run a command."""

_FINDERS: Final = frozenset({"find", "fd", "fdfind", "bfs"})

_ADDING: Final = frozenset({"xargs", "parallel", "entr"})
"""Programs that append arguments to the command."""

_TAKING_LINES: Final = frozenset({"env", "flock", "parallel", "script", "ssh", "watch"})
"""Programs that run a shell, or split a line themselves."""

_SHELL_COMMAND = pattern(r"-[a-zA-Z]*c[a-zA-Z]*")


class Wrapped(msgspec.Struct, frozen=True):
    """What a command runs: other commands by their words, and shell lines (None: an unknown line)."""

    commands: tuple[tuple[Word, ...], ...] = ()
    lines: tuple[Word, ...] = ()


def wrapped(words: Sequence[Word]) -> Wrapped:
    """Return what a command may run. It may be too much: only `sudo` knows that its `-u` takes an argument."""
    program = os.path.basename(words[0]) if words and words[0] else None
    if program is None:
        return Wrapped()
    more = words[1:]
    if program in SHELLS or program == "su":
        return Wrapped(lines=_of_shell(more))
    if program == "eval":
        known = [word for word in more if word is not None]
        return Wrapped((tuple(more),), (" ".join(known) if len(known) == len(more) else None,))
    if program == "trap":
        return Wrapped(lines=tuple(more[:1]))
    if program in _FINDERS:
        starts = [at + 1 for at, word in enumerate(words) if word in _EXECUTING]
        return Wrapped(tuple(_up_to_semicolon(words[at:]) for at in starts))
    if program in PREFIXES:
        commands = _after_options(more, PREFIXES[program])
        if program in _ADDING:
            commands = tuple((*one, None) for one in commands)
        lines = (word for word in more if word is not None and re.search(r"\s", word))
        return Wrapped(commands, tuple(lines) if program in _TAKING_LINES else ())
    return Wrapped()


def _of_shell(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return the line after `-c`. Without it and without a script file, the shell reads unknown lines from stdin."""
    for at, word in enumerate(words):
        if word is not None and _SHELL_COMMAND.fullmatch(word):
            line = [one for one in words[at + 1 :] if one is None or not one.startswith(("-", "+"))]
            return tuple(line[:1]) or (None,)
    scripts = [word for word in words if word is None or not word.startswith("-")]
    return () if scripts and scripts[0] is not None and "-s" not in words else (None,)


def _after_options(words: Sequence[Word], others: int) -> tuple[tuple[Word, ...], ...]:
    """Return the possible commands after options, variables and `others` arguments.

    A word after an option may be its argument, or the beginning of the command.
    """
    found: list[tuple[Word, ...]] = []
    behind_option = False
    for at, word in enumerate(words):
        if word is None or len(found) == COMMAND_STARTS:
            found.append((None,))
            break
        if word.startswith("-") and word != "-":
            behind_option = word != "--"
        elif "=" in word.split("/")[0]:
            behind_option = False
        else:
            found.append(tuple(words[at:]))
            if not behind_option:
                if others == 0:
                    break
                others -= 1
            behind_option = False
    return tuple(found)


def _up_to_semicolon(words: Sequence[Word]) -> tuple[Word, ...]:
    ends = [at for at, word in enumerate(words) if word in (";", "+")]
    return tuple(words[: ends[0]] if ends else words)
