"""Finds the commands that a command runs, such as `rm` in `sudo rm x`, as far as its words show them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.permissions.bash_tree import Word
from acp_nvim.permissions.read_again import BASH_READS, NAMING

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

_BUILTINS: Final = frozenset(
    {"eval", "trap", "source", ".", "jobs", "hash", "mapfile", "readarray", "complete", "compgen", "alias", *NAMING}
)

_STREAMS: Final = ("/dev/", "/proc/")

_SHELL_COMMAND = pattern(r"-[a-zA-Z]*c[a-zA-Z]*")
_SPLIT = pattern(r"-[a-zA-Z0]*S|--split-string=?")
_LINE_OPTION = pattern(r"-c(?=.)|--(?:session-)?command=")
_REPLACE = pattern(r"-I|-i|--replace=?")
_BEGINS = pattern(r"`|\$")


class Wrapped(msgspec.Struct, frozen=True):
    """What a command runs: other commands by their words, and shell lines (None: an unknown line)."""

    commands: tuple[tuple[Word, ...], ...] = ()
    lines: tuple[Word, ...] = ()


def wrapped(words: Sequence[Word]) -> Wrapped:
    """Return what a command may run. It may be too much: only `sudo` knows that its `-u` takes an argument."""
    program = os.path.basename(words[0]) if words and words[0] else None
    if program is None:
        return Wrapped()
    if "{}" in program:  # `find -exec {}`
        return Wrapped(((None,),))
    more = tuple(words[1:])
    if program in SHELLS or program == "su":
        return _of_shell(more)
    if program in _BUILTINS:
        return _of_builtin(program, more[1:] if more[:1] == ("--",) else more)
    if program in _FINDERS:
        starts = [at + 1 for at, word in enumerate(words) if word in _EXECUTING]
        return Wrapped(tuple(_filled(_up_to_semicolon(words[at:])) for at in starts))
    if program in PREFIXES:
        commands = _after_options(more, PREFIXES[program])
        if program in _ADDING:
            places = _places(more)
            commands = tuple((*(_open(word, places) for word in one), None) for one in commands or ((),))
        known = [word for word in more if word is not None]
        lines: list[Word] = [None] if any(word.partition("=")[0] in BASH_READS for word in known) else []
        if program in _TAKING_LINES:
            lines += [word for word in known if program == "parallel" or re.search(r"\s", word)]
            lines += _attached(known)
        if program == "env":
            lines += _split_by_env(more)
        return Wrapped(commands, tuple(dict.fromkeys(lines)))
    return Wrapped()


def _of_shell(words: Sequence[Word]) -> Wrapped:
    """Return the line after `-c`, else the script. Without a script, the shell reads unknown lines from stdin."""
    for at, word in enumerate(words):
        if word is not None and _SHELL_COMMAND.fullmatch(word):
            line = [one for one in words[at + 1 :] if one is None or not one.startswith(("-", "+"))]
            return Wrapped(lines=tuple(line[:1]) or (None,))
    if attached := _attached(word for word in words if word is not None):
        return Wrapped(lines=tuple(attached))
    scripts = [word for word in words if word is None or not word.startswith("-")]
    if not scripts or scripts[0] is None or "-s" in words:
        return Wrapped(lines=(None,))
    return _of_script(*_after_options(words, 0))


def _attached(words: Iterable[str]) -> list[str]:
    """Return the lines that are in one word with their option: `su -cx`, `script --command=x`."""
    found = [(word, _LINE_OPTION.match(word)) for word in words]
    return [word[option.end() :] for word, option in found if option is not None]


def _of_script(*scripts: tuple[Word, ...]) -> Wrapped:
    """Return scripts with their arguments, which are commands if they are in PATH; those in /dev may have any lines."""
    is_stream = any(words[0] is not None and words[0].startswith(_STREAMS) for words in scripts)
    return Wrapped(scripts, (None,) if is_stream else ())


def _of_builtin(name: str, words: tuple[Word, ...]) -> Wrapped:
    """Return what a builtin of bash runs: lines, commands, or substitutions in words that it reads once more."""
    match name:
        case "eval":
            known = [word for word in words if word is not None]
            return Wrapped((words,), (" ".join(known) if len(known) == len(words) else None,))
        case "trap":
            return Wrapped(lines=words[:1])
        case "source" | "." if words and words[0] is not None:
            return _of_script(words)
        case "jobs":
            return Wrapped(tuple(words[at + 1 :] for at, word in enumerate(words) if word == "-x"))
        case "hash":
            return Wrapped(tuple((word,) for word in words if word is None or "/" in word))
        case "mapfile" | "readarray" | "complete" | "compgen":
            lines = tuple(_argument(words, "C"))
            is_expanded = name == "compgen" and any(word is None or _BEGINS.search(word) for word in words)
            return Wrapped(lines=(*lines, None) if is_expanded or _has_index(name, words) else lines)
        case "alias" if any(word is None or "=" in word for word in words):
            return Wrapped(lines=(None,))
        case _ if _has_index(name, words):
            return Wrapped(lines=(None,))
    return Wrapped()


def _has_index(name: str, words: Sequence[Word]) -> bool:
    """Whether bash may expand the index of a variable that a word names, or run what a variable says."""
    if name == "printf" and not any(word is None or word.startswith("-v") for word in words[:1]):
        return False
    known = [word for word in words if word is not None]
    is_set = name in ("declare", "typeset", "local", "export", "readonly", "read", "printf")
    names = {re.split(r"\W", word.removeprefix("-v"), maxsplit=1)[0] for word in known} if is_set else set()
    return bool(names & BASH_READS) or any("[" in word and _BEGINS.search(word) for word in known)


def _argument(words: Sequence[Word], option: str) -> Iterator[Word]:
    """Yield what may be the argument of a short option, which may be one of several in a word."""
    for at, word in enumerate(words):
        if word is None:
            yield None
        elif word.startswith("-") and option in word:
            attached = word.partition(option)[2]
            yield from (attached,) if attached else words[at + 1 : at + 2]


def _split_by_env(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the lines that `env -S` splits, by rules of its own."""
    for at, word in enumerate(words):
        if word is None:
            continue
        found = _SPLIT.match(word)
        if found is not None:
            line = word[found.end() :] or "".join(one or "" for one in words[at + 1 : at + 2])
            yield None if "\\" in line else line


def _places(words: Sequence[Word]) -> frozenset[str]:
    """Return the texts that `xargs` and `parallel` replace by what they read."""
    found = {"{}"}
    for at, word in enumerate(words):
        option = _REPLACE.match(word) if word is not None else None
        if option is not None and word is not None:
            found.add(word[option.end() :] or "".join(one or "" for one in words[at + 1 : at + 2]))
    return frozenset(found - {""})


def _open(word: Word, places: Iterable[str]) -> Word:
    return None if word is not None and any(place in word for place in places) else word


def _filled(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return the words; if a shell may be among them, without values for those that the name of a file is put into."""
    shell = any(word is not None and os.path.basename(word) in SHELLS for word in words)
    return tuple(None if shell and word is not None and "{}" in word else word for word in words)


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
