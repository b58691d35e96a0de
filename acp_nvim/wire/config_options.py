"""Configuration options of a session: what both versions have in common (ACP "Session Config Options")."""

from __future__ import annotations

from msgspec import UNSET

from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire, require


class SessionConfigSelectOption(Wire):
    """One value to choose."""

    value: str
    name: str
    description: Maybe[str] = UNSET


class SelectItem(Wire):
    """An item of `SessionConfigSelectOptions`: a value to choose, or a group of such (that has `options`)."""

    name: str
    value: Omittable[str] = UNSET
    description: Maybe[str] = UNSET
    options: Omittable[list[SessionConfigSelectOption]] = UNSET

    def require_one_shape(self, group: object, group_member: str) -> None:
        """Refuses what is neither a value nor a whole group; `group` is the group's id, `group_member` its name."""
        if group is UNSET and self.options is UNSET:
            require(self.value, "value")
        else:
            require(group, group_member)
            require(self.options, "options")


class UnknownConfigOption(Unknown):
    """A configuration option of a kind that we do not know."""
