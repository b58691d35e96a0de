"""Events of stored sessions, on this machine or at agents, and of work trees.

The `id` of an answer is that of the request message.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.contract.events import Event, RequestView, SessionEvent, Why

Offer = Literal["list", "load", "resume", "fork", "close", "delete", "rename", "archive"]
"""An operation that an agent supports for its sessions."""


class FoundSession(msgspec.Struct, omit_defaults=True):
    """A conversation whose transcript is stored on this machine."""

    id: str  #: for `transcript_open`
    agent: str
    cwd: str
    started: float  #: seconds since 1970
    updated: float  #: seconds since 1970
    title: str | None = None
    prompt: str | None = None
    session_id: str | None = None  #: the agent's
    snippet: str | None = None  #: an excerpt around the match of the query
    session: int | None = None  #: key of the session that it belongs to, if that is open
    supersedes: str | None = (
        None  #: id of the older transcript that it replaces, after the agent replayed the conversation
    )


class PermissionKept(SessionEvent):
    """A permission request of a stored conversation, and its outcome."""

    block: int
    request: RequestView
    outcome: Literal["selected", "cancelled"] | None = None  #: None: it was not answered
    option_id: str | None = None
    name: str | None = None  #: of the option
    why: Why | None = None
    rule: str | None = None  #: the rule that answered it, as shown to the user


class TranscriptShown(SessionEvent):
    """All events of a stored conversation were sent; the end of the answer to `transcript_open`."""

    problem: str | None = None  #: why they could not be sent


class Exported(SessionEvent):
    """A conversation as markdown; the answer to `export`."""

    text: str = ""  #: a piece of the text
    done: bool = False  #: this is the last piece
    path: str | None = None  #: of the file with the text
    exact: bool = False  #: secrets are not masked
    problem: str | None = None  #: why the export failed


class KnownAgent(msgspec.Struct):
    """An agent that runs, or has run."""

    agent: str
    running: bool
    offers: list[Offer]


class AgentsListed(Event, tag="agents_known", omit_defaults=False):
    """The agents that run or have run; the answer to `agents_known`."""

    id: int
    agents: list[KnownAgent]


class ListedSession(msgspec.Struct, omit_defaults=True):
    """A session that an agent stores, as it lists it."""

    session_id: str
    cwd: str
    title: str | None = None
    updated: float | None = None  #: seconds since 1970, if known
    archived: bool = False


class SessionEntry(msgspec.Struct, omit_defaults=True):
    """One conversation: open, stored on this machine, stored by its agent, or several of these."""

    agent: str
    cwd: str
    session_id: str | None = None  #: the agent's
    session: int | None = None  #: its key, if it is open
    kept: list[FoundSession] = []  #: its transcripts, the newest first
    listed: bool = False  #: the agent lists it
    archived: bool = False  #: the agent lists it as archived
    title: str | None = None
    updated: float = 0.0  #: seconds since 1970; 0 if not known
    snippet: str | None = None  #: an excerpt of its transcripts around the match of the query


class SessionsListed(Event, omit_defaults=False):
    """A list of sessions, as far as known; the answer to `sessions_list`, sent again after each later answer."""

    id: int
    entries: list[SessionEntry]  #: the open ones first, then the newest
    asked: list[str]  #: agents that have answered
    more: list[str]  #: agents with another page
    waits: list[str]  #: agents that have not answered yet
    problems: dict[str, str]  #: why agents could not answer, by their names


class SessionDone(Event):
    """A session was closed, deleted, renamed or archived, a work tree removed, or something cancelled."""

    id: int
    words: str = ""  #: what was done
    problem: str | None = None  #: why it failed


class WorktreeSeen(Event):
    """What would be lost by removing a work tree; the answer to `worktree_look`."""

    id: int
    path: str  #: empty: it is not a work tree of acp_nvim
    branch: str | None = None
    changed: int = 0  #: number of files
    commits: int = 0  #: number of commits that no other branch has
    problem: str | None = None  #: why it could not be inspected


class ProjectServer(msgspec.Struct):
    """An MCP server that a project brings with it."""

    name: str
    words: str  #: what would run, or the address; without control characters


class ProjectServers(Event):
    """Ask the user whether to use the MCP servers of a file of the project; `project_servers_answer` answers."""

    id: int
    path: str  #: of the file
    servers: list[ProjectServer]
    files: list[str] = msgspec.field(default_factory=list)  #: of the project that the servers run
