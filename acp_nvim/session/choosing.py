"""Finds what a user means among a session's switches: by id, category or name; values by id or name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from acp_nvim.limits.configuring import NAMED
from acp_nvim.session.switches import Switch

ON = frozenset({"on", "true", "yes", "1"})
OFF = frozenset({"off", "false", "no", "0"})


class NotThereError(Exception):
    """There is no such switch or value; in words for the user."""


def find_switch(switches: Sequence[Switch], what: str) -> Switch:
    """That of this id, else the first of this category, else the one of this name. Raises `NotThereError`."""
    word = what.casefold()
    for fits in (
        lambda one: one.switch_id == what,
        lambda one: one.category == what,
        lambda one: one.name.casefold() == word,
        lambda one: one.switch_id.casefold() == word,
    ):
        found = next(filter(fits, switches), None)
        if found is not None:
            return found
    if not switches:
        raise NotThereError(f"there is no {what!r} to set: the agent offers nothing of the kind")
    raise NotThereError(f"there is no {what!r} to set, but {_named(one.switch_id for one in switches)}")


def value_of(switch: Switch, words: str | bool) -> str | bool:
    """The value that is meant. Raises `NotThereError`."""
    if switch.kind == "boolean":
        return _boolean(switch, words)
    if switch.kind != "select":
        raise NotThereError(
            f"{switch.name!r} cannot be set: acp_nvim does not know options of the type {switch.kind!r}"
        )
    if isinstance(words, str):
        word = words.casefold()
        for meant in (
            {one.value for one in switch.choices if one.value == words},
            {one.value for one in switch.choices if one.name.casefold() == word},
            {one.value for one in switch.choices if one.value.casefold() == word},
        ):
            if len(meant) == 1:
                return meant.pop()
            if meant:
                raise NotThereError(
                    f"{words!r} is the name of several values of {switch.name!r}: {_named(sorted(meant))}"
                )
    values = _named(one.value for one in switch.choices)
    raise NotThereError(f"{switch.name!r} has no value {words!r}, but {values}" if values else _no_values(switch))


def _no_values(switch: Switch) -> str:
    return f"{switch.name!r} has no values to choose from"


def _boolean(switch: Switch, words: str | bool) -> bool:
    if isinstance(words, bool):
        return words
    word = words.casefold()
    if word not in ON | OFF:
        raise NotThereError(f"{switch.name!r} is on or off, not {words!r}")
    return word in ON


def _named(words: Iterable[str]) -> str:
    """Some of them: who has hundreds of models has them in the picker, too."""
    known = list(words)
    return ", ".join(known[:NAMED]) + (f" and {len(known) - NAMED} more" if len(known) > NAMED else "")
