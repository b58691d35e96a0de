"""Modes and configuration options of a session (version 1)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Wire
from acp_nvim.wire.bounds import Id, Name, Word, Words, cut
from acp_nvim.wire.config_options import SelectItem, UnknownConfigOption


class SessionMode(Wire):
    """A way of working."""

    id: Id
    name: Name
    description: Maybe[Words] = UNSET


class SessionModeState(Wire):
    """The modes there are, and the one the session is in."""

    current_mode_id: Id
    available_modes: Annotated[list[SessionMode], cut(limits.MODES)]


class SessionConfigSelectItem(SelectItem):
    """`SessionConfigSelectOption`, or `SessionConfigSelectGroup`: then it has `group` and `options`."""

    group: Omittable[Id] = UNSET

    def __post_init__(self) -> None:
        self.require_one_shape(self.group, "group")


class ConfigOption(Wire):
    """What all configuration options have."""

    id: Id
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
