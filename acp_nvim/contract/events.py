"""Events of a chat and its session for Neovim, and the base classes of all events.

Each event becomes a map with `type` (its tag, which is the name of its class if it has no other: `ToolCall` is
`tool_call`) and the fields below. Members that are None are omitted, or null. Lua's annotations and
doc/development/contract.md are generated from the structs of this package: the docstring of an event says when it is
sent, the `#:` comment of a field what it contains.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from acp_nvim.contract.views import CallView as CallView
from acp_nvim.contract.views import DiffItem as DiffItem
from acp_nvim.contract.views import FileLine as FileLine
from acp_nvim.contract.views import InputMember as InputMember
from acp_nvim.contract.views import Item as Item
from acp_nvim.contract.views import MediaItem as MediaItem
from acp_nvim.contract.views import OtherItem as OtherItem
from acp_nvim.contract.views import PlanStep as PlanStep
from acp_nvim.contract.views import ResourceItem as ResourceItem
from acp_nvim.contract.views import ReviewCounts as ReviewCounts
from acp_nvim.contract.views import SessionItem as SessionItem
from acp_nvim.contract.views import StatusView as StatusView
from acp_nvim.contract.views import SubagentView as SubagentView
from acp_nvim.contract.views import TerminalItem as TerminalItem
from acp_nvim.contract.views import TextItem as TextItem
from acp_nvim.contract.views import Usage as Usage
from acp_nvim.errors import Severity

Why = Literal["withdrawn", "cancelled", "agent_gone"]
"""Why a request was cancelled: the agent withdrew it, the user cancelled the turn, or the agent is gone."""

Operation = Literal["modify", "add", "delete", "rename", "mode", "binary"]
"""What happened to a file; `mode`: only its permissions changed, `binary`: it has no lines to show."""

By = Literal["agent", "user", "unknown", "state"]
"""Who changed a file: the agent, the user, it is not known, or the agent for its own state in the project."""


def wire_name(name: str) -> str:
    """Return the name of a class in messages between Neovim and the host: `tool_call` for `ToolCall`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Event(msgspec.Struct, tag_field="type", tag=wire_name, omit_defaults=True, kw_only=True):
    """Base of all events that the host sends to an editor; the tag is the member `type`."""


class SessionEvent(Event):
    """Base of the events of one session, whose key the editor has chosen."""

    session: int  #: its key


class Ready(Event):
    """The host has started and accepts messages; the answer to `hello`."""

    version: str
    pid: int
    sessions: list[SessionRef]  #: all open sessions, for a Lua side that was reloaded


class SessionRef(msgspec.Struct):
    """A session that is open in the host."""

    session: int  #: its key
    agent: str
    cwd: str


class Error(Event):
    """Something failed: to be shown wherever the user is. If it concerns a session, a `notice` is sent, too."""

    text: str
    code: str  #: kind of failure (`acp_nvim/errors.py`)
    session: int | None = None
    agent: str | None = None


class Reset(SessionEvent):
    """Clear the transcript of a session; all of it is sent again."""

    after: bool = False  #: only what was added after the transcript of an earlier host is sent


class Append(SessionEvent):
    """More text of a message; a new `block` goes to the end of the transcript."""

    block: int
    kind: Literal["user", "agent", "thought"]
    text: str


class Replace(SessionEvent):
    """Replace the text of a message, or begin a new `block` with it; `append` adds to it."""

    block: int
    kind: Literal["user", "agent", "thought"]
    text: str


class ToolCall(SessionEvent):
    """A tool call was created or changed; it replaces what the block shows."""

    block: int
    call: CallView


class Plan(SessionEvent):
    """A plan was created or changed; it replaces what the block shows. It has entries, a text, or a URI."""

    block: int
    entries: list[PlanStep]
    title: str | None = None  #: its id; shown if there are several plans
    text: str | None = None
    uri: str | None = None  #: of the file with the plan
    removed: bool = False  #: the agent has withdrawn it
    over: bool = False  #: its turn has ended: steps that are left open are not finished
    left: int = 0  #: number of entries that were cut


class Subagent(SessionEvent):
    """A child session was created or changed; it replaces what the block of its parent `session` shows."""

    block: int  #: 0: the transcript of the parent does not show it
    subagent: SubagentView


class SubagentForgotten(SessionEvent):
    """A child session is not kept any more: there were too many, and it was idle. Its block stays."""

    subagent: int  #: the key of the child session


class Option(msgspec.Struct, omit_defaults=True):
    """One of the answers to a permission request."""

    option_id: str
    name: str
    kind: str  #: `allow_once`, `allow_always`, `reject_once`, `reject_always`, or an unknown kind
    ours: bool = False  #: added by the host, which stores it for the project


class RequestView(msgspec.Struct, omit_defaults=True):
    """A permission request of an agent, or of the host for a file outside of the session's directories."""

    id: int  #: unique in this Neovim
    tool_call_id: str  #: empty if the request is not about a tool call
    title: str
    kind: str  #: of the tool call
    options: list[Option]
    content: list[Item]
    locations: list[FileLine]
    description: str | None = None
    command: str | None = None  #: complete; None: there is none, or it is too long (`content` has its beginning)
    cwd: str | None = None  #: where the command would run
    locations_left: int = 0  #: number of locations that were cut
    env: list[str] = []  #: variables that are set for the command, as `NAME=value`
    left_out: str | None = None  #: describes what cannot be shown; `options` then has only those that reject
    remarks: list[str] = []  #: what the host says of it: rights, members of unknown meaning, where paths lead
    input: list[InputMember] = []  #: what its tool call's input says beside all of the above


class Permission(SessionEvent):
    """The agent requests a permission, and waits for the answer."""

    block: int
    request: RequestView


class PermissionDone(SessionEvent):
    """A permission request was answered or withdrawn."""

    block: int
    id: int  #: of the request
    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None
    name: str | None = None  #: of the option
    why: Why | None = None


class Notice(SessionEvent):
    """A line of the host in the transcript."""

    block: int
    level: Severity
    text: str


class CallDetailsListed(SessionEvent, tag="call_details"):
    """All details of a tool call; the answer to `call_details` and `transcript_call`."""

    block: int
    call: CallView  #: with complete texts
    name: str | None = None  #: of the tool
    raw_input: str | None = None  #: formatted JSON
    raw_output: str | None = None  #: formatted JSON


class CallMediaWritten(SessionEvent, tag="call_media"):
    """An image or a sound of a tool call was written to a file; the answer to `call_media`."""

    path: str | None = None
    problem: str | None = None  #: why no file was written


class TerminalOutput(SessionEvent):
    """Output of a terminal that Lua has opened."""

    terminal: int
    data: bytes = b""  #: as printed
    whole: bool = False  #: it replaces all output shown before
    dropped: int = 0  #: number of bytes before it that were dropped
    exit_code: int | None = None  #: the command has ended
    signal: str | None = None  #: the command was ended by it


class SessionReady(SessionEvent):
    """The agent has opened the session, and prompts can be sent."""

    session_id: str  #: the agent's
    agent: str


class TurnStart(SessionEvent):
    """A turn begins, and lasts until `turn_end`."""

    background: bool = False  #: the agent works without a prompt
    of_checks: bool = False  #: its prompt tells what the checks have found after the last turn


class TurnEnd(SessionEvent):
    """A turn has ended, together with all tool calls and requests that it left open."""

    stop_reason: str  #: as in the protocol
    background: bool = False
    empty: bool = False  #: the agent has said and done nothing


class Status(SessionEvent):
    """The status of a session has changed."""

    status: StatusView


class Queue(SessionEvent, omit_defaults=False):
    """The queue has changed: the prompts that wait and are not in the transcript yet."""

    held: bool  #: none is sent automatically
    prompts: list[WaitingView]


class WaitingView(msgspec.Struct):
    """A prompt that waits in the queue of its session."""

    id: int  #: unique in this Neovim: the editor chose it when the user sent the prompt
    text: str
    context_names: list[str] = []  #: names of the attached context items


class QueueLate(SessionEvent, omit_defaults=False):
    """The user edited prompts that were not in the queue any more; these versions are not sent."""

    prompts: list[QueuedText]


class QueuedText(msgspec.Struct, omit_defaults=True):
    """A queued prompt as the user has edited it."""

    text: str
    id: int | None = None  #: an unknown id belongs to a new prompt
    context: list[dict[str, Any]] = []  #: the attached context items


class PromptsTaken(SessionEvent, omit_defaults=False):
    """The editor can forget these prompts: they are in the host's journal, were sent, or were dropped."""

    ids: list[int]
    revisions: list[int] = []  #: of each prompt; an editor with a later revision keeps it


class CommandView(msgspec.Struct, omit_defaults=True):
    """A slash command of the agent, as completed in the prompt."""

    name: str
    description: str
    hint: str | None = None  #: what to type after it


class Commands(SessionEvent):
    """The slash commands of the agent have changed."""

    commands: list[CommandView]


class PromptSuggestion(SessionEvent):
    """The agent suggests the next prompt. It is offered until a turn begins, and is no part of the conversation."""

    text: str  #: one line; empty: the suggestion is withdrawn


class ValueView(msgspec.Struct, omit_defaults=True):
    """One of the possible values of an option."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None  #: values of a group are listed together


class SwitchView(msgspec.Struct, omit_defaults=True):
    """A configuration option of the agent: a mode, a model, or anything else."""

    id: str
    name: str
    kind: str  #: `select` (one of `values`), `boolean`, or an unknown kind, which cannot be set
    category: str | None = None  #: `mode`, `model`, `model_config`, `thought_level`, or an unknown category
    description: str | None = None
    current: str | bool | None = None
    changing: str | bool | None = None  #: the requested value until the agent has answered
    values: list[ValueView] = []


class Config(SessionEvent, omit_defaults=False):
    """The options of the agent, or their values, have changed."""

    options: list[SwitchView]  #: in the agent's order


class Location(SessionEvent):
    """Where the agent works, by its tool calls and file requests; sent at most once in 0.1 s for a session."""

    path: str  #: absolute
    line: int | None = None  #: 1-based


class FileChanged(SessionEvent, omit_defaults=False):
    """A file of the workspace was changed while the agent of the session worked."""

    path: str
    by: By
    operation: Operation = "modify"
    added: int = 0  #: number of lines in this turn so far
    removed: int = 0  #: number of lines in this turn so far
    why: str = ""  #: the evidence for `by`, e.g. "by `npm test`", or why it is unknown
    tool_call: str | None = None  #: id of the tool call that changed it, if known


class FilesMaybeChanged(SessionEvent):
    """The agent may have written files directly: compare the tracked buffers with the disk."""
