"""What Neovim is told of changed files: what to review, what to go back to, what is asked for."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.ui.events import By, Event, Operation, SessionEvent


class FileView(msgspec.Struct):
    """What was done to one file, and who did it."""

    path: str
    operation: Operation
    added: int = 0  #: lines
    removed: int = 0  #: lines
    old_path: str | None = None  #: of a renamed file
    note: str | None = None  #: what no line shows
    by: By = "agent"
    why: str = ""  #: what shows who did it, or why nobody knows


class HunkView(msgspec.Struct):
    """Some rows of a buffer, and what was there before."""

    id: int  #: stays while old and new lines are the same
    first: int  #: 0-based row
    count: int  #: rows; 0: lines were removed before `first`
    old: list[str] = []  #: lines
    by: Literal["agent", "conflict"] = "agent"  #: `conflict`: the rows are the user's, and may become `theirs`
    theirs: list[str] | None = None  #: lines of the other version


class Review(Event, omit_defaults=False):
    """What there is to review in a file has changed.

    `none` with `hunks` says that nothing is left, and the buffer stays under observation, for an undo.
    """

    path: str
    operation: Operation | Literal["none"]  #: `none`: nothing is left to review
    added: int = 0  #: lines
    removed: int = 0  #: lines
    sessions: list[int] = msgspec.field(default_factory=list)  #: keys of those whose agents changed the file
    hunks: list[HunkView] | None = None  #: told where a buffer is loaded, or somebody asked
    state: str | None = None  #: of the buffer that the hunks are of
    old_path: str | None = None  #: of a renamed file
    note: str | None = None  #: what no line shows
    conflicts: int = 0  #: versions that could not be merged
    by: By = "agent"
    why: str = ""  #: what shows who did it, or why nobody knows
    tool_call: str | None = None  #: id of the last tool call that changed it, where it is known


class LeftFile(msgspec.Struct):
    """A file that was left as it is by what works on many files at once."""

    path: str
    by: By
    why: str  #: it was left


class Judged(Event, omit_defaults=False):
    """All files of a session, or of all sessions, were kept or rejected; the answer to `review` for many files."""

    action: Literal["keep", "reject"]
    files: list[str]  #: paths
    left: list[LeftFile]
    undo_id: str = ""  #: of the checkpoint that takes a rejection back; empty when nothing was rejected


class Summary(SessionEvent, omit_defaults=False):
    """A turn has changed files: what the chat shows at its end."""

    block: int
    id: str  #: of the checkpoint
    time: float  #: seconds since 1970
    files: list[FileView]


class CheckpointView(msgspec.Struct):
    """A moment to go back to: the one before a turn; or a restore, or a rejection, that can be undone."""

    id: str
    kind: Literal["turn", "restore", "reject"]
    time: float  #: seconds since 1970
    agent: str
    prompt: str
    files: list[FileView]
    session: int | None = None
    undo: bool = False  #: of a restore or a rejection: it was not undone yet, and does not undo another one


class Checkpoints(Event, omit_defaults=False):
    """The checkpoints of a workspace; the answer to `checkpoints`."""

    cwd: str
    checkpoints: list[CheckpointView]  #: the newest first


class ReviewLoaded(Event, omit_defaults=False):
    """All that was left to review there was told, or could not be; the answer to `review_load`."""

    cwd: str


class PlannedFile(FileView):
    """What a restore would do to a file."""

    conflict: bool = False  #: it is left as it is, and the version is kept for review


class RestorePlan(Event, omit_defaults=False):
    """What a restore would do; the answer to `restore_plan`."""

    id: str  #: of the checkpoint
    files: list[PlannedFile]
    patch: str  #: a unified diff
    problem: str | None = None  #: why it cannot be done
    left: list[LeftFile] = msgspec.field(default_factory=list)  #: not proven to be an agent's


class Restored(Event, omit_defaults=False):
    """What a restore has done; the answer to `restore`."""

    id: str  #: of the checkpoint
    undo_id: str  #: of the checkpoint that undoes it; empty when nothing was done
    files: list[str]  #: paths
    conflicts: list[str]  #: paths
    problem: str | None = None  #: why it was not done
    left: list[LeftFile] = msgspec.field(default_factory=list)  #: not proven to be an agent's


class PreviewHunk(msgspec.Struct):
    """What a permission request asks to do to some lines."""

    first: int  #: so many lines stand before it
    count: int  #: lines that would go
    new: list[str]  #: lines that would come


class Preview(SessionEvent, omit_defaults=False):
    """What a waiting permission request asks to do to a file."""

    request: int  #: its id
    path: str
    operation: str  #: `none`: nothing, any more
    exists: bool  #: there is such a file
    hunks: list[PreviewHunk]  #: of the lines of the file, or of `old_path`
    state: str | None = None  #: of the buffer that has these lines; None: the disk has them
    old_path: str | None = None
    note: str | None = None  #: what no line shows
    large: bool = False  #: the hunks are told after a `preview_open`


class PreviewDone(SessionEvent, omit_defaults=False):
    """A request with previews was answered or withdrawn: show nothing of it any more."""

    request: int  #: its id
