"""What Neovim is told of sessions: those that are kept, here or by agents, and work trees.

The `id` of an answer is that of the message which asked.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.ui.events import Event, RequestView, SessionEvent, Why

Offer = Literal["list", "load", "resume", "fork", "close", "delete"]
"""What an agent can do with its sessions."""


class FoundSession(msgspec.Struct, omit_defaults=True):
    """A conversation of which a transcript is kept on this machine."""

    id: str  #: for `transcript_open`
    agent: str
    cwd: str
    started: float  #: seconds since 1970
    updated: float  #: seconds since 1970
    title: str | None = None
    prompt: str | None = None
    session_id: str | None = None  #: the agent's
    snippet: str | None = None  #: a text of it around what was looked for
    session: int | None = None  #: key of the one that it is the transcript of, when that is alive
    supersedes: str | None = None  #: id of the one that kept the same before its agent told it anew


class PermissionKept(SessionEvent):
    """A permission request of a kept conversation, and what became of it."""

    block: int
    request: RequestView
    outcome: Literal["selected", "cancelled"] | None = None  #: None: nobody answered it
    option_id: str | None = None
    name: str | None = None  #: of the option
    why: Why | None = None
    rule: str | None = None  #: that answered it, in words


class TranscriptShown(SessionEvent):
    """All of a kept conversation was told; the end of the answer to `transcript_open`."""

    problem: str | None = None  #: why it was not


class Exported(SessionEvent):
    """A conversation as markdown; the answer to `export`."""

    text: str = ""  #: a piece of it
    done: bool = False  #: this is the last piece
    path: str | None = None  #: of the file that has it
    problem: str | None = None  #: why there is nothing


class KnownAgent(msgspec.Struct):
    """An agent that runs, or has run."""

    agent: str
    running: bool
    offers: list[Offer]


class AgentsKnown(Event, omit_defaults=False):
    """The agents that run or have run; the answer to `agents_known`."""

    id: int
    agents: list[KnownAgent]


class ListedSession(msgspec.Struct, omit_defaults=True):
    """A session that an agent keeps, as it lists it."""

    session_id: str
    cwd: str
    title: str | None = None
    updated: float | None = None  #: seconds since 1970, when the agent says that


class SessionEntry(msgspec.Struct, omit_defaults=True):
    """One conversation, whether it is open, kept by us, or kept by its agent."""

    agent: str
    cwd: str
    session_id: str | None = None  #: the agent's
    session: int | None = None  #: its key, when it is open
    kept: list[FoundSession] = []  #: its transcripts, the newest first
    listed: bool = False  #: the agent says that it keeps it
    title: str | None = None
    updated: float = 0.0  #: seconds since 1970; 0 when nobody knows
    snippet: str | None = None  #: a text of its transcripts around what was looked for


class SessionsListed(Event, omit_defaults=False):
    """A list of sessions, as far as it is known; the answer to `sessions_list`, as often as there is news."""

    id: int
    entries: list[SessionEntry]  #: those that are open first, then the newest
    asked: list[str]  #: agents that have answered
    more: list[str]  #: agents that have another page
    waits: list[str]  #: agents that have not answered yet
    problems: dict[str, str]  #: why agents could not answer, by their names


class SessionDone(Event):
    """A session was closed or deleted, or a work tree removed; the answer to what asked for it."""

    id: int
    words: str = ""  #: what was done
    problem: str | None = None  #: why it was not done


class WorktreeSeen(Event):
    """What would be lost with a work tree; the answer to `worktree_look`."""

    id: int
    path: str  #: empty: that was no work tree of ours
    branch: str | None = None
    changed: int = 0  #: files
    commits: int = 0  #: that are only there
    problem: str | None = None  #: why nobody knows
