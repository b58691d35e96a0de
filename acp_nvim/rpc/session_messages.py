"""What Neovim says to the host about sessions, work trees and kept conversations."""

from __future__ import annotations

import msgspec

from acp_nvim.rpc.messages import Message, SessionMessage
from acp_nvim.session.connection.calls import ResumeWay


class Open(SessionMessage):
    """Make a new session and start its agent if need be; of a known session: start the agent if it does not run."""

    cwd: str
    agent: str | None = None  #: None: the user named none and configured none
    additional_directories: list[str] = msgspec.field(default_factory=list)
    returned: list[int] = msgspec.field(default_factory=list)  #: ids of prompts that the user got back from a dead host


class Resume(Open, kw_only=True):
    """Like `open`, with what was said before: in a kept `transcript`, or in the open session `source`."""

    session_id: str | None = None  #: the agent's id of what it knows; None: the agent begins a new session
    how: ResumeWay = "go_on"  #: the way in which the agent reopens `session_id`
    transcript: str | None = None
    source: int | None = None  #: key of a session
    worktree: str | None = None  #: the session works in a new git work tree of that name
    shown: bool = False  #: the chat already shows what was said before


class SessionClose(Message):
    """Close that chat for good; `session_done` answers."""

    id: int  #: of the question
    session: int


class SessionDelete(Message):
    """Delete a session at the agent, when there is a `session_id`, and then here; `session_done` answers."""

    id: int  #: of the question
    agent: str
    cwd: str
    session_id: str | None = None
    transcripts: list[str] = msgspec.field(default_factory=list)  #: ids of kept conversations
    session: int | None = None  #: it is open here, and closed first


class AgentsKnown(Message):
    """Which agents run, and what can they do with their sessions? `agents_known` answers."""

    id: int  #: of the question


class OpenSession(msgspec.Struct):
    """A session that the editor shows, as `sessions_list` names it."""

    session: int  #: its key
    agent: str
    cwd: str
    session_id: str | None = None  #: at the agent
    title: str | None = None


class SessionsList(Message):
    """List all sessions and kept conversations; `sessions_listed` answers, again for each agent that answers late."""

    id: int  #: of the question
    cwd: str  #: for which directory agents are asked
    open: list[OpenSession]  #: the one that was used last first
    query: str = ""  #: a text that they have
    agents: list[str] | None = None  #: they are asked, and started if need be; None: those that run and can list
    everywhere: bool = False  #: of all directories, not only `cwd`


class SessionsMore(Message):
    """Ask an agent for its next page, or its first one; `sessions_listed` answers."""

    id: int  #: of the question that `sessions_list` was
    agent: str


class WorktreeLook(Message):
    """What would be lost with the work tree in which `path` is? `worktree_seen` answers."""

    id: int  #: of the question
    path: str


class WorktreeRemove(WorktreeLook, kw_only=True):
    """Remove the work tree in which `path` is; `session_done` answers."""

    force: bool = False  #: uncommitted changes there are lost


class RememberPrompt(Message):
    """Append a prompt, without its secrets, to the history of a project."""

    path: str  #: the file with the prompts of the project
    text: str
    time: int  #: seconds since 1970


class TranscriptOpen(SessionMessage):
    """Show a kept conversation under a key that has no session; ends with `transcript_shown`."""

    id: str


class TranscriptCall(TranscriptOpen):
    """Ask for all that is kept of a tool call; `call_details` answers."""

    block: int


class Export(SessionMessage):
    """Make a session, or the kept `transcript` that it shows, markdown; `exported` answers."""

    path: str | None = None  #: of the file; None: send it as text
    overwrite: bool = False
    transcript: str | None = None
