"""What an editor is told of sessions that agents keep, of what can be done with them, and of work trees."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.events import Event

Offer = Literal["list", "load", "resume", "fork", "close", "delete"]
"""What an agent can do with its sessions."""


class KnownAgent(msgspec.Struct):
    """An agent that runs (`running`), or has run: what it can do with its sessions."""

    agent: str
    running: bool
    offers: list[Offer]


class AgentsKnown(Event, tag="agents_known", omit_defaults=False):
    """The answer to the question `id`."""

    id: int
    agents: list[KnownAgent]


class ListedSession(msgspec.Struct, omit_defaults=True):
    """A session that an agent keeps; `updated` in seconds since 1970, when the agent says that."""

    session_id: str
    cwd: str
    title: str | None = None
    updated: float | None = None


class AgentSessions(Event, tag="agent_sessions"):
    """A page of the sessions that an agent keeps; or why there is none. `next_cursor`: there is another page."""

    id: int
    agent: str
    cwd: str
    sessions: list[ListedSession]
    offers: list[Offer]
    next_cursor: str | None = None
    problem: str | None = None


class SessionDone(Event, tag="session_done"):
    """What was wanted of a session is done: in words; or why it is not."""

    id: int
    words: str = ""
    problem: str | None = None


class WorktreeSeen(Event, tag="worktree_seen"):
    """What would be lost with the work tree `path`: `changed` files, `commits` that are only on its `branch`.

    `problem`: why nobody knows. No `path`: that was no work tree of ours.
    """

    id: int
    path: str
    branch: str | None = None
    changed: int = 0
    commits: int = 0
    problem: str | None = None
