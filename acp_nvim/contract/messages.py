"""Messages from Neovim to the host, one class each, named as its method unless `tag` names that.

Lua's annotations and doc/development/contract.md are generated from these classes: the docstring says what the message
requests, and the `#:` comment of a field what it contains. Every message is a notification; the host answers with
events. `session` is a key: a positive integer that Lua chose when it opened the chat.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from acp_nvim.contract import agent_messages, mcp_messages, stored_messages
from acp_nvim.contract.events import QueuedText, wire_name
from acp_nvim.contract.message_base import Handlers as Handlers
from acp_nvim.contract.message_base import Message, SessionMessage
from acp_nvim.contract.request_events import AnswerAction
from acp_nvim.contract.settings import Config

ResumeWay = Literal["load", "resume", "fork", "go_on"]
"""`go_on`: the best way that the agent offers, for a chat that shows the conversation already."""


class Hello(Message):
    """The first message, and again when the configuration changes or Lua was reloaded; `ready` answers each."""

    version: str  #: of the Lua side
    log_path: str
    state_path: str  #: directory of files that outlive this Neovim
    cache_path: str
    config: Config
    temp_path: str | None = None  #: directory that is removed when Neovim exits
    last_subagent: int = 0  #: the greatest key that an earlier host has chosen for a child session
    instance: str = ""  #: identifies this Neovim: machine, pid and start time; without it nothing is journaled


class Prompt(SessionMessage):
    """Send a prompt, or queue it while a turn runs."""

    text: str
    id: int | None = None  #: unique in this Neovim; `prompts_taken` reports it
    context: list[dict[str, Any]] = msgspec.field(default_factory=list)  #: attached: `acp_nvim/prompt/items.py`


class QueueSet(SessionMessage):
    """Replace the queue by the user's edited version; prompts sent meanwhile are not sent again (`queue_late`)."""

    prompts: list[QueuedText]  #: known prompts that are missing here are dropped
    known: list[int] = msgspec.field(default_factory=list)  #: ids of the prompts that the user saw
    held: bool = False  #: they wait until the user sends another one: no host had acknowledged all of them
    revision: int = 0  #: grows with each of these messages; `prompts_taken` reports it


class Steer(SessionMessage):
    """Send a queued prompt into the running turn; an agent without steering gets it after the turn."""

    id: int | None = None  #: None: the first in the queue


class Cancel(SessionMessage):
    """Cancel the turn; without one, end commands of earlier turns, or clear the queue, or end the process."""

    force: bool = False  #: end the process of an agent that does not answer


class CancelBlock(SessionMessage):
    """Cancel only what is at a block: a tool call, or a command in it; `session_done` answers."""

    id: int  #: of the request
    block: int
    terminal: int = 0  #: number of the terminal under the cursor, which comes before its tool call; 0: none
    or_turn: bool = False  #: cancel the turn if the agent cannot cancel it alone, or was asked to already


class Stop(SessionMessage):
    """Disconnect from the agent, whose process ends with its last session; transcript and queue stay."""


class Redraw(SessionMessage):
    """Send `reset`, and then the whole transcript again."""

    after: bool = False  #: only what was added after the transcript of an earlier host


class CallDetails(SessionMessage):
    """Request all details of the tool call at a block; `call_details` answers."""

    block: int


class CallMedia(SessionMessage):
    """Write an image or a sound of a tool call to a file; `call_media` answers."""

    block: int
    place: int  #: 0-based, among the items of the call
    directory: str


class TerminalOpen(SessionMessage):
    """Send all output of a terminal, and its further output from now on."""

    terminal: int


class TerminalClose(SessionMessage):
    """Stop sending the output of a terminal: its buffer is gone."""

    terminal: int


class ConfigSet(SessionMessage):
    """Set an option of the agent, and start the agent if it does not run."""

    option: str  #: an id, a category or a name
    value: str | bool  #: an id or a name, or a boolean
    keep: bool = False  #: also for new sessions of the agent


class ConfigForget(SessionMessage):
    """Forget the options stored for new sessions of the agent."""


class Open(SessionMessage):
    """Create a session, unless there is one with this key, and start its agent if it does not run."""

    cwd: str
    agent: str | None = None  #: None: the default agent
    additional_directories: list[str] = msgspec.field(default_factory=list)
    returned: list[int] = msgspec.field(default_factory=list)  #: ids of prompts returned after a host had died


class Resume(Open, kw_only=True):
    """Like `open`, continuing a conversation: that of a stored `transcript`, or of the open session `source`."""

    session_id: str | None = None  #: the agent's; None: the agent begins a new session
    how: ResumeWay = "go_on"  #: how the agent reopens `session_id`
    transcript: str | None = None
    source: int | None = None  #: key of a session
    worktree: str | None = None  #: name of a git work tree that is created for the session
    shown: bool = False  #: the chat already shows the conversation


class SessionClose(Message):
    """Close a session for good; `session_done` answers."""

    id: int  #: of the request
    session: int


class SessionDelete(Message):
    """Delete a session at the agent, if there is a `session_id`, and then here; `session_done` answers."""

    id: int  #: of the request
    agent: str
    cwd: str
    session_id: str | None = None
    transcripts: list[str] = msgspec.field(default_factory=list)  #: ids of stored conversations
    session: int | None = None  #: its key if it is open; it is closed first


class AgentsKnown(Message):
    """Request the agents that run, and the session operations that they support; `agents_known` answers."""

    id: int  #: of the request


class Prewarm(Message):
    """Start an agent that will probably be used soon, without a session. A failure is only logged."""

    agent: str
    cwd: str


class OpenSession(msgspec.Struct):
    """An open session in the editor, for `sessions_list`."""

    session: int  #: its key
    agent: str
    cwd: str
    session_id: str | None = None  #: at the agent
    title: str | None = None


class SessionsList(Message):
    """List all sessions and stored conversations; `sessions_listed` answers, again for each agent that is late."""

    id: int  #: of the request
    cwd: str  #: the directory whose sessions agents are asked for
    open: list[OpenSession]  #: the most recently used first
    query: str = ""  #: a text that the sessions must contain
    agents: list[str] | None = None  #: to be asked, and started if necessary; None: those that run and can list
    everywhere: bool = False  #: of all directories, not only `cwd`
    archived: bool = False  #: only archived sessions; otherwise all others


class SessionsMore(Message):
    """Request the next or first page of an agent's sessions; `sessions_listed` answers."""

    id: int  #: of the `sessions_list` request
    agent: str


class WorktreeLook(Message):
    """Request what removing the work tree around `path` would lose; `worktree_seen` answers."""

    id: int  #: of the request
    path: str


class WorktreeRemove(WorktreeLook, kw_only=True):
    """Remove the work tree around `path`; `session_done` answers."""

    force: bool = False  #: even if uncommitted changes are lost


class Answer(Message):
    """Answer a permission request with one of its options."""

    id: int
    option_id: str


class PermissionRules(Message):
    """Request the rules of the project at `cwd`; `permission_rules` answers."""

    cwd: str


class PermissionForget(Message):
    """Remove a stored rule; `permission_rules` answers with the remaining ones."""

    cwd: str
    id: str


class ElicitationCheck(Message):
    """Check whether these answers could be sent; `elicitation_checked` answers."""

    id: int
    version: int = 0  #: repeated in the answer
    values: dict[str, Any] | list[Any] = msgspec.field(default_factory=dict)  #: by the names of fields


class ElicitationAnswer(ElicitationCheck, kw_only=True):
    """Answer a question; if an answer is invalid, nothing is sent, and `elicitation_checked` has the reason."""

    action: AnswerAction


class LoginMethods(Message):
    """Request the authentication methods of an agent; `sign_in` answers, or a failed `sign_in_done`."""

    agent: str
    cwd: str


class Login(Message):
    """Sign in to an agent with one of its methods."""

    agent: str
    cwd: str
    method: str  #: its id
    values: Any = None  #: environment variables by name; they are never logged
    session: int | None = None  #: the one in whose chat the user is

    def __repr__(self) -> str:
        return f"<Login to {self.agent} with {self.method}>"


class LoginEnded(Message):
    """The program of a `sign_in_terminal` has exited."""

    attempt: int
    code: int | None = None  #: exit code of the program
    problem: str | None = None  #: why the terminal could not be opened


class LoginCancel(Message):
    """Cancel the attempt to sign in to an agent."""

    agent: str


class Logout(Message):
    """Sign out of an agent that supports it (ACP "Authentication")."""

    agent: str
    cwd: str


class DiskChanged(Message):
    """The files of tracked buffers differ from what the buffers last read or wrote."""

    paths: list[str]  #: real paths


class Stamp(msgspec.Struct):
    """The state of a file right after the user has saved it."""

    size: int  #: bytes
    mtime: str  #: nanoseconds since 1970, as decimal digits
    ctime: str  #: nanoseconds since 1970, as decimal digits
    ino: int
    was: str | None = None  #: `ctime` of the state that the saved text was based on, if known


class Saved(Message):
    """The user wrote a tracked buffer; `stamp` is the state of its file right afterwards."""

    path: str
    stamp: Stamp | None = None


class Edited(msgspec.Struct, frozen=True, tag_field="message", tag=wire_name):
    """The user changed a buffer under review.

    Between its states `from` and `state` they replaced `count` lines after `first` others by `lines`.
    """

    path: str
    before: str = msgspec.field(name="from")
    state: str
    first: int
    count: int
    lines: list[str]


class ReviewOpen(Message):
    """Send the hunks of a file: its buffer was loaded, or the user wants to see them."""

    path: str


class PreviewOpen(Message):
    """Send the previews of a file again: the text of its buffer has changed."""

    path: str


class ReviewLoad(Message):
    """Send the changes that an earlier Neovim left to review in a directory."""

    cwd: str


class ReviewDecide(Message, tag="review"):
    """Keep or reject hunks, a file, all changes of a session, or everything; `judged` answers for many files."""

    action: Literal["keep", "reject", "mine", "theirs", "both"]
    path: str | None = None
    hunks: list[int] | None = None  #: ids; None: the whole file
    session: int | None = None
    force: bool = False  #: also reject changes that are not certain to be the agent's


class Checkpoints(Message):
    """Request the states that can be restored; `checkpoints` answers."""

    cwd: str


class RestorePlan(Message):
    """Request the effect that a restore of a checkpoint would have; `restore_plan` answers."""

    id: str
    cwd: str
    force: bool = False  #: also restore files that are not certain to be the agent's


class Restore(RestorePlan):
    """Restore the files to their state before a turn, or undo a restore or a rejection; `restored` answers."""


MESSAGES: dict[str, type[msgspec.Struct]] = {
    str(one.__struct_config__.tag): one
    for names in (globals(), vars(agent_messages), vars(mcp_messages), vars(stored_messages))
    for one in list(names.values())
    if getattr(getattr(one, "__struct_config__", None), "tag_field", None) == "message"
    and one not in (Message, SessionMessage)
}
"""The classes of all messages that Lua may send, by the names of their methods."""
