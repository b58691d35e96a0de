"""The switches of a session as one list: its options, and the modes and models of agents without such options.

A user names a switch by its id, category or name; a value by its id or name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

import msgspec

from acp_nvim.acp import answers, updates
from acp_nvim.contract.events import SwitchView, ValueView

SetBy = Literal["option", "mode", "model"]
"""The request that sets it: `session/set_config_option`, `session/set_mode` or `session/set_model`."""

NAMED: Final = 12
"""Number of values listed in an error: a line or two."""

ON = frozenset({"on", "true", "yes", "1"})
OFF = frozenset({"off", "false", "no", "0"})


class NoSuchOptionError(Exception):
    """There is no such switch or value; the message is for the user."""


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """One option. `kind` is `select` (of `choices`), `boolean`, or an unknown word: then it cannot be set."""

    switch_id: str
    name: str
    kind: str
    how: SetBy = "option"
    current: str | bool | None = None
    choices: Sequence[answers.Choice] = ()
    category: str | None = None
    description: str | None = None

    def name_of(self, value: str | bool | None) -> str | None:
        """Return the agent's name for a value; None if it equals the value."""
        return next((one.name for one in self.choices if one.value == value and one.name != value), None)


class Switches:
    """The switches by the agent's answers and updates; `on_change` is called after each of them.

    Options come in the agent's order, after modes and models for which there is no option. `changing` holds the values
    that were requested and are not set yet, by id.
    """

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self.changing: dict[str, str | bool] = {}
        self.all: list[Switch] = []
        """All switches in the order in which they are shown."""
        self._options: Sequence[answers.ConfigOption] = ()
        self._modes = _Legacy("mode", "Mode")
        self._models = _Legacy("model", "Model")

    @property
    def mode(self) -> str | None:
        """The id of the current mode; None if the agent has no modes."""
        return self._current(self._modes)

    @property
    def model(self) -> str | None:
        """The id of the current model; None if the agent has no models."""
        return self._current(self._models)

    def of_category(self, category: str) -> Switch | None:
        """Return the switch of a category with its name as id, else the first: agents list the most important first.

        Some agents put the provider before the model, and both into the category `model`.
        """
        found = [one for one in self.all if one.category == category]
        return next((one for one in found if one.switch_id == category), found[0] if found else None)

    def name_of(self, category: str, value: str | bool | None) -> str | None:
        """Return the agent's name for that mode or model, if it is not the id: some ids are addresses."""
        switch = self.of_category(category)
        return switch.name_of(value) if switch else None

    def next_name(self, category: str) -> str | None:
        """Return the agent's name for the requested mode or model; None if no change is in progress."""
        switch = self.of_category(category)
        value = self.changing.get(switch.switch_id) if switch else None
        return (switch.name_of(value) if switch else None) or (str(value) if value is not None else None)

    def begin(self, opened: answers.Opened) -> None:
        """Take the modes, models and options of a session that was opened."""
        for legacy, selection in ((self._modes, opened.modes), (self._models, opened.models)):
            legacy.selection = selection
            legacy.current = selection.current if selection else None
        self._options = opened.options or ()
        self._fold()

    def take(self, update: updates.ModeChanged | updates.ConfigReplaced) -> None:
        """Take an update of the mode, or of all options, as they depend on each other."""
        if isinstance(update, updates.ModeChanged):
            self._choose(self._modes, update.mode_id)
        else:
            self._options = update.options
        self._fold()

    def take_model(self, model_id: str) -> None:
        """Set the current model, after the agent has changed it."""
        self._choose(self._models, model_id)
        self._fold()

    def views(self) -> list[SwitchView]:
        """Return all switches for the editor, with the values that are being set."""
        return [_view(one, self.changing.get(one.switch_id)) for one in self.all]

    def _choose(self, legacy: _Legacy, value: str) -> None:
        """Set a mode or model, and the option for the same, which not all agents update."""
        legacy.current = value
        self._options = [
            msgspec.structs.replace(one, current=value) if legacy.is_same_as(one) and _accepts(one, value) else one
            for one in self._options
        ]

    def _current(self, legacy: _Legacy) -> str | None:
        """Return the value of the first switch of that category, else the last reported mode or model."""
        switch = self.of_category(legacy.category)
        return switch.current if switch and isinstance(switch.current, str) else legacy.current

    def _fold(self) -> None:
        old = [one.switch for one in (self._modes, self._models) if not any(map(one.is_same_as, self._options))]
        self.all = [one for one in old if one is not None]
        self.all += [
            Switch(
                switch_id=one.config_id,
                name=one.name,
                kind=one.kind,
                current=one.current,
                choices=one.choices,
                category=one.category,
                description=one.description,
            )
            for one in self._options
        ]
        self.on_change()


class _Legacy(msgspec.Struct):
    """Modes or models as agents report them that have no options for them (ACP v1 "Session Modes")."""

    category: SetBy
    name: str
    current: str | None = None
    selection: answers.Selection | None = None

    @property
    def switch(self) -> Switch | None:
        if self.selection is None:
            return None
        return Switch(
            switch_id=self.category,
            name=self.name,
            kind="select",
            how=self.category,
            current=self.current,
            choices=self.selection.choices,
            category=self.category,
        )

    def is_same_as(self, option: answers.ConfigOption) -> bool:
        """Whether an option sets the same, by its category, its id, or its values."""
        if self.category in (option.category, option.config_id):
            return True
        mine = {one.value for one in self.selection.choices} if self.selection else set()
        return bool(mine) and mine == {one.value for one in option.choices}


def _accepts(option: answers.ConfigOption, value: str) -> bool:
    """Whether the option may have that value: some agents use other ids for modes than for its values."""
    return option.kind == "select" and (not option.choices or any(one.value == value for one in option.choices))


def _view(switch: Switch, changing: str | bool | None) -> SwitchView:
    return SwitchView(
        id=switch.switch_id,
        name=switch.name,
        kind=switch.kind,
        category=switch.category,
        description=switch.description,
        current=switch.current,
        changing=changing,
        values=[ValueView(one.value, one.name, one.description, one.group) for one in switch.choices],
    )


def find_switch(switches: Sequence[Switch], what: str) -> Switch:
    """Find a switch by its id, else the first of a category, else by its name. Raises `NoSuchOptionError`."""
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
        raise NoSuchOptionError(f"there is no {what!r} to set: the agent offers nothing of the kind")
    raise NoSuchOptionError(f"there is no {what!r} to set, but {_named(one.switch_id for one in switches)}")


def value_of(switch: Switch, words: str | bool) -> str | bool:
    """Return the value of a switch that `words` name. Raises `NoSuchOptionError`."""
    if switch.kind == "boolean":
        word = words if isinstance(words, bool) else words.casefold()
        if isinstance(word, str) and word not in ON | OFF:
            raise NoSuchOptionError(f"{switch.name!r} is on or off, not {words!r}")
        return word if isinstance(word, bool) else word in ON
    if switch.kind != "select":
        raise NoSuchOptionError(
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
                raise NoSuchOptionError(
                    f"{words!r} is the name of several values of {switch.name!r}: {_named(sorted(meant))}"
                )
    values = _named(one.value for one in switch.choices)
    missing = f"no value {words!r}, but {values}" if values else "no values to choose from"
    raise NoSuchOptionError(f"{switch.name!r} has {missing}")


def _named(words: Iterable[str]) -> str:
    """List the first `NAMED` values: some agents have hundreds of models, which the picker shows."""
    known = list(words)
    return ", ".join(known[:NAMED]) + (f" and {len(known) - NAMED} more" if len(known) > NAMED else "")
