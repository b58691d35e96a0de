"""Commands that a command is to run: `rm` in `sudo rm x`, as far as it can be seen."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

import msgspec

from acp_nvim.permissions.bash_tree import Word

COMMAND_STARTS: Final = 20
"""Words of a command at which another may begin that it runs: options have to be told from what they take."""

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"})

_BEFORE_IT = (
    "sudo doas env xargs time nohup command builtin exec nice ionice setsid stdbuf unbuffer strace ltrace noglob"
    " nocorrect - coproc not and or busybox toybox parallel entr caffeinate chronic proot fakeroot pkexec run0"
    " systemd-run winpty valgrind rlwrap script watch unshare nsenter"
)
_BEHIND_ANOTHER = "timeout chroot taskset flock repeat chrt ssh"
PREFIXES: Final = {**dict.fromkeys(_BEFORE_IT.split(), 0), **dict.fromkeys(_BEHIND_ANOTHER.split(), 1)}
"""Programs whose arguments are a command, and how many others come before it."""

_EXECUTING: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
"""Options of `find` and `fd` that run a command."""

_FINDERS: Final = frozenset({"find", "fd", "fdfind", "bfs"})

_ADDING: Final = frozenset({"xargs", "parallel", "entr"})
"""These give the command more arguments."""

_TAKING_LINES: Final = frozenset({"env", "flock", "parallel", "script", "ssh", "watch"})
"""These have a shell, or split a line, themselves."""

_SHELL_COMMAND = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*")


class Wrapped(msgspec.Struct, frozen=True):
    """What a command runs: other commands by their words, and lines of shell (None: one that cannot be seen)."""

    commands: tuple[tuple[Word, ...], ...] = ()
    lines: tuple[Word, ...] = ()


def wrapped(words: Sequence[Word]) -> Wrapped:
    """What a command runs, rather too much than too little: only `sudo` knows that its `-u` takes an argument."""
    program = os.path.basename(words[0]) if words and words[0] else None
    if program is None:
        return Wrapped()
    more = words[1:]
    if program in SHELLS or program == "su":
        return Wrapped(lines=_of_shell(more))
    if program == "eval":
        return Wrapped((tuple(more),), (_joined(more),))
    if program == "trap":
        return Wrapped(lines=tuple(more[:1]))
    if program in _FINDERS:
        starts = [at + 1 for at, word in enumerate(words) if word in _EXECUTING]
        return Wrapped(tuple(_up_to_semicolon(words[at:]) for at in starts))
    if program in PREFIXES:
        commands = _after_options(more, PREFIXES[program])
        if program in _ADDING:
            commands = tuple((*one, None) for one in commands)
        return Wrapped(commands, _lines(more) if program in _TAKING_LINES else ())
    return Wrapped()


def _of_shell(words: Sequence[Word]) -> tuple[Word, ...]:
    """The line behind `-c`; without one, and without the file of a script, what comes on its input."""
    for at, word in enumerate(words):
        if word is not None and _SHELL_COMMAND.fullmatch(word):
            line = [one for one in words[at + 1 :] if one is None or not one.startswith(("-", "+"))]
            return tuple(line[:1]) or (None,)
    scripts = [word for word in words if word is None or not word.startswith("-")]
    return () if scripts and scripts[0] is not None and "-s" not in words else (None,)


def _lines(words: Sequence[Word]) -> tuple[Word, ...]:
    """Arguments that look like a line of shell."""
    return tuple(word for word in words if word is not None and re.search(r"\s", word))


def _joined(words: Sequence[Word]) -> Word:
    known = [word for word in words if word is not None]
    return " ".join(known) if len(known) == len(words) else None


def _after_options(words: Sequence[Word], others: int) -> tuple[tuple[Word, ...], ...]:
    """Where the command may begin: behind options, variables and `others`; behind what may belong to an option."""
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
