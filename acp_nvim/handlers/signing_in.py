"""Takes what the user does to sign in to an agent, and out of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from acp_nvim.handlers.method import Methods
from acp_nvim.session.session import Session
from acp_nvim.session.sign_ins import SignIns


class AgentAt(msgspec.Struct):
    """`login_methods`: how to sign in to that agent is to be told; `logout`: the user signs out of it."""

    agent: str
    cwd: str


class Login(AgentAt, kw_only=True):
    """`login`: sign in with that method of the agent. `session`: the one in whose chat the user is.

    `values` is a map from the names of variables to what the user has entered for them, which nothing must log.
    """

    method: str
    values: Any = None
    session: int | None = None

    def __repr__(self) -> str:
        return f"<Login to {self.agent} with {self.method}>"


class LoginCancel(msgspec.Struct):
    """`login_cancel`: the user gives up to sign in to that agent."""

    agent: str


class LoginEnded(msgspec.Struct):
    """`login_ended`: the terminal of that attempt is over, with an exit code if its program had one.

    `problem`: why there was no terminal.
    """

    attempt: int
    code: int | None = None
    problem: str | None = None


class SigningIn:
    """The messages about signing in; `sessions` by their keys."""

    def __init__(self, sign_ins: SignIns, sessions: Mapping[int, Session]) -> None:
        self._sign_ins = sign_ins
        self._sessions = sessions
        self.methods: Methods = {
            "login_methods": (AgentAt, self._ask),
            "login": (Login, self._begin),
            "login_cancel": (LoginCancel, self._cancel),
            "login_ended": (LoginEnded, self._ended),
            "logout": (AgentAt, self._sign_out),
        }

    def _ask(self, wanted: AgentAt) -> None:
        self._sign_ins.ask(wanted.agent, wanted.cwd)

    def _begin(self, wanted: Login) -> None:
        given = wanted.values if isinstance(wanted.values, dict) else {}  # Lua's empty table is a list
        values = {str(name): str(value) for name, value in given.items()}
        session = None if wanted.session is None else self._sessions.get(wanted.session)
        beside = session.sign_in if session is not None and session.agent == wanted.agent else None
        self._sign_ins.begin(wanted.agent, wanted.cwd, wanted.method, values, beside)

    def _cancel(self, wanted: LoginCancel) -> None:
        self._sign_ins.cancel(wanted.agent)

    def _ended(self, news: LoginEnded) -> None:
        self._sign_ins.terminal_ended(news.attempt, news.code, news.problem)

    def _sign_out(self, wanted: AgentAt) -> None:
        def told(text: str) -> None:
            for session in self._sessions.values():
                if session.agent == wanted.agent:
                    with session.tasks.contained("telling of a sign-out"):
                        session.narrator.notice("warn", text)

        self._sign_ins.sign_out(wanted.agent, wanted.cwd, told)
