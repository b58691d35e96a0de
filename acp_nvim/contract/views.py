"""Structs inside events: tool calls and their content, plans, and the status of a session."""

from __future__ import annotations

from typing import Literal

import msgspec


class FileLine(msgspec.Struct, omit_defaults=True):
    """A file, or a line in it, that a tool call names."""

    path: str
    line: int | None = None  #: 1-based


class TextItem(msgspec.Struct, tag_field="type", tag="text", omit_defaults=True):
    """A text of a tool call, or its beginning and its end."""

    text: str
    lines: int = 0  #: number of lines that were cut
    chars: int = 0  #: number of characters that were cut
    tail: str = ""  #: the last lines, after those that were cut
    exit_code: int | None = None  #: of the command that printed it, if not 0
    signal: str | None = None


class DiffItem(msgspec.Struct, tag_field="type", tag="diff", omit_defaults=True):
    """A change of a file, or one hunk of it. Without texts only the operation is shown."""

    path: str
    new_text: str
    old_text: str | None = None  #: None: the file is new, or there is no text to show
    operation: str = "modify"  #: as in the protocol; `overwrite`: a "new" file that exists; `patch`: `new_text` is one
    old_path: str | None = None  #: of a `move` or a `copy`
    line: int | None = None  #: 1-based, of the beginning of the old text
    note: str | None = None  #: why there is no text
    lines: int = 0  #: number of lines after this hunk that were cut


class TerminalItem(msgspec.Struct, tag_field="type", tag="terminal", omit_defaults=True):
    """A terminal in the content of a tool call."""

    terminal_id: str  #: the agent's
    command: str | None = None
    cwd: str | None = None
    output: str = ""  #: its output or the beginning of it, without escape codes
    lines: int = 0  #: number of lines that were cut
    tail: str = ""  #: the last lines, after those that were cut
    exit_code: int | None = None
    signal: str | None = None
    number: int = 0  #: for `terminal_open`, unique in the session; 0: it cannot be opened


class MediaItem(msgspec.Struct, tag_field="type", tag="media", omit_defaults=True):
    """An image or a sound; `call_media` writes it to a file."""

    kind: Literal["image", "audio"]
    mime_type: str
    size: int  #: bytes
    place: int  #: 0-based, among the items of the call
    uri: str | None = None


class ResourceItem(msgspec.Struct, tag_field="type", tag="resource", omit_defaults=True):
    """A resource with a URI: a link, or an embedded text."""

    uri: str
    name: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None  #: bytes
    text: str | None = None
    lines: int = 0  #: number of lines that were cut
    chars: int = 0  #: number of characters that were cut
    tail: str = ""  #: the last lines of the text, after those that were cut


class SessionItem(msgspec.Struct, tag_field="type", tag="session"):
    """A link to another session of the agent, such as that of a subagent."""

    session_id: str  #: the agent's


class OtherItem(msgspec.Struct, tag_field="type", tag="other"):
    """Any other content of a tool call, described by a label."""

    label: str


Item = TextItem | DiffItem | TerminalItem | MediaItem | ResourceItem | SessionItem | OtherItem


class CallView(msgspec.Struct, omit_defaults=True):
    """A tool call as the chat shows it."""

    id: str  #: the agent's
    title: str
    kind: str
    status: str  #: as in the protocol, or `rejected` or `unfinished` for a call that a turn left open
    content: list[Item]
    locations: list[FileLine]
    parent: str | None = None  #: id of the parent call
    depth: int = 0  #: number of ancestors
    under: str | None = None  #: title of the parent, if it is not directly above
    started: float | None = None  #: seconds since 1970; None for a call that completed at once
    ended: float | None = None  #: seconds since 1970
    locations_left: int = 0  #: number of locations that were cut


class InputMember(msgspec.Struct, omit_defaults=True):
    """A member of a tool call's input, as a permission request shows it."""

    name: str  #: with the names of the members that contain it
    text: str  #: its value, or the beginning of it
    tail: str = ""  #: the end of a value whose middle is left out
    chars: int = 0  #: of the whole value, if its middle is left out
    lines: int = 0  #: likewise


class PlanStep(msgspec.Struct):
    """One step of a plan, in the words of the protocol."""

    content: str
    status: str
    priority: str


class ReviewCounts(msgspec.Struct):
    """The changes that are still to be reviewed."""

    files: int
    added: int  #: lines
    removed: int  #: lines


class PromptTypes(msgspec.Struct):
    """Content that the agent accepts in prompts, besides texts and links."""

    image: bool
    audio: bool
    embedded_context: bool


class Usage(msgspec.Struct, omit_defaults=True):
    """The tokens in the context window, and the cost of the session."""

    used: int
    size: int
    cost: float | None = None
    currency: str | None = None
    doubtful: bool = False  #: more is used than there is: one of the two numbers is wrong


class SubagentView(msgspec.Struct, omit_defaults=True):
    """A child session, which the agent has created and works in (ACP "Subagents")."""

    session: int  #: its key
    session_id: str  #: the agent's
    title: str
    state: str  #: `running`, `waiting` (for the user), `idle`, `unknown` or `stopped` (its agent is gone)
    description: str | None = None
    stop_reason: str | None = None  #: of its last work, as in the protocol
    activity: str | None = None  #: while it works: `thinking`, `writing`, or the title of a tool call
    started: float | None = None  #: seconds since 1970, of its last work
    ended: float | None = None  #: seconds since 1970
    review: ReviewCounts | None = None  #: its changes that are still to be reviewed
    cancel: bool = False  #: it can be cancelled without its parent


class Tokens(msgspec.Struct, omit_defaults=True):
    """The tokens that the last turn has used."""

    total: int
    input: int
    output: int
    thought: int | None = None
    cached_read: int | None = None
    cached_write: int | None = None


class McpServerView(msgspec.Struct, omit_defaults=True):
    """An MCP server that the agent of a session was given."""

    name: str
    calls: dict[str, int] | None = None  #: how often the agent called each tool, if that is known


ChecksState = Literal["running", "found"]
"""State of the checks after a turn; `found`: there are problems that can be sent to the agent."""


class StatusView(msgspec.Struct, omit_defaults=True):
    """The state of a session, as `status()` returns it."""

    agent: str
    agent_title: str  #: the agent's name for people
    state: str  #: `starting`, `idle`, `running`, `background`, `waiting`, `stopped` or `failed`
    cwd: str
    pending_permissions: int  #: number of permission requests that wait for the user
    queue: int  #: number of prompts that wait
    pending_elicitations: int = 0  #: number of questions that wait for the user
    session_id: str | None = None  #: the agent's
    sign_in: str | None = None  #: `needed`, or `running` while the user signs in
    stop_reason: str | None = None  #: of the last turn
    title: str | None = None  #: of the session
    mode: str | None = None  #: id
    model: str | None = None  #: id
    mode_name: str | None = None  #: its name, if that is not its id
    model_name: str | None = None  #: its name, if that is not its id
    mode_next: str | None = None  #: name of the requested mode until it is confirmed
    model_next: str | None = None  #: name of the requested model until it is confirmed
    usage: Usage | None = None
    tokens: Tokens | None = None  #: of the last turn, if the agent reports them
    plan: list[PlanStep] | None = None  #: entries of all plans of the turn
    activity: str | None = None  #: while a turn runs: `thinking`, `writing`, or the title of a tool call
    turn_started: float | None = None  #: seconds since 1970, while a turn runs
    review: ReviewCounts | None = None
    worktree: str | None = None  #: directory of the session's own git work tree
    directories: list[str] = []  #: real paths of the directories in which the agent works
    watched: list[str] = []  #: real paths of files outside that its tool calls named, whose changes are reviewed, too
    takes: PromptTypes | None = None  #: None while no agent runs
    mcp: list[McpServerView] = []  #: the MCP servers that the agent was given
    checks: ChecksState | None = None  #: the checks after the turn: `running`, or `found`
    asleep: bool = False  #: the agent was stopped because it was idle; the next prompt starts it again
