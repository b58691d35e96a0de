"""The shapes inside of events: what tool calls show, plans, and the status of a session."""

from __future__ import annotations

from typing import Literal

import msgspec


class FileLine(msgspec.Struct, omit_defaults=True):
    """A file, or a line in it."""

    path: str
    line: int | None = None  #: 1-based


class TextItem(msgspec.Struct, tag_field="type", tag="text", omit_defaults=True):
    """Text that a tool call shows, or its beginning."""

    text: str
    lines: int = 0  #: so many follow that are not told
    chars: int = 0  #: so many follow that are not told


class DiffItem(msgspec.Struct, tag_field="type", tag="diff", omit_defaults=True):
    """A change of a file, or one hunk of it; hunks of a file follow each other.

    Without texts there is nothing to show but the operation.
    """

    path: str
    new_text: str
    old_text: str | None = None  #: None: the file is new, or there is no text to show
    operation: str = "modify"  #: `add`, `delete`, `modify`, `move`, `copy`, `patch` (`new_text` is one), or unknown
    old_path: str | None = None  #: of a `move` or a `copy`
    line: int | None = None  #: 1-based, where the old text begins
    note: str | None = None  #: why there is no text
    lines: int = 0  #: of the change that follow this hunk and are not told


class TerminalItem(msgspec.Struct, tag_field="type", tag="terminal", omit_defaults=True):
    """A terminal that a tool call shows."""

    terminal_id: str  #: the agent's
    command: str | None = None
    cwd: str | None = None
    output: str = ""  #: the end of what it printed, without escape codes
    exit_code: int | None = None
    signal: str | None = None
    number: int = 0  #: by which `terminal_open` opens it, unique in the session; 0: it cannot be opened


class MediaItem(msgspec.Struct, tag_field="type", tag="media", omit_defaults=True):
    """A picture or a sound; `call_media` writes it into a file."""

    kind: Literal["image", "audio"]
    mime_type: str
    size: int  #: bytes
    place: int  #: 0-based, among the items of the call
    uri: str | None = None


class ResourceItem(msgspec.Struct, tag_field="type", tag="resource", omit_defaults=True):
    """Something with a URI: a link, or with its text."""

    uri: str
    name: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None  #: bytes
    text: str | None = None
    lines: int = 0  #: so many follow that are not told
    chars: int = 0  #: so many follow that are not told


class OtherItem(msgspec.Struct, tag_field="type", tag="other"):
    """Anything else that a tool call shows."""

    label: str  #: in words


Item = TextItem | DiffItem | TerminalItem | MediaItem | ResourceItem | OtherItem


class CallView(msgspec.Struct, omit_defaults=True):
    """A tool call as the chat shows it."""

    id: str  #: the agent's
    title: str
    kind: str
    status: str  #: of the protocol; the host adds `rejected` and `unfinished` for calls that a turn left open
    content: list[Item]
    locations: list[FileLine]
    parent: str | None = None  #: id of the call that it is a part of
    depth: int = 0  #: how many calls are above it
    under: str | None = None  #: title of the parent, when something else stands between them
    started: float | None = None  #: seconds since 1970; None for a call that was done at once
    ended: float | None = None  #: seconds since 1970
    locations_left: int = 0  #: places that the agent named beyond `locations`


class PlanStep(msgspec.Struct):
    """One step of a plan, in the words of the protocol."""

    content: str
    status: str
    priority: str


class ReviewCounts(msgspec.Struct):
    """How much is still to be reviewed."""

    files: int
    added: int  #: lines
    removed: int  #: lines


class PromptTypes(msgspec.Struct):
    """What the agent takes in prompts beside texts and links."""

    image: bool
    audio: bool
    embedded_context: bool


class Usage(msgspec.Struct, omit_defaults=True):
    """The tokens of the context window, and what the session cost."""

    used: int
    size: int
    cost: float | None = None
    currency: str | None = None


class StatusView(msgspec.Struct, omit_defaults=True):
    """How a session stands: what `status()` returns of it."""

    agent: str
    agent_title: str  #: the agent's name for people
    state: str  #: `starting`, `idle`, `running`, `background`, `waiting`, `stopped` or `failed`
    cwd: str
    pending_permissions: int  #: permission requests that wait for you
    queue: int  #: prompts that wait
    pending_elicitations: int = 0  #: questions of the agent that wait for you
    session_id: str | None = None  #: the agent's
    sign_in: str | None = None  #: `needed`, or `running` while you sign in
    stop_reason: str | None = None  #: of the last turn
    title: str | None = None  #: of the session
    mode: str | None = None  #: id
    model: str | None = None  #: id
    mode_name: str | None = None  #: what the agent calls it, where that is not its id
    model_name: str | None = None  #: what the agent calls it, where that is not its id
    mode_next: str | None = None  #: name of the mode that was asked for and is not confirmed yet
    model_next: str | None = None  #: name of the model that was asked for and is not confirmed yet
    usage: Usage | None = None
    plan: list[PlanStep] | None = None  #: entries of all plans of the turn
    activity: str | None = None  #: while a turn runs: `thinking`, `writing`, or the title of a tool call
    turn_started: float | None = None  #: seconds since 1970, while a turn runs
    review: ReviewCounts | None = None
    worktree: str | None = None  #: directory of the git work tree that the session has for itself
    directories: list[str] = []  #: real paths of the directories in which the agent works
    takes: PromptTypes | None = None  #: None while no agent runs
    asleep: bool = False  #: the agent was stopped because nothing happened; the next prompt starts it again
