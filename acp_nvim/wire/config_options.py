"""Configuration options of a session: what both versions have in common (ACP "Session Config Options")."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire, require
from acp_nvim.wire.bounds import Id, Name, Words, cut


class SessionConfigSelectOption(Wire):
    """One value to choose."""

    value: Id
    name: Name
    description: Maybe[Words] = UNSET


class SelectItem(Wire):
    """An item of `SessionConfigSelectOptions`: a value to choose, or a group of such (that has `options`)."""

    name: Name
    value: Omittable[Id] = UNSET
    description: Maybe[Words] = UNSET
    options: Omittable[Annotated[list[SessionConfigSelectOption], cut(limits.MODELS)]] = UNSET

    def require_one_shape(self, group: object, group_member: str) -> None:
        """Refuses what is neither a value nor a whole group; `group` is the group's id, `group_member` its name."""
        if group is UNSET and self.options is UNSET:
            require(self.value, "value")
        else:
            require(group, group_member)
            require(self.options, "options")


class UnknownConfigOption(Unknown):
    """A configuration option of a kind that we do not know."""
