"""Takes what the user wants sessions to be switched to."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from acp_nvim.handlers.method import Methods
from acp_nvim.messages import Named
from acp_nvim.session.session import Session


class ConfigSet(msgspec.Struct):
    """`config_set`: `option` is an id, a category or a name; `value` likewise, or whether it is on.

    `keep`: new sessions of the agent are to begin with it, too.
    """

    session: int
    option: str
    value: str | bool
    keep: bool = False


class ConfigHeld(msgspec.Struct):
    """`config_held`: what was set in the chat before this host had it, by the ids of options."""

    session: int
    values: dict[str, str | bool]


class Configuring:
    """The messages about the configuration of `sessions`, by their keys."""

    def __init__(self, sessions: Mapping[int, Session]) -> None:
        self._sessions = sessions
        self.methods: Methods = {
            "config_set": (ConfigSet, self._set),
            "config_held": (ConfigHeld, self._hold),
            "config_forget": (Named, self._forget),
        }

    def _set(self, wanted: ConfigSet) -> None:
        session = self._sessions[wanted.session]
        if not session.configuration.set(wanted.option, wanted.value, wanted.keep):
            session.open()

    def _hold(self, held: ConfigHeld) -> None:
        self._sessions[held.session].configuration.hold(held.values)

    def _forget(self, wanted: Named) -> None:
        self._sessions[wanted.session].configuration.forget()
