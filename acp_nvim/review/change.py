"""A file under review: its accepted and its current content, as the editor shows them and as checkpoints store them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from typing import Final

import msgspec

from acp_nvim.review.conflict_blocks import ConflictBlock, conflict_blocks
from acp_nvim.review.contents import NOT_STORED, Content, Contents, is_stored
from acp_nvim.review.evidence import Observation, Verdict
from acp_nvim.review.reviewed_text import ReviewedText
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.ui.editor import TextChange
from acp_nvim.ui.events import By, Operation
from acp_nvim.ui.review_events import HunkView, Review
from acp_nvim.workspace.conflicts import Conflict
from acp_nvim.workspace.text_shape import lines_with_ends
from acp_nvim.workspace.unified_diff import unified_hunks

PATCH_LINES: Final = 2000
"""Lines shown of what a restore would do to one file."""


class Change:
    """The change of a file from `base` to `current` (None: no file); the user's edits meanwhile go into both.

    While `text` is set it is newer than the two blobs, until `store_texts`.
    """

    def __init__(self, path: str, before: Content, old_path: str | None = None) -> None:
        self.path = path
        self.old_path = old_path
        self.base: Blob | None = before.blob
        self.current: Blob | None = before.blob
        self.encoding = before.encoding
        self.text = None if before.text is None else ReviewedText(before.text, before.text)
        self.is_loaded = before.text is not None
        self.counts: tuple[int, int] | None = None
        self.verdict = Verdict("agent", "")
        """Who made the change; "unknown" if that is unknown of any part of it."""
        self.doubts: list[Observation] = []
        """Observations of unknown origin, which are judged again when there is more evidence."""
        self.is_all_doubt = False
        """True if the whole change is of unknown origin."""

    @property
    def operation(self) -> Operation | None:
        """What was done to the file as a whole; None if it is unchanged."""
        if self.old_path is not None:
            return "rename"
        if self.base is None or self.current is None:
            return None if self.base is self.current else "add" if self.base is None else "delete"
        if not self._is_same():
            return "modify" if self.text is not None or not self.is_loaded else "binary"
        return "mode" if self.base.mode != self.current.mode else None

    def _is_same(self) -> bool:
        if self.text is not None:
            return not self.text.hunks and self.text.shape is None
        return self.base is not None and self.current is not None and self.base.oid == self.current.oid

    @property
    def added(self) -> int:
        """The number of added lines; 0 if it is unknown."""
        return self.text.added if self.text is not None else self.counts[0] if self.counts else 0

    @property
    def removed(self) -> int:
        """The number of removed lines; 0 if it is unknown."""
        return self.text.removed if self.text is not None else self.counts[1] if self.counts else 0

    @property
    def note(self) -> str | None:
        """Changes that no hunk shows, in words: modes, line ends, contents that are not stored; else None."""
        notes = [] if self.text is None or self.text.shape is None else [self.text.shape]
        is_kept = all(is_stored(blob) for blob in (self.base, self.current) if blob is not None)
        if is_kept and self.base is not None and self.current is not None and self.base.mode != self.current.mode:
            notes.append(_mode_words(self.base.mode, self.current.mode))
        if not is_kept:
            notes.append(f"{NOT_STORED}: cannot be rejected")
        elif self.text is None and self.is_loaded and not self._is_same():
            notes.append("no text, or too much of it: reviewed as a whole")
        return ", ".join(notes) or None

    def attribute(self, verdict: Verdict, seen: Observation | None = None) -> None:
        """Attribute the next change of the file to `verdict`; `seen` is the observation it was judged by."""
        if self.operation is None:
            self.verdict, self.doubts, self.is_all_doubt = verdict, [], verdict.by == "unknown"
        elif verdict.by != "state" and self.verdict.by != "unknown":
            self.verdict = verdict
        self.is_all_doubt = self.is_all_doubt and verdict.by == "unknown"
        if verdict.by == "unknown" and seen is not None:
            self.doubts.append(seen)

    async def load(self, contents: Contents) -> None:
        """Load the texts, if the file is text. Raises `SnapshotError` if they are lost."""
        if self.is_loaded:
            return
        old = await contents.load(self.old_path or self.path, self.base, self.encoding)
        new = await contents.load(self.path, self.current, self.encoding)
        self.is_loaded = True
        if old.text is not None and new.text is not None:
            self.encoding = (old if new.blob is None else new).encoding
            self.text = ReviewedText(old.text, new.text)

    def apply_agent(self, after: Content, change: TextChange | None = None) -> None:
        """Apply an agent's change to `after`, which must have its text if `text` is set.

        `change` leads from the present text to that of `after`, if it is known.
        """
        self._take(after)
        if self.text is not None:
            self.text.apply_agent(after.text_or_empty, change)

    def apply_user(self, after: Content) -> None:
        """Apply a user's change to `after`; the texts must be loaded."""
        before = self.current
        self._take(after)
        if self.text is None or after.blob is None:
            self.base = after.blob
            self.text = None if self.text is None else ReviewedText(after.text_or_empty, after.text_or_empty)
            self.old_path = None
            return
        self.text.apply_user(after.text_or_empty)
        if self.base is None and self.text.base:
            self.base = after.blob  # the new file has lines of the user's own
        elif self.base is not None and before is not None and before.mode != after.blob.mode:
            self.base = Blob(self.base.oid, after.blob.mode)

    def _take(self, after: Content) -> None:
        self.current = after.blob
        self.counts = None
        if self.is_loaded and after.blob is not None:
            self.encoding = after.encoding
            if after.text is None:
                self.text = None

    def rebase(self, before: Content) -> None:
        """Correct the base, which was assumed wrongly."""
        self.base = before.blob
        if self.text is not None:
            self.text = ReviewedText(before.text_or_empty, self.text.current)

    def store_texts(self, contents: Contents) -> None:
        """Store the texts in `contents`, and update both blobs."""
        if self.text is None:
            return
        if self.base is not None:
            self.base = contents.put_text(self.path, self.text.base, self.encoding, self.base.mode).blob
        if self.current is not None:
            self.current = contents.put_text(self.path, self.text.current, self.encoding, self.current.mode).blob

    def current_content(self) -> Content:
        """Return the present content, with its text if that is loaded."""
        return Content(self.current, None if self.text is None else self.text.current, self.encoding)

    def base_content(self) -> Content:
        """Return the accepted content, with its text if that is loaded."""
        return Content(self.base, None if self.text is None else self.text.base, self.encoding)

    def patch(self, root: str) -> str:
        """Return the change as a unified diff of at most `PATCH_LINES`, with paths relative to `root`."""
        old = "/dev/null" if self.base is None else f"a/{os.path.relpath(self.old_path or self.path, root)}"
        new = "/dev/null" if self.current is None else f"b/{os.path.relpath(self.path, root)}"
        lines = [f"--- {old}", f"+++ {new}"]
        if self.text is None:
            lines.append(self.note or "no text")
        else:
            hunks = unified_hunks(lines_with_ends(self.text.base), lines_with_ends(self.text.current))
            lines += [line.rstrip("\r\n") for line in hunks]
        if len(lines) > PATCH_LINES:
            lines[PATCH_LINES:] = [f"... {len(lines) - PATCH_LINES} more lines"]
        return "".join(f"{line}\n" for line in lines)


def _mode_words(old: int, new: int) -> str:
    if {old, new} == {0o100644, 0o100755}:
        return "executable now" if new == 0o100755 else "not executable any more"
    return f"mode {old:o} -> {new:o}"


class ReviewState(msgspec.Struct, frozen=True):
    """The review of a file before a rejection: its base, the sessions whose agents changed it, and the verdict."""

    base: Blob | None
    sessions: list[int]
    old_path: str | None = None
    by: By = "agent"
    why: str = ""


class ChangeRecord(msgspec.Struct, frozen=True):
    """A change of a file as a checkpoint stores it."""

    path: str
    before: Blob | None
    after: Blob | None
    added: int = 0
    removed: int = 0
    old_path: str | None = None
    note: str | None = None
    operation: Operation = "modify"
    by: By = "agent"
    why: str = ""
    review: ReviewState | None = None
    """The review that this change ended, if it was a rejection."""


class Entry(Change):
    """A file under review. `on_disk` is what was last found on disk, `state` its buffer's state (None: no buffer)."""

    def __init__(self, path: str, before: Content, old_path: str | None = None) -> None:
        super().__init__(path, before, old_path)
        self.sessions: set[int] = set()
        self.on_disk: Blob | None = before.blob
        self.state: str | None = None
        self.is_wanted = False
        self.is_guessed = False  # the base is a guess, because no snapshot had the file
        self.conflict: Conflict | None = None
        self._ids: dict[tuple[int, tuple[str, ...], tuple[str, ...]], int] = {}

    @property
    def is_over(self) -> bool:
        """True if nothing is left to review: neither a change nor a conflict."""
        return self.operation is None and self.conflict is None

    def review(self) -> Review:
        """Return the event for the editor; it has hunks only while the file is shown."""
        is_shown = (self.state is not None or self.is_wanted) and self.is_loaded
        blocks = self.blocks()
        return Review(
            path=self.path,
            operation=self.operation or ("modify" if self.conflict is not None else "none"),
            added=self.added,
            removed=self.removed,
            sessions=sorted(self.sessions),
            hunks=list(self._hunks(blocks)) if is_shown else None,
            state=self.state,
            old_path=self.old_path,
            note=self.note,
            conflicts=len(blocks),
            by=self.verdict.by,
            why=self.verdict.why,
            tool_call=self.verdict.tool_call,
        )

    def append(self, later: Entry) -> None:
        """Add a later change of the same file. What is between the two is the user's. The texts of both are loaded."""
        if self.text is not None or self.current != later.base:
            self.apply_user(later.base_content())
        self.attribute(later.verdict)
        self.apply_agent(later.current_content())
        self.doubts += later.doubts
        self.sessions |= later.sessions
        self.on_disk, self.state, self.conflict = later.on_disk, later.state, later.conflict

    def blocks(self) -> dict[int, ConflictBlock]:
        """Return the undecided blocks of a failed merge by id; an id stays the same as long as the lines do."""
        if self.conflict is None or self.text is None:
            return {}
        found: dict[int, ConflictBlock] = {}
        ids, self._ids = self._ids, {}
        for block in conflict_blocks(self.conflict.base, self.text.current, self.conflict.theirs):
            for turn in count():
                key = (turn, tuple(block.mine), tuple(block.theirs))
                if key not in self._ids:
                    break
            self._ids[key] = ids.get(key) or next(_conflict_ids)
            found[self._ids[key]] = block
        return found

    def review_state(self) -> ReviewState:
        """Return the present review, for the record of a rejection."""
        return ReviewState(self.base, sorted(self.sessions), self.old_path, self.verdict.by, self.verdict.why)

    def _hunks(self, conflicts: dict[int, ConflictBlock]) -> Iterator[HunkView]:
        if self.text is not None:
            for hunk in self.text.hunks:
                block = hunk.block
                yield HunkView(hunk.id, block.j1, block.j2 - block.j1, self.text.old_lines(hunk))
        for number, one in conflicts.items():
            yield HunkView(number, one.first, one.count, by="conflict", theirs=list(one.theirs))


_conflict_ids = count(-1, -1)
"""Negative, because the ids of hunks are positive."""


def record_of(change: Change, contents: Contents) -> ChangeRecord:
    """Store the change's texts in `contents`, and return the change as a checkpoint stores it."""
    change.store_texts(contents)
    return ChangeRecord(
        path=change.path,
        before=change.base,
        after=change.current,
        added=change.added,
        removed=change.removed,
        old_path=change.old_path,
        note=change.note,
        operation=change.operation or "modify",
        by=change.verdict.by,
        why=change.verdict.why,
    )


def rejection(change: Entry, contents: Contents) -> list[ChangeRecord]:
    """Return the records of rejecting a whole change; undoing them brings the review back, too."""
    change.store_texts(contents)
    path, old_path, now, base, review = change.path, change.old_path, change.current, change.base, change.review_state()
    if old_path is not None:
        away = ChangeRecord(path, now, None, operation="delete", review=review)
        return [away, ChangeRecord(old_path, None, base, operation="add")]
    operation: Operation = "delete" if base is None else "add" if now is None else "modify"
    return [ChangeRecord(path, now, base, change.removed, change.added, operation=operation, review=review)]


def hunk_rejection(entry: Entry, was: Content, wanted: Content) -> ChangeRecord:
    """Return the record of rejecting some hunks; undoing it brings their review back, too."""
    text = ReviewedText(was.text_or_empty, wanted.text_or_empty)
    return ChangeRecord(entry.path, was.blob, wanted.blob, text.added, text.removed, review=entry.review_state())


MAX_PAST_TEXTS: Final = 200
"""Files whose earlier texts are kept after their review, for buffers that are loaded again."""
MAX_PAST_TEXT_BYTES: Final = 32 * 1024 * 1024
"""Memory for these texts: hundreds of ordinary sources, each with a few versions."""


class PastTexts:
    """Finished reviews by path; the oldest are evicted beyond `count` entries or `max_bytes`."""

    def __init__(self, count: int = MAX_PAST_TEXTS, max_bytes: int = MAX_PAST_TEXT_BYTES) -> None:
        self._entries: dict[str, tuple[Entry, int]] = {}
        self._count = count
        self._max_bytes = max_bytes

    def keep(self, entry: Entry) -> None:
        """Add an entry with nothing left to review, if undo could bring something back."""
        self._entries.pop(entry.path, None)
        if entry.text is None or not entry.text.has_past:
            return
        self._entries[entry.path] = entry, entry.text.size
        while len(self._entries) > self._count or sum(size for _, size in self._entries.values()) > self._max_bytes:
            self._entries.pop(next(iter(self._entries)))

    def take(self, path: str) -> Entry | None:
        """Remove and return the entry of a file; None if there is none."""
        entry, _ = self._entries.pop(path, (None, 0))
        return entry
