"""The rules that answer permission requests in the user's place; the first one that matches decides."""

from __future__ import annotations

import msgspec

from acp_nvim.permission_events import Action


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One of `permissions.rules`; what is None does not matter to it. `kind` is one kind of tool call, or several."""

    action: Action
    agent: str | None = None
    kind: str | tuple[str, ...] | None = None
    path: str | None = None
    command: str | None = None

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """The kinds of tool calls that it is about; None: all."""
        return (self.kind,) if isinstance(self.kind, str) else self.kind

    @property
    def words(self) -> str:
        """As a user reads it."""
        kinds = None if self.kinds is None else "/".join(self.kinds)
        named = (("agent", self.agent), ("kind", kinds), ("path", self.path), ("command", self.command))
        return " ".join([self.action, *(f"{name} {value}" for name, value in named if value is not None)])
