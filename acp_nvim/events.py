"""What an editor is told: everything that happened in a session, in an editor's words.

Each event becomes a map with `type` (its tag) and the fields below; members that are None are left out.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.errors import Severity
from acp_nvim.items import CallView as CallView
from acp_nvim.items import DiffItem as DiffItem
from acp_nvim.items import Item as Item
from acp_nvim.items import MediaItem as MediaItem
from acp_nvim.items import OtherItem as OtherItem
from acp_nvim.items import Place as Place
from acp_nvim.items import ResourceItem as ResourceItem
from acp_nvim.items import TerminalItem as TerminalItem
from acp_nvim.items import TextItem as TextItem
from acp_nvim.status_view import PlanStep as PlanStep
from acp_nvim.status_view import ReviewCounts as ReviewCounts
from acp_nvim.status_view import StatusView as StatusView

Why = Literal["withdrawn", "cancelled", "agent_gone"]
"""A permission request was cancelled: its agent took it back, the user gave up what it was about, or nobody waits."""

Operation = Literal["modify", "add", "delete", "rename", "mode", "binary"]


class Event(msgspec.Struct, tag_field="type", omit_defaults=True, kw_only=True):
    """Base of everything that the host tells an editor; the tag becomes the member `type`."""


class SessionEvent(Event):
    """An event of one session; `session` is the key that the editor chose."""

    session: int


class Append(SessionEvent, tag="append"):
    """More text of a message; a new `block` goes to the end of the transcript."""

    block: int
    kind: Literal["user", "agent", "thought"]
    text: str


class Replace(SessionEvent, tag="replace"):
    """The whole text of a message is another one now, or a new `block` begins with it."""

    block: int
    kind: Literal["user", "agent", "thought"]
    text: str


class ToolCall(SessionEvent, tag="tool_call"):
    """The whole state of a tool call."""

    block: int
    call: CallView


class Plan(SessionEvent, tag="plan"):
    """The whole of one plan: its entries, its `text`, or the `uri` of the file that has it. `title` is its id.

    `removed`: the agent took it back; what it was is told once more. `over`: it was of an earlier turn. The agent has
    sent so many entries more that are `left` out.
    """

    block: int
    entries: list[PlanStep]
    title: str | None = None
    text: str | None = None
    uri: str | None = None
    removed: bool = False
    over: bool = False
    left: int = 0


class Option(msgspec.Struct, omit_defaults=True):
    """One way to answer a permission request; `ours`: not the agent's, but one that we remember for the project."""

    option_id: str
    name: str
    kind: str
    ours: bool = False


class RequestView(msgspec.Struct, omit_defaults=True):
    """A permission request as it is to be shown; `id` is ours, `tool_call_id` empty when it is about no tool call.

    `command` is the whole command that it is about, byte for byte, never shortened; None when there is none, or when
    it has more than `COMMAND_SHOWN_CHARS` characters: then `content` has its beginning. `cwd` is where it would run,
    where that was said; `env` are the variables that are set for it, as `NAME=value`.
    The agent has named `locations_left` places more. `left_out`: what of all this nobody can be shown, in words; then
    `options` has only those that reject.
    """

    id: int
    tool_call_id: str
    title: str
    kind: str
    options: list[Option]
    content: list[Item]
    locations: list[Place]
    description: str | None = None
    command: str | None = None
    cwd: str | None = None
    locations_left: int = 0
    env: list[str] = []
    left_out: str | None = None


class Permission(SessionEvent, tag="permission"):
    """The agent asks for a permission and waits."""

    block: int
    request: RequestView


class PermissionDone(SessionEvent, tag="permission_done"):
    """The request was answered or withdrawn; `why` it was cancelled, if it was."""

    block: int
    id: int
    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None
    name: str | None = None
    why: Why | None = None


class Notice(SessionEvent, tag="notice"):
    """A line of ours in the transcript."""

    block: int
    level: Severity
    text: str


class Error(Event, tag="error"):
    """To be shown wherever the user is."""

    text: str
    code: str
    session: int | None = None
    agent: str | None = None


class Location(SessionEvent, tag="location"):
    """The agent works at `path` (absolute), at `line` (counted from 1) where it said one."""

    path: str
    line: int | None = None


class SessionReady(SessionEvent, tag="session_ready"):
    """The agent has opened the session `session_id`: prompts can be sent."""

    session_id: str
    agent: str


class TurnStart(SessionEvent, tag="turn_start"):
    """A turn begins: a prompt is sent to the agent, or (`background`) the agent works by itself."""

    background: bool = False


class TurnEnd(SessionEvent, tag="turn_end"):
    """The agent is done with it."""

    stop_reason: str
    background: bool = False


By = Literal["agent", "user", "unknown", "state"]
"""Who changed a file: the agent, the user, nobody knows who, or the agent, for its own records in the project."""


class FileChanged(SessionEvent, tag="file_changed", omit_defaults=False):
    """A file of the workspace was changed while the agent of the session worked.

    `why` says in words what shows who did it, e.g. "by `npm test`", or why nobody knows. `tool_call` is the id of the
    tool call that did it, where one is known.
    """

    path: str
    by: By
    operation: Operation = "modify"
    added: int = 0
    removed: int = 0
    why: str = ""
    tool_call: str | None = None


class FilesMaybeChanged(SessionEvent, tag="files_maybe_changed"):
    """The agent may have written files itself."""


class CommandView(msgspec.Struct, omit_defaults=True):
    """A slash command of the agent."""

    name: str
    description: str
    hint: str | None = None


class Commands(SessionEvent, tag="commands"):
    """All slash commands that the agent offers now, in the place of earlier ones."""

    commands: list[CommandView]


class Status(SessionEvent, tag="status"):
    """The whole status of a session."""

    status: StatusView


class Reset(SessionEvent, tag="reset"):
    """Forget what is shown of the session; all of it follows, but what another host had told (`after`)."""

    after: bool = False


class SessionRef(msgspec.Struct):
    """A session that is alive."""

    session: int
    agent: str
    cwd: str


class Ready(Event, tag="ready"):
    """The host has started, with the process id `pid`, and takes messages."""

    version: str
    pid: int
    sessions: list[SessionRef]
