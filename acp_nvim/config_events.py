"""What an editor is told of the configuration of a session."""

from __future__ import annotations

import msgspec

from acp_nvim.events import SessionEvent


class ValueView(msgspec.Struct, omit_defaults=True):
    """One value to choose; those with the same `group` stand together under it."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


class SwitchView(msgspec.Struct, omit_defaults=True):
    """One thing to switch: a mode, a model, or any other option of the agent's.

    `kind`: `select` (one of `values`), `boolean`, or a word that we do not know. `changing`: what was asked for, while
    the agent has not answered.
    """

    id: str
    name: str
    kind: str
    category: str | None = None
    description: str | None = None
    current: str | bool | None = None
    changing: str | bool | None = None
    values: list[ValueView] = []


class Config(SessionEvent, tag="config", omit_defaults=False):
    """All that can be switched, in the agent's order."""

    options: list[SwitchView]
