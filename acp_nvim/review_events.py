"""What an editor is told of changed files: what to review, what to go back to, what is asked for."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.events import By, Event, Operation, SessionEvent


class FileView(msgspec.Struct):
    """What was done to one file: `operation`, and lines added and removed.

    `note` says what no line shows. A renamed file was `old_path`. `by` and `why` say who did it, and what shows that.
    """

    path: str
    operation: Operation
    added: int = 0
    removed: int = 0
    old_path: str | None = None
    note: str | None = None
    by: By = "agent"
    why: str = ""


class HunkView(msgspec.Struct):
    """Rows `first` (0-based) to `first + count - 1` of a buffer stand for the lines `old`.

    The `id` stays while old and new lines are the same. A conflict's rows are the user's, and may become `theirs`.
    """

    id: int
    first: int
    count: int
    old: list[str] = []
    by: Literal["agent", "conflict"] = "agent"
    theirs: list[str] | None = None


class Review(Event, tag="review", omit_defaults=False):
    """What there is to review in a file; `none`: nothing (any more).

    `hunks` are told where a buffer is loaded, or somebody asked; they fit the buffer's `state`. `sessions` are those
    whose agents changed the file; `conflicts` counts versions that could not be merged. `by` and `why` say who changed
    the file, and what shows that; `tool_call` is the id of the last tool call that did, where one is known.
    """

    path: str
    operation: Operation | Literal["none"]
    added: int = 0
    removed: int = 0
    sessions: list[int] = msgspec.field(default_factory=list)
    hunks: list[HunkView] | None = None
    state: str | None = None
    old_path: str | None = None
    note: str | None = None
    conflicts: int = 0
    by: By = "agent"
    why: str = ""
    tool_call: str | None = None


class LeftFile(msgspec.Struct):
    """A file that was left as it is by what works on many files at once, and why in words."""

    path: str
    by: By
    why: str


class Judged(Event, tag="judged", omit_defaults=False):
    """All files of a session, or of all sessions, were kept or rejected: `files`, but for those that were `left`.

    `undo_id` is the checkpoint that takes a rejection back, "" when nothing was rejected.
    """

    action: Literal["keep", "reject"]
    files: list[str]
    left: list[LeftFile]
    undo_id: str = ""


class Summary(SessionEvent, tag="summary", omit_defaults=False):
    """The files that a turn has changed; `id` is that of its checkpoint, `time` in seconds since 1970."""

    block: int
    id: str
    time: float
    files: list[FileView]


class CheckpointView(msgspec.Struct):
    """A moment to go back to: the one before a turn; or a restore, or a rejection, that can be undone.

    `undo`: it was not undone yet, and does not undo another one.
    """

    id: str
    kind: Literal["turn", "restore", "reject"]
    time: float
    agent: str
    prompt: str
    files: list[FileView]
    session: int | None = None
    undo: bool = False


class Checkpoints(Event, tag="checkpoints", omit_defaults=False):
    """Those of a workspace, the newest first."""

    cwd: str
    list: list[CheckpointView]


class PlannedFile(FileView):
    """What a restore would do to a file; a `conflict` leaves it as it is, and the version is kept for review."""

    conflict: bool = False


class RestorePlan(Event, tag="restore_plan", omit_defaults=False):
    """What a restore would do, as a unified diff too; or why it cannot be done.

    `left` are the files that it leaves alone, because it is not proven that an agent changed them.
    """

    id: str
    files: list[PlannedFile]
    patch: str
    problem: str | None = None
    left: list[LeftFile] = msgspec.field(default_factory=list)


class Restored(Event, tag="restored", omit_defaults=False):
    """What a restore has done; `undo_id` is the checkpoint that undoes it, "" when nothing was done.

    `left` are the files that it left alone, because it is not proven that an agent changed them.
    """

    id: str
    undo_id: str
    files: list[str]
    conflicts: list[str]
    problem: str | None = None
    left: list[LeftFile] = msgspec.field(default_factory=list)


class PreviewHunk(msgspec.Struct):
    """The `count` lines after the first `first` would become `new`."""

    first: int
    count: int
    new: list[str]


class Preview(SessionEvent, tag="preview", omit_defaults=False):
    """What a permission request asks to do to a file; `exists`: there is one. `none`: nothing, any more.

    The lines are those of the file, or of `old_path`, as its buffer has them in that `state`, or else the disk. Of a
    `large` change they are told when somebody asks.
    """

    request: int
    path: str
    operation: str
    exists: bool
    hunks: list[PreviewHunk]
    state: str | None = None
    old_path: str | None = None
    note: str | None = None
    large: bool = False


class PreviewDone(SessionEvent, tag="preview_done", omit_defaults=False):
    """The request was answered or withdrawn: nothing of it is shown any more."""

    request: int
