"""What an editor is told of signing in: that an agent wants it, the ways that there are, and what came of one."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.events import Event

Outcome = Literal["done", "failed", "cancelled"]


class VariableView(msgspec.Struct, omit_defaults=True):
    """An environment variable that a way to sign in needs; `is_set`: it has a value already, which nobody is told."""

    name: str
    label: str | None = None
    secret: bool = False
    optional: bool = False
    is_set: bool = False


class MethodView(msgspec.Struct, omit_defaults=True):
    """A way to sign in. `kind` is `agent`, `terminal`, `env_var`, `api_key`, or a word that nobody here knows.

    `command` is what a terminal would run, in words without its environment; `link` is where to get the `variables`.
    """

    id: str
    name: str
    kind: str
    description: str | None = None
    command: str | None = None
    variables: list[VariableView] = []
    link: str | None = None


class SignIn(Event, tag="sign_in", omit_defaults=False):
    """An agent wants the user to sign in before it goes on with a `session`; or the user `asked` how that is done.

    `hint` is what is known of signing in to this agent, for those that name no way.
    """

    agent: str
    cwd: str
    methods: list[MethodView]
    asked: bool
    session: int | None = None
    reason: str | None = None
    hint: str | None = None


class SignInTerminal(Event, tag="sign_in_terminal", omit_defaults=False):
    """Run that in a terminal, for the user, with `env` on top of Neovim's own; say `login_ended` when it has ended."""

    agent: str
    attempt: int
    name: str
    argv: list[str]
    cwd: str
    env: dict[str, str]


class SignInDone(Event, tag="sign_in_done"):
    """What came of an attempt to sign in (`attempt`), or to sign out (0): `text` says it."""

    agent: str
    attempt: int
    outcome: Outcome
    text: str
    method: str | None = None
