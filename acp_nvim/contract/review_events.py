"""Events of changed files: reviews, checkpoints, and previews of permission requests."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.contract.events import By, Event, Operation, SessionEvent


class FileView(msgspec.Struct):
    """The change of one file, or the rename of a directory (its paths end with a slash), and who made it."""

    path: str
    operation: Operation

    added: int = 0  #: number of lines
    removed: int = 0  #: number of lines
    old_path: str | None = None  #: of a renamed file
    note: str | None = None  #: what the lines do not show
    by: By = "agent"
    why: str = ""  #: the evidence for `by`, or why it is unknown


class HunkView(msgspec.Struct):
    """Changed rows of a buffer, and the old lines."""

    id: int  #: stable while the old and new lines are the same
    first: int  #: 0-based row
    count: int  #: rows; 0: lines were removed before `first`
    old: list[str] = []  #: lines
    by: Literal["agent", "conflict"] = "agent"  #: `conflict`: the rows are the user's; `theirs` are the alternative
    theirs: list[str] | None = None  #: lines of the other version


class Review(Event, omit_defaults=False):
    """The changes to review in a file have changed, or the rename of a directory (its paths end with a slash).

    With `none` and `hunks` nothing is left to review, but the buffer is still tracked, in case of an undo.
    """

    path: str
    operation: Operation | Literal["none"]  #: `none`: nothing is left to review

    added: int = 0  #: number of lines
    removed: int = 0  #: number of lines
    sessions: list[int] = msgspec.field(default_factory=list)  #: keys of the sessions whose agents changed the file
    hunks: list[HunkView] | None = None  #: sent if a buffer is loaded, or on request
    state: str | None = None  #: state of the buffer that the hunks belong to
    old_path: str | None = None  #: of a renamed file
    note: str | None = None  #: what the lines do not show
    conflicts: int = 0  #: number of versions that could not be merged
    by: By = "agent"
    why: str = ""  #: the evidence for `by`, or why it is unknown
    tool_call: str | None = None  #: id of the last tool call that changed it, if known


class LeftFile(msgspec.Struct):
    """A file that an operation on many files has skipped."""

    path: str
    by: By
    why: str  #: it was skipped


class Decisions(SessionEvent, omit_defaults=False):
    """What the agent is told with the next prompt of the user's decisions about its changes."""

    words: str  #: such as "2 rejected, 1 kept"; empty: nothing


class Judged(Event, omit_defaults=False):
    """All files of a session, or of all sessions, were kept or rejected; the answer to `review` for many files."""

    action: Literal["keep", "reject"]
    files: list[str]  #: paths
    left: list[LeftFile]
    undo_id: str = ""  #: of the checkpoint that undoes a rejection; empty if nothing was rejected


class Summary(SessionEvent, omit_defaults=False):
    """The files that a turn has changed, shown at its end."""

    block: int
    id: str  #: of the checkpoint
    time: float  #: seconds since 1970
    files: list[FileView]


class CheckpointView(msgspec.Struct):
    """A state that can be restored: before a turn; or a restore or a rejection that can be undone."""

    id: str
    kind: Literal["turn", "restore", "reject"]
    time: float  #: seconds since 1970
    agent: str
    prompt: str
    files: int  #: number of them
    added: int  #: number of lines
    removed: int  #: number of lines
    session: int | None = None
    undo: bool = False  #: for a restore or a rejection: it was not undone yet, and is not an undo itself
    is_undo: bool = False  #: for a restore: it has undone another one, or a rejection


class CheckpointsListed(Event, tag="checkpoints", omit_defaults=False):
    """The checkpoints of a workspace; the answer to `checkpoints`."""

    cwd: str
    checkpoints: list[CheckpointView]  #: the newest first


class ReviewLoaded(Event, omit_defaults=False):
    """All changes that were left to review were sent, or could not be read; the answer to `review_load`."""

    cwd: str


class ReviewCollecting(Event, omit_defaults=False):
    """The changes of a turn that is over are still being collected: what the user has asked for waits for them.

    Precedes the answer to `checkpoints`, `review_load`, and `review` for many files.
    """

    cwd: str | None = None  #: None: of any workspace


ReviewWork = Literal["collecting", "checking", "keeping", "rejecting", "planning", "restoring"]
"""What is done with many files. `checking`: they are read before they are rejected; `planning`: before a restore."""


class ReviewProgress(Event, omit_defaults=False):
    """How far the changes of a turn that is over are collected, or a decision about many files is carried out.

    Sent when a turn ends, and repeatedly; of a decision only if it takes long.
    """

    what: ReviewWork
    session: int | None = None  #: key of the session whose turn is over; None: a decision of the user
    done: int = 0  #: number of files
    total: int = 0  #: number of files; 0 if unknown
    seconds: float = 0.0  #: since it began
    is_over: bool = False  #: nothing more is sent of it


class PlannedFile(FileView):
    """The effect that a restore would have on a file."""

    conflict: bool = False  #: the file is not changed, and the restored version is kept for review


class RestorePlanned(Event, tag="restore_plan", omit_defaults=False):
    """The effect that a restore would have; the answer to `restore_plan`."""

    id: str  #: of the checkpoint
    files: list[PlannedFile]
    patch: str  #: a unified diff
    problem: str | None = None  #: why it is not possible
    left: list[LeftFile] = msgspec.field(default_factory=list)  #: skipped: not certainly changed by an agent


class Restored(Event, omit_defaults=False):
    """The effect of a restore; the answer to `restore`."""

    id: str  #: of the checkpoint
    undo_id: str  #: of the checkpoint that undoes it; empty if nothing was changed
    files: list[str]  #: paths
    conflicts: list[str]  #: paths
    problem: str | None = None  #: why it was not done
    left: list[LeftFile] = msgspec.field(default_factory=list)  #: skipped: not certainly changed by an agent


class PreviewHunk(msgspec.Struct):
    """The change of some lines that a permission request asks for."""

    first: int  #: number of lines before it
    count: int  #: number of lines that would be removed
    new: list[str]  #: lines that would be inserted


class Preview(SessionEvent, omit_defaults=False):
    """The change of a file that a waiting permission request asks for."""

    request: int  #: its id
    path: str
    operation: str  #: `none`: no change any more
    exists: bool  #: the file exists
    hunks: list[PreviewHunk]  #: of the lines of the file, or of `old_path`
    state: str | None = None  #: state of the buffer with these lines; None: they are those on the disk
    old_path: str | None = None
    note: str | None = None  #: what the lines do not show
    large: bool = False  #: the hunks are sent after a `preview_open`


class PreviewDone(SessionEvent, omit_defaults=False):
    """A request with previews was answered or withdrawn: remove its previews."""

    request: int  #: its id
