"""Sorts the members of a tool call's input: what names a command, how it is run, and what else it says.

A member that `member_names` does not know makes a command *not completely known*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.permissions.member_names import (
    ABOUT_REPEATED,
    ARGUMENTS,
    CHOICES,
    COMMANDS,
    DIRECTORIES,
    ENVIRONMENTS,
    NOTES,
    OTHER_COMMANDS,
    REPEATED,
    REPEATING,
    is_empty,
    is_harmless,
    is_id,
    is_way,
    more_rights,
    plain_name,
)

VALUES: Final = 5000
"""Values of an input that are looked at, which takes 10 ms: a thousand edits at once have four each."""
HIDDEN: Final = 50
"""Texts of unknown meaning that are noted, to be read as command lines."""
DEPTH: Final = 20
"""Depth of nested values that are looked at."""

SHOWN_MEMBERS: Final = 20
"""Unknown members that a request shows."""
SHOWN_CHARS: Final = 300
"""Characters of a member that a request shows: three lines of the chat."""

_NAME = pattern(r"\w[\w.-]*", re.ASCII)

Member = tuple[str, Any]
"""A name, and a value."""

TOO_MUCH: Final[Member] = ("more members", "than acp_nvim looks at")
"""Stands for what was not looked at."""


class InputMembers(msgspec.Struct):
    """The members of an input; `commands`, `arguments`, `directories` and `environments` are values as the agent sent.

    `repeated` are the lines (text) and words (lists) that the command has to contain, each with its member. `unknown`
    are the members whose meaning is not known, `more_rights` those that take protection away. `hidden` are lines and
    words that may be commands. `notes` are texts for readers.
    """

    commands: list[Any] = []
    arguments: list[Any] = []
    directories: list[Any] = []
    environments: list[Any] = []
    repeated: list[tuple[Member, Any]] = []
    unknown: list[Member] = []
    more_rights: list[Member] = []
    hidden: list[Any] = []
    notes: list[str] = []


def has_command(raw: Any) -> bool:
    """Whether an input has a member of `COMMANDS`: a line or words, in any spelling of its name."""
    return isinstance(raw, dict) and any(plain_name(name) in COMMANDS for name in raw)


def without_command(raw: Any) -> Any:
    """Return an input without the members that name a command, and how it is run."""
    named = COMMANDS | ARGUMENTS | DIRECTORIES | ENVIRONMENTS
    return {one: value for one, value in raw.items() if plain_name(one) not in named} if isinstance(raw, dict) else raw


def of_command(raw: Any, earlier: Iterable[Member] = ()) -> InputMembers:
    """Sort the members of the input of a call that runs a command.

    `earlier` are members that former inputs of the call had, and that the latest one lacks or has with another value.
    """
    found = InputMembers()
    reader = _Reader(found)
    if isinstance(raw, dict):
        for name, value in raw.items():
            if not reader.has_room(0):
                break
            reader.member(str(name), value)
    elif not is_empty(raw):
        reader.unknown("input", raw)
    for name, value in earlier:
        reader.member(name, value)
    return found


def of_other(raw: Any, earlier: Iterable[Member] = ()) -> InputMembers:
    """Find in the input of a call that is about something else: `hidden` commands, and what gives it more rights."""
    found = InputMembers()
    reader = _Reader(found)
    reader.look_for_commands([raw, *({name: value} for name, value in earlier)])
    return found


class _Reader:
    def __init__(self, found: InputMembers) -> None:
        self._found = found
        self._values = VALUES
        self._is_full = False

    def member(self, name: str, value: Any) -> None:
        """Sort one member of the input itself."""
        plain, found = plain_name(name), self._found
        if value is None or self._about_rights(name, plain, value) or is_empty(value):
            return
        if plain in COMMANDS:
            found.commands.append(value)
        elif plain in ARGUMENTS:
            found.arguments.append(value)
        elif plain in DIRECTORIES:
            found.directories.append(value)
        elif plain in ENVIRONMENTS:
            found.environments.append(value)
        elif plain in NOTES and isinstance(value, str):
            found.notes.append(value)
        elif plain in REPEATING and self._repeats(name, value):
            self._look_for_rights(name, value)
        elif plain in CHOICES and self._choices(value, 0):
            pass
        elif not is_harmless(plain, value):
            self.unknown(name, value)

    def unknown(self, name: str, value: Any) -> None:
        """Note a member whose meaning is not known, and every text in it that may be a command."""
        self._found.unknown.append((name, value))
        self._look_for_rights(name, value)
        self._hide(value, 0)

    def look_for_commands(self, value: Any, name: str = "", depth: int = 0) -> None:
        """Note the commands that are named anywhere in `value`, and what gives it more rights."""
        for one, plain, inner in self._inside(name, value, depth):
            if self._about_rights(one, plain, inner) or is_empty(inner):
                continue
            if plain in OTHER_COMMANDS and not is_way(inner):
                self.unknown(one, inner)
            else:
                self.look_for_commands(inner, one, depth + 1)

    def _look_for_rights(self, name: str, value: Any, depth: int = 0) -> None:
        for one, plain, inner in self._inside(name, value, depth):
            if not self._about_rights(one, plain, inner):
                self._look_for_rights(one, inner, depth + 1)

    def _inside(self, name: str, value: Any, depth: int) -> Iterator[tuple[str, str, Any]]:
        """Yield the values in an object or a list, each with its name and plain name; those of a list have no name."""
        if not self.has_room(depth) or not isinstance(value, dict | list):
            return
        pairs = value.items() if isinstance(value, dict) else ((None, one) for one in value)
        for one, inner in pairs:
            if self._is_full:
                return
            if inner is not None:
                yield (name, "", inner) if one is None else (str(one), plain_name(one), inner)

    def _hide(self, value: Any, depth: int) -> None:
        """Note the texts in a value, and its lists of texts: each may be a command."""
        if self._is_full or len(self._found.hidden) >= HIDDEN:
            return
        if isinstance(value, str):
            self._found.hidden.append(value)
        elif isinstance(value, dict | list) and self.has_room(depth):
            inside = list(value.values()) if isinstance(value, dict) else value
            words = [one for one in inside if isinstance(one, str)]
            if isinstance(value, list) and 1 < len(words) == len(value):
                self._found.hidden.append(words)
            for inner in inside:
                self._hide(inner, depth + 1)

    def has_room(self, depth: int) -> bool:
        """Count a value that is looked at; return False, and note that, if there are too many or it is too deep."""
        self._values -= 1
        if self._values >= 0 and depth <= DEPTH:
            return True
        if not self._is_full:
            self._is_full = True
            self._found.unknown.append(TOO_MUCH)
        return False

    def _about_rights(self, name: str, plain: str, value: Any) -> bool:
        """Whether a member says with which rights it runs; note it if these are more than usual."""
        gives_more = more_rights(plain, value)
        if gives_more:
            self._found.more_rights.append((name, value))
        return gives_more is not None

    def _repeats(self, name: str, value: Any) -> bool:
        """Note what has to be a part of the command; return False if the value has another shape."""
        if not isinstance(value, list) or len(value) > VALUES:
            return False
        if all(isinstance(one, str) for one in value):
            self._found.repeated.append(((name, value), value))
            return True
        for one in value:
            if not isinstance(one, dict) or {plain_name(key) for key in one} - REPEATED - ABOUT_REPEATED:
                return False
            if not all(inner is None or isinstance(inner, str) for inner in one.values()):
                return False
            lines = [inner for key, inner in one.items() if plain_name(key) in REPEATED and inner]
            self._found.repeated += [((name, value), line) for line in lines]
        return True

    def _choices(self, value: Any, depth: int) -> bool:
        if depth > DEPTH:
            return False
        if isinstance(value, list):
            return len(value) <= VALUES and all(self._choices(one, depth + 1) for one in value)
        if isinstance(value, dict):
            pairs = [(str(name), plain_name(name), inner) for name, inner in value.items()]
            return all(
                (plain in CHOICES and self._choices(inner, depth + 1))
                or (plain in REPEATING and (inner is None or self._repeats(name, inner)))
                for name, plain, inner in pairs
            )
        return is_id(value)


def shown(member: Member) -> str:
    """Return a member as it is shown: in one line, the middle of a long one replaced by its size."""
    name, value = member
    return f"{_short(shown_name(name), SHOWN_CHARS // 3)}: {_short(in_json(value), SHOWN_CHARS)}"


def is_shown_whole(member: Member) -> bool:
    """Whether `shown` leaves nothing of a member out."""
    name, value = member
    return len(shown_name(name)) <= SHOWN_CHARS // 3 and len(in_json(value)) <= SHOWN_CHARS


def shown_name(name: str) -> str:
    """Return the name of a member as it is shown: one of unusual characters is quoted."""
    return name if _NAME.fullmatch(name) else in_json(name)


def _short(text: str, most: int) -> str:
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} … {len(text):,} characters in all … {text[-half:]}"


def in_json(value: Any) -> str:
    """Return a value as JSON of one line."""
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeError, RecursionError, TypeError):  # a lone surrogate, for example
        return repr(value)
