"""What Neovim is told of a chat and its session; the base classes of all events.

Each event becomes a map with `type` (the name of its class: `ToolCall` is `tool_call`) and the fields below. Members
that are None are left out, or null. Lua's annotations and doc/development/contract.md are generated from the structs
of this package: the docstring of an event says when it is sent, the `#:` comment of a field what it holds.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from acp_nvim.errors import Severity
from acp_nvim.ui.views import CallView as CallView
from acp_nvim.ui.views import DiffItem as DiffItem
from acp_nvim.ui.views import FileLine as FileLine
from acp_nvim.ui.views import Item as Item
from acp_nvim.ui.views import MediaItem as MediaItem
from acp_nvim.ui.views import OtherItem as OtherItem
from acp_nvim.ui.views import PlanStep as PlanStep
from acp_nvim.ui.views import ResourceItem as ResourceItem
from acp_nvim.ui.views import ReviewCounts as ReviewCounts
from acp_nvim.ui.views import StatusView as StatusView
from acp_nvim.ui.views import TerminalItem as TerminalItem
from acp_nvim.ui.views import TextItem as TextItem
from acp_nvim.ui.views import Usage as Usage

Why = Literal["withdrawn", "cancelled", "agent_gone"]
"""Why a request was cancelled: its agent took it back, the user gave up what it was about, or nobody waits for it."""

Operation = Literal["modify", "add", "delete", "rename", "mode", "binary"]
"""What happened to a file; `mode`: only its permissions changed, `binary`: there are no lines to show."""

By = Literal["agent", "user", "unknown", "state"]
"""Who changed a file: the agent, the user, nobody knows who, or the agent, for its own records in the project."""


def wire_name(name: str) -> str:
    """Return what a class goes by between Neovim and the host: `ToolCall` is `tool_call`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Event(msgspec.Struct, tag_field="type", tag=wire_name, omit_defaults=True, kw_only=True):
    """Base of everything that the host tells an editor; the tag is the member `type`."""


class SessionEvent(Event):
    """What happens in one session; the editor chose its key."""

    session: int  #: its key


class Ready(Event):
    """The host has started, and takes messages; the answer to `hello`."""

    version: str
    pid: int
    sessions: list[SessionRef]  #: those that are alive, for a Lua side that was reloaded


class SessionRef(msgspec.Struct):
    """A session that is alive in the host, for an editor that has forgotten it."""

    session: int  #: its key
    agent: str
    cwd: str


class Error(Event):
    """Something failed: to be shown wherever the user is. One of a session has a `notice`, too."""

    text: str
    code: str  #: kind of failure (`acp_nvim/errors.py`)
    session: int | None = None
    agent: str | None = None


class Reset(SessionEvent):
    """Forget what is shown of the session; all of it follows."""

    after: bool = False  #: only what came after that which another host had told follows


# What the chat shows


class Append(SessionEvent):
    """More text of a message; a new `block` goes to the end of the transcript."""

    block: int
    kind: Literal["user", "agent", "thought"]
    text: str


class Replace(SessionEvent):
    """The text of a message is another one now, or a new `block` begins with it; `append` goes on from there."""

    block: int
    kind: Literal["user", "agent", "thought"]
    text: str


class ToolCall(SessionEvent):
    """A tool call was made or changed; it replaces what the block showed."""

    block: int
    call: CallView


class Plan(SessionEvent):
    """A plan was made or changed; it replaces what the block showed. It has entries, a text, or a URI."""

    block: int
    entries: list[PlanStep]
    title: str | None = None  #: its id; shown when there are several plans
    text: str | None = None
    uri: str | None = None  #: of the file that has the plan
    removed: bool = False  #: the agent took it back
    over: bool = False  #: told again: it was of an earlier turn
    left: int = 0  #: entries that the agent sent beyond these


class Option(msgspec.Struct, omit_defaults=True):
    """One way to answer a permission request."""

    option_id: str
    name: str
    kind: str  #: `allow_once`, `allow_always`, `reject_once`, `reject_always`, or another word
    ours: bool = False  #: not the agent's, but one that we remember for the project


class RequestView(msgspec.Struct, omit_defaults=True):
    """A permission request of an agent, or of the host for a file outside of the session's directories."""

    id: int  #: unique in this Neovim
    tool_call_id: str  #: empty when it is about no tool call
    title: str
    kind: str  #: of the tool call
    options: list[Option]
    content: list[Item]
    locations: list[FileLine]
    description: str | None = None
    command: str | None = None  #: all of it, byte for byte; None: none, or too long: `content` has its beginning
    cwd: str | None = None  #: where the command would run
    locations_left: int = 0  #: places that the agent named beyond `locations`
    env: list[str] = []  #: variables that are set for the command, as `NAME=value`
    left_out: str | None = None  #: what cannot be shown, in words; then `options` has only those that reject


class Permission(SessionEvent):
    """The agent asks for a permission and waits."""

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
    """A line of ours in the transcript."""

    block: int
    level: Severity
    text: str


class CallDetails(SessionEvent):
    """All that there is of a tool call; the answer to `call_details` and `transcript_call`."""

    block: int
    call: CallView  #: with all of its texts
    name: str | None = None  #: of the tool
    raw_input: str | None = None  #: JSON, for people
    raw_output: str | None = None  #: JSON, for people


class CallMedia(SessionEvent):
    """A picture or a sound of a tool call is in a file now; the answer to `call_media`."""

    path: str | None = None
    problem: str | None = None  #: why there is no file


class TerminalOutput(SessionEvent):
    """More output of a terminal that Lua has opened."""

    terminal: int
    data: bytes = b""  #: as printed
    whole: bool = False  #: it takes the place of all that was shown
    dropped: int = 0  #: bytes before it that are not kept
    exit_code: int | None = None  #: the command has ended
    signal: str | None = None  #: the command has ended by it


# How the session stands


class SessionReady(SessionEvent):
    """The agent has opened the session: prompts can be sent."""

    session_id: str  #: the agent's
    agent: str


class TurnStart(SessionEvent):
    """A turn begins: the agent works until `turn_end`."""

    background: bool = False  #: the agent works by itself, without a prompt


class TurnEnd(SessionEvent):
    """A turn has ended, and with it all that it left open."""

    stop_reason: str  #: of the protocol
    background: bool = False


class Status(SessionEvent):
    """The status of a session has changed."""

    status: StatusView


class Queue(SessionEvent, omit_defaults=False):
    """The prompts that wait and are not in the transcript yet have changed."""

    held: bool  #: none goes out by itself
    prompts: list[WaitingView]


class WaitingView(msgspec.Struct):
    """A prompt that waits in the queue of its session."""

    id: int  #: unique in this Neovim: the editor chose it when the user sent the prompt
    text: str
    context_names: list[str] = []  #: what comes along


class QueueLate(SessionEvent, omit_defaults=False):
    """The user edited prompts that were not in the queue any more: these versions are not sent."""

    prompts: list[QueuedText]


class QueuedText(msgspec.Struct, omit_defaults=True):
    """A prompt as the user wants it to wait."""

    text: str
    id: int | None = None  #: one that was never told is that of a new prompt
    context: list[dict[str, Any]] = []  #: what comes along


class PromptsTaken(SessionEvent, omit_defaults=False):
    """The editor need not keep these prompts any more: the host's journal has them, they were sent, or given up."""

    ids: list[int]
    revisions: list[int] = []  #: of each: an editor with a later one keeps that


class CommandView(msgspec.Struct, omit_defaults=True):
    """A slash command that the agent offers, as it is completed in the prompt."""

    name: str
    description: str
    hint: str | None = None  #: what to type behind it


class Commands(SessionEvent):
    """The slash commands that the agent offers have changed."""

    commands: list[CommandView]


class ValueView(msgspec.Struct, omit_defaults=True):
    """One of the values that an option can have."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None  #: those of a group stand together


class SwitchView(msgspec.Struct, omit_defaults=True):
    """An option of the agent: a mode, a model, or anything else that can be switched."""

    id: str
    name: str
    kind: str  #: `select` (one of `values`), `boolean`, or an unknown word: then it cannot be set
    category: str | None = None  #: `mode`, `model`, `model_config`, `thought_level`, or another word
    description: str | None = None
    current: str | bool | None = None
    changing: str | bool | None = None  #: what was asked for, while the agent has not answered
    values: list[ValueView] = []


class Config(SessionEvent, omit_defaults=False):
    """The options of the agent, or their values, have changed."""

    options: list[SwitchView]  #: in the agent's order


class Location(SessionEvent):
    """Where the agent works, by its tool calls and requests for files; at most one in 0.1 s for a session."""

    path: str  #: absolute
    line: int | None = None  #: 1-based


class FileChanged(SessionEvent, omit_defaults=False):
    """A file of the workspace was changed while the agent of the session worked."""

    path: str
    by: By
    operation: Operation = "modify"
    added: int = 0  #: lines, in this turn so far
    removed: int = 0  #: lines, in this turn so far
    why: str = ""  #: what shows who did it, e.g. "by `npm test`", or why nobody knows
    tool_call: str | None = None  #: id of the tool call that did it, where it is known


class FilesMaybeChanged(SessionEvent):
    """The agent may have written files itself: compare the tracked buffers with the disk."""
