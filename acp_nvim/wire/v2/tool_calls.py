"""Tool calls, what they hold, and terminals (version 2)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET

from acp_nvim.limits import wire as limits
from acp_nvim.wire.base import Maybe, Omittable, Unknown, Wire, require
from acp_nvim.wire.bounds import Argument, DiffText, Id, Name, Output, Path, Title, Untyped, Word, cut
from acp_nvim.wire.facts import Content, Terminal, ToolCallLocation

# --- diffs ----------------------------------------------------------------------------------------------------------


class DiffChangeFacts(Wire):
    """What all changes of a diff have."""

    file_type: Maybe[Word] = UNSET
    mime_type: Maybe[Word] = UNSET


class DiffPathChange(DiffChangeFacts, kw_only=True):
    """A change of one file; subclasses say which."""

    path: Path


class DiffAdd(DiffPathChange, tag_field="operation", tag="add"):
    """A new file."""


class DiffDelete(DiffPathChange, tag_field="operation", tag="delete"):
    """A file that goes."""


class DiffModify(DiffPathChange, tag_field="operation", tag="modify"):
    """Other contents of a file."""


class DiffPathPairChange(DiffChangeFacts, kw_only=True):
    """A change from one file to another; subclasses say which."""

    old_path: Path
    path: Path


class DiffMove(DiffPathPairChange, tag_field="operation", tag="move"):
    """Another name, perhaps other contents."""


class DiffCopy(DiffPathPairChange, tag_field="operation", tag="copy"):
    """A file made from another."""


class UnknownDiffChange(Unknown, tag_field="operation"):
    """A change of a kind that we do not know."""


DiffChange: TypeAlias = DiffAdd | DiffDelete | DiffModify | DiffMove | DiffCopy | UnknownDiffChange


class DiffPatch(Wire):
    """The changes as a text; `format` is "git_patch" or a word that we do not know."""

    format: Word
    text: DiffText


class Diff(Wire, tag_field="type", tag="diff"):
    """Content of a tool call: changes of files, with `patch` or without.

    Some agents send version 1's `path`, `old_text` and `new_text` instead of `changes`.
    """

    changes: Omittable[Annotated[list[DiffChange], cut(limits.DIFF_CHANGES)]] = UNSET
    patch: Maybe[DiffPatch] = UNSET
    path: Omittable[Path] = UNSET
    old_text: Maybe[DiffText] = UNSET
    new_text: Omittable[DiffText] = UNSET

    def __post_init__(self) -> None:
        if self.path is UNSET or self.new_text is UNSET:
            require(self.changes, "changes")


# --- tool calls -----------------------------------------------------------------------------------------------------


class UnknownToolCallContent(Unknown):
    """Content of a tool call of a kind that we do not know."""


ToolCallContent: TypeAlias = Content | Diff | Terminal | UnknownToolCallContent


class ToolCallCancelCapabilities(Wire):
    """The tool call takes `tool_call/cancel`."""


class ToolCallCapabilities(Wire):
    """What can be done with a tool call."""

    cancel: Maybe[ToolCallCancelCapabilities] = UNSET


class ToolCallUpdateFields(Wire):
    """`ToolCallUpdate` where it is no update: in a permission request."""

    tool_call_id: Id
    name: Maybe[Name] = UNSET
    title: Maybe[Title] = UNSET
    kind: Maybe[Word] = UNSET
    status: Maybe[Word] = UNSET
    content: Maybe[Annotated[list[ToolCallContent], cut(limits.CONTENT_ITEMS)]] = UNSET
    locations: Maybe[Annotated[list[ToolCallLocation], cut(limits.LOCATIONS)]] = UNSET
    raw_input: Untyped = UNSET
    raw_output: Untyped = UNSET
    capabilities: Maybe[ToolCallCapabilities] = UNSET


class ToolCallUpdate(ToolCallUpdateFields, tag_field="sessionUpdate", tag="tool_call_update"):
    """A tool call or news of it: what it does not mention stays, null takes something away."""


class ToolCallContentChunk(Wire, tag_field="sessionUpdate", tag="tool_call_content_chunk"):
    """One more item of what a tool call holds."""

    tool_call_id: Id
    content: ToolCallContent


# --- terminals ------------------------------------------------------------------------------------------------------


class TerminalOutput(Wire):
    """Everything a terminal has shown; `data` is base64."""

    data: Output


class TerminalExitStatus(Wire):
    """How the command ended."""

    exit_code: Maybe[int] = UNSET
    signal: Maybe[Word] = UNSET


class TerminalSize(Wire):
    """How many characters fit."""

    cols: int
    rows: int


class TerminalCancelCapabilities(Wire):
    """The terminal takes `terminal/cancel`."""


class TerminalCapabilities(Wire):
    """What can be done with a terminal."""

    cancel: Maybe[TerminalCancelCapabilities] = UNSET


class TerminalUpdate(Wire, tag_field="sessionUpdate", tag="terminal_update"):
    """A terminal of the agent or news of it: what it does not mention stays, null takes something away."""

    terminal_id: Id
    command: Maybe[Argument] = UNSET
    cwd: Maybe[Path] = UNSET
    output: Maybe[TerminalOutput] = UNSET
    exit_status: Maybe[TerminalExitStatus] = UNSET
    size: Maybe[TerminalSize] = UNSET
    capabilities: Maybe[TerminalCapabilities] = UNSET


class TerminalOutputChunk(Wire, tag_field="sessionUpdate", tag="terminal_output_chunk"):
    """More that a terminal shows; `data` is base64, cut anywhere."""

    terminal_id: Id
    data: Output
