"""What Neovim says to the host about permissions, questions of agents, and signing in."""

from __future__ import annotations

from typing import Any

import msgspec

from acp_nvim.rpc.messages import Message
from acp_nvim.ui.request_events import AnswerAction


class Answer(Message):
    """Answer a permission request with one of the options that it has."""

    id: int
    option_id: str


class PermissionRules(Message):
    """Ask for the rules of the project at `cwd`; `permission_rules` answers."""

    cwd: str


class PermissionForget(Message):
    """Remove a stored rule; `permission_rules` tells those that are left."""

    cwd: str
    id: str


class ElicitationCheck(Message):
    """Could these answers be sent? `elicitation_checked` answers."""

    id: int
    version: int = 0  #: comes back in the answer
    values: dict[str, Any] | list[Any] = msgspec.field(default_factory=dict)  #: by the names of fields


class ElicitationAnswer(ElicitationCheck, kw_only=True):
    """Answer a question; when something is wrong `elicitation_checked` says it, and nothing is sent."""

    action: AnswerAction


class LoginMethods(Message):
    """How can the user sign in to that agent? `sign_in` answers, or a `sign_in_done` that failed."""

    agent: str
    cwd: str


class Login(Message):
    """Sign in to an agent with one of its methods."""

    agent: str
    cwd: str
    method: str  #: its id
    values: Any = None  #: environment variables by their names; nothing logs them
    session: int | None = None  #: the one in whose chat the user is

    def __repr__(self) -> str:
        return f"<Login to {self.agent} with {self.method}>"


class LoginEnded(Message):
    """The terminal of a `sign_in_terminal` has ended."""

    attempt: int
    code: int | None = None  #: exit code of its program
    problem: str | None = None  #: why there was no terminal


class LoginCancel(Message):
    """Give up signing in to that agent."""

    agent: str


class Logout(Message):
    """Sign out of an agent, where it offers that (ACP "Authentication")."""

    agent: str
    cwd: str
