"""What can be switched in a session, as one list: options, and the modes and models of agents without such options.

A user names a switch by its id, category or name; a value by its id or name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

import msgspec

from acp_nvim.acp import answers, updates
from acp_nvim.ui.events import SwitchView, ValueView

SetBy = Literal["option", "mode", "model"]
"""What sets it: `session/set_config_option`, `session/set_mode` or `session/set_model`."""


NAMED: Final = 12
"""Values named when somebody asks for one that is not there: a line or two."""

ON = frozenset({"on", "true", "yes", "1"})
OFF = frozenset({"off", "false", "no", "0"})


class NotThereError(Exception):
    """There is no such switch or value; in words for the user."""


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to choose. `kind`: `select` (of `choices`), `boolean`, or an unknown word: then it cannot be set."""

    switch_id: str
    name: str
    kind: str
    how: SetBy = "option"
    current: str | bool | None = None
    choices: Sequence[answers.Choice] = ()
    category: str | None = None
    description: str | None = None

    def name_of(self, value: str | bool | None) -> str | None:
        """What the agent calls a value; None where that is the value itself."""
        return next((one.name for one in self.choices if one.value == value and one.name != value), None)


class Switches:
    """Folded from the agent's answers and updates; `on_change`: they may be others.

    Options come in the agent's order; modes and models go before them, where no option is the same thing in new words.
    `changing` is what was asked for and is not answered yet, by id.
    """

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self.changing: dict[str, str | bool] = {}
        self._options: Sequence[answers.ConfigOption] = ()
        self._modes = _Legacy("mode", "Mode")
        self._models = _Legacy("model", "Model")
        self._all: list[Switch] = []

    def __repr__(self) -> str:
        return f"<Switches {[(one.switch_id, one.current) for one in self._all]}>"

    @property
    def all(self) -> Sequence[Switch]:
        """All switches in the order in which they are shown: modes and models, then options."""
        return self._all

    @property
    def mode(self) -> str | None:
        """The id of the mode that is set; None when the agent has no modes."""
        return self._current(self._modes)

    @property
    def model(self) -> str | None:
        """The id of the model that is set; None when the agent has no models."""
        return self._current(self._models)

    def of_category(self, category: str) -> Switch | None:
        """The first one, which is the agent's most important."""
        return next((one for one in self._all if one.category == category), None)

    def name_of(self, category: str, value: str | bool | None) -> str | None:
        """What the agent calls that mode or model, where it is not its id: some ids are addresses."""
        switch = self.of_category(category)
        return switch.name_of(value) if switch else None

    def next_name(self, category: str) -> str | None:
        """What the mode or model is to be, as the agent calls it; None when nothing was asked for."""
        switch = self.of_category(category)
        value = self.changing.get(switch.switch_id) if switch else None
        return (switch.name_of(value) if switch else None) or (str(value) if value is not None else None)

    def begin(self, opened: answers.Opened) -> None:
        """What the agent told of the session when it was opened."""
        self._modes.begin(opened.modes)
        self._models.begin(opened.models)
        self._options = opened.options or ()
        self._fold()

    def take(self, update: updates.ModeChanged | updates.ConfigReplaced) -> None:
        """What the agent says since; all options are replaced: they depend on each other."""
        if isinstance(update, updates.ModeChanged):
            self._choose(self._modes, update.mode_id)
        else:
            self._options = update.options
        self._fold()

    def take_model(self, model_id: str) -> None:
        """Note that the agent works with that model now."""
        self._choose(self._models, model_id)
        self._fold()

    def views(self) -> list[SwitchView]:
        """Return all switches for the editor, with the values that were asked for and are not set yet."""
        return [_view(one, self.changing.get(one.switch_id)) for one in self._all]

    def _choose(self, legacy: _Legacy, value: str) -> None:
        """Said in the old words: the option that is the same thing has changed, too; not all agents tell that."""
        legacy.current = value
        self._options = [
            msgspec.structs.replace(one, current=value) if legacy.is_said_by(one) and _may_be(one, value) else one
            for one in self._options
        ]

    def _current(self, legacy: _Legacy) -> str | None:
        """The value of the first switch of that kind; without one, what the agent said last in the old words."""
        switch = self.of_category(legacy.category)
        return switch.current if switch and isinstance(switch.current, str) else legacy.current

    def _fold(self) -> None:
        old = [one.switch for one in (self._modes, self._models) if not any(map(one.is_said_by, self._options))]
        self._all = [one for one in old if one is not None]
        self._all += [_of_option(one) for one in self._options]
        self.on_change()


class _Legacy:
    """Modes or models in the words from before there were options (ACP v1 "Session Modes")."""

    def __init__(self, category: SetBy, name: str) -> None:
        self.category: SetBy = category
        self.current: str | None = None
        self.selection: answers.Selection | None = None
        self._name = name

    def begin(self, selection: answers.Selection | None) -> None:
        """As the agent tells them when a session is opened."""
        self.selection = selection
        self.current = selection.current if selection else None

    @property
    def switch(self) -> Switch | None:
        """As one among options."""
        if self.selection is None:
            return None
        return Switch(
            switch_id=self.category,
            name=self._name,
            kind="select",
            how=self.category,
            current=self.current,
            choices=self.selection.choices,
            category=self.category,
        )

    def is_said_by(self, option: answers.ConfigOption) -> bool:
        """Whether that option is the same thing: by its category, its id, or its values."""
        if self.category in (option.category, option.config_id):
            return True
        mine = {one.value for one in self.selection.choices} if self.selection else set()
        return bool(mine) and mine == {one.value for one in option.choices}


def _may_be(option: answers.ConfigOption, value: str) -> bool:
    """Ids of modes are other words than the values of an option with some agents."""
    return option.kind == "select" and (not option.choices or any(one.value == value for one in option.choices))


def _of_option(option: answers.ConfigOption) -> Switch:
    return Switch(
        switch_id=option.config_id,
        name=option.name,
        kind=option.kind,
        current=option.current,
        choices=option.choices,
        category=option.category,
        description=option.description,
    )


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


# --- the words of a user ---------------------------------------------------------------------------------------------


def find_switch(switches: Sequence[Switch], what: str) -> Switch:
    """Find a switch by its id, else the first of a category, else by its name. Raises `NotThereError`."""
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
