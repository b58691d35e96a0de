"""Globs for the words of a command, and for paths."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.permissions.bash_tree import Word

BETWEEN = "\0"
"""Separates two words; no word can contain it."""


class _Any(msgspec.Struct, frozen=True):
    """Matches any text, also of several words; in a path any number of directories."""


class _Set(msgspec.Struct, frozen=True):
    """Matches one character of a word that is one of `members` (`a-z`), or none of them."""

    members: str
    negated: bool = False

    def takes(self, one: str) -> bool:
        return one != BETWEEN and (_in_set(one, self.members) != self.negated)


class _Part(msgspec.Struct, frozen=True):
    """Matches one part of a path, between two slashes."""

    steps: tuple[Any, ...]

    def takes(self, one: str) -> bool:
        return _accepts(self.steps, one)


Step = str | _Any | _Set | _Part
ANY = _Any()

Match = Literal["yes", "no", "maybe"]

_GLOB_PIECE = pattern(r"(?P<blank>\s+)|(?P<quoted>'[^']*'|\"[^\"]*\")|(?P<escaped>\\.)|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)
_PART_PIECE = pattern(r"(?P<escaped>\\.)|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)


@lru_cache(maxsize=512)
def _command_steps(glob: str) -> tuple[Step, ...]:
    """Compile a glob for commands, step by step as each character is to be matched.

    It is written as the command is typed: blanks separate words, quotes and `\\` make characters literal. A `*` after a
    blank at the end also matches no further word.
    """
    steps: list[Step] = []
    for piece in _GLOB_PIECE.finditer(glob.strip()):
        text = piece.group()
        match piece.lastgroup:
            case "blank":
                steps.append(BETWEEN)
            case "quoted":
                steps.extend(text[1:-1])
            case "escaped":
                steps.append(text[1])
            case _:
                steps.append(_wildcard(text))
    return tuple(steps)


def _wildcard(text: str) -> Step:
    if text == "*":
        return ANY
    if text == "?":
        return _Set("", negated=True)
    if len(text) > 1:
        negated = text[1] in "!^"
        return _Set(text[1 + negated : -1], negated)
    return text


def _in_set(one: str, members: str) -> bool:
    at = 0
    while at < len(members):
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            if members[at] <= one <= members[at + 2]:
                return True
            at += 3
        elif members[at] == one:
            return True
        else:
            at += 1
    return False


def match_command(glob: str, words: Sequence[Word]) -> Match:
    """Return whether a glob matches a command; `maybe` if that depends on words that only the shell can expand."""
    steps = _command_steps(glob)
    known = [word for word in words[: words.index(None) if None in words else len(words)] if word is not None]
    text = BETWEEN.join(known)
    matches = _accepts(steps, text) or (steps[-2:] == (BETWEEN, ANY) and _accepts(steps[:-2], text))
    if len(known) == len(words):
        return "yes" if matches else "no"
    left = _after(steps, text + BETWEEN if known else "")
    if steps and steps[-1] == ANY and len(steps) - 1 in left:
        return "yes"  # whatever the unknown words are
    return "maybe" if left or matches else "no"


def match_path(glob: str, path: str, roots: Sequence[str]) -> bool:
    """Whether a glob matches a real path: below a root, below the home directory (`~/`), or anywhere (`/`)."""
    if glob.startswith("~"):
        home = os.path.realpath(os.path.expanduser("~"))
        return glob[1:2] in ("", os.sep) and _is_below(home, glob[2:], path)
    if os.path.isabs(glob):
        return _is_below(os.sep, glob, path)
    return any(_is_below(root, glob, path) for root in roots)


def _is_below(top: str, glob: str, path: str) -> bool:
    above, wanted = _parts(top), _parts(glob)
    while ".." in wanted:
        at = wanted.index("..")
        if at == 0:
            del above[-1:]
        del wanted[max(0, at - 1) : at + 1]
    parts = _parts(path)
    return parts[: len(above)] == above and _accepts(_path_steps(tuple(wanted)), parts[len(above) :])


def _parts(path: str) -> list[str]:
    return [part for part in path.split(os.sep) if part not in ("", ".")]


@lru_cache(maxsize=512)
def _path_steps(parts: tuple[str, ...]) -> tuple[Step, ...]:
    """Compile the parts of a glob for paths; `**` is any number of directories, at the end everything below."""
    return tuple(ANY if part == "**" else _Part(_part_steps(part)) for part in parts)


def _part_steps(part: str) -> tuple[Step, ...]:
    pieces = _PART_PIECE.finditer(part)
    return tuple(one.group()[1] if one.lastgroup == "escaped" else _wildcard(one.group()) for one in pieces)


def _accepts(steps: Sequence[Step], text: Sequence[str]) -> bool:
    return len(steps) in _after(steps, text)


def _after(steps: Sequence[Step], text: Sequence[str]) -> set[int]:
    """Return the positions in `steps` that are reachable after `text`: none if it cannot begin so.

    It takes time proportional to the product of both lengths.
    """
    at = _through_any(steps, {0})
    for one in text:
        at = _through_any(steps, {there for step in at if (there := _next(steps, step, one)) is not None})
        if not at:
            break
    return at


def _next(steps: Sequence[Step], step: int, one: str) -> int | None:
    """Return the position after matching `one` at `step`, or None if it does not match."""
    wanted = steps[step] if step < len(steps) else None
    match wanted:
        case _Any():
            return step
        case _Set() | _Part() if wanted.takes(one):
            return step + 1
    return step + 1 if wanted == one else None


def _through_any(steps: Sequence[Step], at: set[int]) -> set[int]:
    """Add the positions behind each `ANY` that is reached, as it also matches nothing."""
    found = set(at)
    for step in at:
        while step < len(steps) and steps[step] == ANY:
            step += 1
            found.add(step)
    return found
