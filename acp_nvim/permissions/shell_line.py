"""Reads a command line: its simple commands, the commands these run, and whether the line has anything else.

Two parsers have to agree before a line counts as plain. tree-sitter's grammar of bash knows the whole language but is
lenient (it splits a word that continues after a backslash on the next line). `plain_line` knows little and is strict.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from acp_nvim.permissions import bash_tree
from acp_nvim.permissions.bash_tree import Word
from acp_nvim.permissions.plain_line import plain_commands, strange
from acp_nvim.permissions.wrapped import wrapped

COMMAND_CHARS: Final = 4 * 1024
"""Characters of a line that rules judge: parsing takes 5 ms, at worst 0.3 s. The user is asked about longer lines."""
COMMANDS_IN_LINE: Final = 200
"""Simple commands in a line, including those that others run."""
COMMAND_DEPTH: Final = 5
"""How deep commands run each other: sudo env sh -c 'xargs rm' is three."""
WORDS_IN_LINE: Final = 5000
"""Words of all commands in a line, which may share some (`find -exec a -exec b`): judging so many takes 50 ms."""

log = logging.getLogger(__name__)


class Command(msgspec.Struct, frozen=True):
    """A simple command; only the shell can expand a word that is None.

    An `inner` command is run by another one (`rm` in `sudo rm x`).
    """

    words: tuple[Word, ...]
    inner: bool = False


class ShellLine(msgspec.Struct, frozen=True):
    """The commands of a line. `features` names what else it contains; a plain line has none."""

    commands: tuple[Command, ...]
    features: frozenset[str] = frozenset()

    @property
    def plain(self) -> bool:
        """Whether the line only runs its commands, with exactly these words."""
        return not self.features


UNKNOWN = Command((None,))


def read_line(line: str) -> ShellLine:
    """Read a shell line. It never raises: a line that cannot be read has `features`."""
    return _read(line, 0)


def read_words(words: Sequence[str]) -> ShellLine:
    """Read a program and its arguments, which are run without a shell."""
    return ShellLine(_with_inner([Command(tuple(words))], 0))


@lru_cache(maxsize=64)
def _read(line: str, depth: int) -> ShellLine:
    if len(line) > COMMAND_CHARS or strange(line):
        return ShellLine((UNKNOWN,), frozenset({"not to be read"}))
    try:
        tree = bash_tree.parse(line)
    except ImportError as error:
        log.warning("command lines cannot be read: %s", error)
        return ShellLine((UNKNOWN,), frozenset({"no parser"}))
    plain = plain_commands(line)
    commands = [Command(words) for words in tree.commands]
    features = set(tree.features)
    if tree.broken:
        features.add("not understood")
    elif plain is None:
        features.add("not plain")
    elif tuple(plain) != tree.commands:
        features.add("not clear")
        commands += [Command(words) for words in plain]
    if tree.broken or "not clear" in features or (features and "\\\n" in line):
        commands.append(UNKNOWN)
    return ShellLine(_with_inner(commands or [UNKNOWN], depth, tree.lines), frozenset(features))


def _with_inner(commands: Iterable[Command], depth: int, lines: Sequence[str] = ()) -> tuple[Command, ...]:
    """Return the commands, and those that they run in turn; `lines` are inside as well."""
    found: list[Command] = []
    count = 0
    waiting = [(command, depth) for command in commands]
    if lines and depth > COMMAND_DEPTH:
        return (*commands, UNKNOWN)
    found += [Command(one.words, inner=True) for line in lines for one in _read(line, depth + 1).commands]
    while waiting:
        command, level = waiting.pop(0)
        found.append(command)
        count += len(command.words)
        if len(found) > COMMANDS_IN_LINE or level > COMMAND_DEPTH or count > WORDS_IN_LINE:
            return (*found, UNKNOWN)
        inside = wrapped(command.words)
        waiting += [(Command(words, inner=True), level + 1) for words in inside.commands]
        for line in inside.lines:
            known = (UNKNOWN,) if line is None else _read(line, level + 1).commands
            found += [Command(one.words, inner=True) for one in known]
            count += sum(len(one.words) for one in known)
    return tuple(found)
