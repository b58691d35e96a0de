"""Configuration options and slash commands of a session (version 2)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire
from acp_nvim.wire.bounds import Id, Name, Word, Words, cut
from acp_nvim.wire.config_options import SelectItem, UnknownConfigOption


class SessionConfigSelectItem(SelectItem):
    """`SessionConfigSelectOption`, or `SessionConfigSelectGroup`: then it has `group_id` and `options`."""

    group_id: Omittable[Id] = UNSET

    def __post_init__(self) -> None:
        self.require_one_shape(self.group_id, "groupId")


class ConfigOption(Wire):
    """What all configuration options have."""

    config_id: Id
    name: Name
    description: Maybe[Words] = UNSET
    category: Maybe[Word] = UNSET


class SessionConfigSelect(ConfigOption, kw_only=True, tag_field="type", tag="select"):
    """An option with one of several values."""

    current_value: Id
    options: Annotated[list[SessionConfigSelectItem], cut(limits.MODELS)]


class SessionConfigBoolean(ConfigOption, kw_only=True, tag_field="type", tag="boolean"):
    """An option that is on or off."""

    current_value: bool


SessionConfigOption: TypeAlias = SessionConfigSelect | SessionConfigBoolean | UnknownConfigOption


class TextCommandInput(Wire, tag_field="type", tag="text"):
    """What follows the command is one text."""

    hint: Words


class UnknownCommandInput(Unknown):
    """An input of a kind that we do not know."""


AvailableCommandInput: TypeAlias = TextCommandInput | UnknownCommandInput


class Command(Wire, tag_field="type", tag="command"):
    """A slash command."""

    name: Id
    description: Words
    input: Maybe[AvailableCommandInput] = UNSET


class UnknownCommand(Unknown):
    """A command of a kind that we do not know."""


AvailableCommand: TypeAlias = Command | UnknownCommand
