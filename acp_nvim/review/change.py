"""A file under review: its accepted and its current content, as the editor shows them and as checkpoints store them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import Final

import msgspec

from acp_nvim.contract.editor import TextChange
from acp_nvim.contract.events import Operation
from acp_nvim.contract.review_events import HunkView, Review
from acp_nvim.evidence.evidence import Doubt, Observation, Verdict
from acp_nvim.hunks.conflict_blocks import ConflictBlock, conflict_blocks
from acp_nvim.hunks.reviewed_text import ReviewedText
from acp_nvim.review.contents import LOST, NOT_KNOWN, NOT_STORED, Content, Contents, is_stored
from acp_nvim.review.records import ChangeRecord, ReviewState
from acp_nvim.snapshots.renames import Naming, is_directory, name_after
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.workspace.conflicts import Conflict
from acp_nvim.workspace.encoding import has_other_bytes
from acp_nvim.workspace.text_shape import lines_with_ends
from acp_nvim.workspace.unified_diff import unified_hunks

PATCH_LINES: Final = 2000
"""Lines shown of what a restore would do to one file."""


MAX_DOUBTS: Final = 20
"""Changes of one file that are judged again. After more, as of a log, it stays unknown who changed it."""


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
        self.base_encoding = before.encoding
        self.text = None if before.text is None else ReviewedText(before.text, before.text)
        self.is_loaded = before.text is not None
        self.counts: tuple[int, int] | None = None
        self.is_lost = False
        """True if the contents are not kept any more: the repository that had them was removed."""
        self.verdict = Verdict("agent", "")
        """Who made the change; "unknown" if that is unknown of any part of it."""
        self.doubts: list[Doubt] = []
        """Changes of unknown origin, which are judged again when there is more evidence."""
        self.is_settled = False
        """True if the verdict stays, because evidence about a part of the change is gone, or is too much."""
        self.is_all_doubt = False
        """True if the whole change is of unknown origin."""
        self.made: list[str] = []
        """Directories that were created with the file, and that its rejection removes if they are empty."""

    @property
    def is_directory(self) -> bool:
        """True for the rename of a directory, which has no contents; `path` and `old_path` end with a slash then."""
        return is_directory(self.path)

    @property
    def operation(self) -> Operation | None:
        """What was done to the file as a whole; None if it is unchanged."""
        if self.old_path is not None:
            return "rename"
        if self.base is None or self.current is None:
            return None if self.base is self.current else "add" if self.base is None else "delete"
        if not self._is_same():
            return "modify" if self.text is not None or not self.is_loaded else "binary"
        return "mode" if self.base.has_other_mode(self.current) else None

    def _is_same(self) -> bool:
        if self.text is not None:
            return not self.text.hunks and self.text.shape is None and self._recoding() is None
        return self.base is not None and self.current is not None and self.base.oid == self.current.oid

    def _recoding(self) -> str | None:
        """Return how the encoding has changed, in words; None if that makes no difference."""
        if self.text is None or not has_other_bytes(self.text.current, self.base_encoding, self.encoding):
            return None
        return f"encoding: {self.base_encoding} -> {self.encoding}"

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
        recoding = None if self.base is None or self.current is None else self._recoding()
        notes += [] if recoding is None else [recoding]
        is_kept = all(is_stored(blob) for blob in (self.base, self.current) if blob is not None)
        if is_kept and self.base is not None and self.current is not None and self.base.has_other_mode(self.current):
            notes.append(_mode_words(self.base, self.current))
        if not is_kept:
            is_unknown = self.base is not None and not self.base.oid
            notes.append(
                f"cannot be rejected: what it had before is {NOT_KNOWN}"
                if is_unknown
                else f"{NOT_STORED}: cannot be rejected"
            )
        elif self.is_lost:
            notes.append(f"cannot be rejected: what it had before is {LOST}")
        elif self.text is None and self.is_loaded and not self._is_same():
            notes.append("no text, or too much of it: reviewed as a whole")
        return ", ".join(notes) or None

    def attribute(self, verdict: Verdict, seen: Observation | None = None) -> None:
        """Attribute the next change of the file to `verdict`; `seen` is the observation it was judged by."""
        if self.operation is None:
            self.verdict, self.doubts, self.is_all_doubt = verdict, [], verdict.by == "unknown"
            self.is_settled = False
        elif verdict.by != "state" and self.verdict.by != "unknown":
            self.verdict = verdict
        self.is_all_doubt = self.is_all_doubt and verdict.by == "unknown"
        if verdict.by == "unknown" and seen is not None:
            self._add_doubts([Doubt(seen, verdict)])

    def _add_doubts(self, doubts: Sequence[Doubt]) -> None:
        self.doubts = [*self.doubts, *doubts]
        if self.is_settled or len(self.doubts) > MAX_DOUBTS:
            self.settle()

    def settle(self) -> None:
        """Let the verdict stay until the change is over: nothing more can be found out about a part of it."""
        self.doubts, self.is_settled = [], True

    async def load(self, contents: Contents) -> None:
        """Load the texts, if the file is text. Raises `SnapshotError` if they are lost."""
        if self.is_loaded:
            return
        old = await contents.load(self.old_path or self.path, self.base, self.base_encoding)
        new = await contents.load(self.path, self.current, self.encoding)
        self.is_loaded = True
        if old.text is not None and new.text is not None:
            self.encoding = (old if new.blob is None else new).encoding
            self.base_encoding = (new if old.blob is None else old).encoding
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
        before, encoding = self.current, self.encoding
        self._take(after)
        if self.encoding != encoding:
            self.base_encoding = self.encoding
        if self.text is None or after.blob is None:
            self.base = after.blob
            self.text = None if self.text is None else ReviewedText(after.text_or_empty, after.text_or_empty)
            self.old_path = None
            return
        self.text.apply_user(after.text_or_empty)
        if self.base is None:
            self._take_kept_lines()  # the user's own are
        elif before is not None and before.has_other_mode(after.blob):
            self.base = self.base.with_mode(after.blob)

    def _take(self, after: Content) -> None:
        self.current = after.blob
        self.counts = None
        if self.is_loaded and after.blob is not None:
            self.encoding = after.encoding
            if after.text is None:
                self.text = None

    def keep(self, ids: Collection[int] | None) -> None:
        """Accept these hunks; None: the whole change. The texts must be loaded.

        That a file was created or deleted is accepted with its lines; a name or a mode is not.
        """
        if ids is not None and self.text is not None:
            self.text.keep(ids)
            is_decided = not self.text.hunks and (self.base is None or self.current is None)
            if not is_decided:
                self._take_kept_lines()
                return
        if self.text is not None:
            self.text.keep(None)
        self.base, self.base_encoding, self.old_path = self.current, self.encoding, None

    def _take_kept_lines(self) -> None:
        if self.base is None and self.text is not None and self.text.base:
            self.base, self.base_encoding = self.current, self.encoding  # the new file has lines that are accepted

    def is_nothing_without(self, ids: Collection[int]) -> bool:
        """Return whether the file would not exist without these hunks."""
        return self.base is None and self.text is not None and not self.text.rejected(ids)

    def rebase(self, before: Content) -> None:
        """Correct the base, which was assumed wrongly."""
        self.base, self.base_encoding = before.blob, before.encoding
        if self.text is not None:
            self.text = ReviewedText(before.text_or_empty, self.text.current)

    def store_texts(self, contents: Contents) -> None:
        """Store the texts in `contents`, and update both blobs."""
        if self.text is None:
            return
        if self.base is not None:
            self.base = contents.put_text(self.path, self.text.base, self.base_encoding, self.base).blob
        if self.current is not None:
            self.current = contents.put_text(self.path, self.text.current, self.encoding, self.current).blob

    def current_content(self) -> Content:
        """Return the present content, with its text if that is loaded."""
        return Content(self.current, None if self.text is None else self.text.current, self.encoding)

    def is_at(self, content: Content) -> bool:
        """Return whether the present content is that one, as far as both are known."""
        if (self.current is None) != (content.blob is None):
            return False
        if self.text is not None and content.text is not None:
            return self.text.current == content.text
        return self.current is None or content.blob is None or self.current.oid == content.blob.oid

    def base_content(self) -> Content:
        """Return the accepted content, with its text if that is loaded."""
        return Content(self.base, None if self.text is None else self.text.base, self.base_encoding)

    def follow(self, renamed: Naming) -> bool:
        """Take the names that renames of directories give; return whether one is another than before."""
        before = self.path, self.old_path
        self.path = renamed(self.path)
        if self.old_path is not None:
            old_path = name_after(self.old_path, renamed)
            self.old_path = None if old_path == self.path else old_path
        self.made = [renamed(one + os.sep).rstrip(os.sep) for one in self.made]
        return (self.path, self.old_path) != before

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


def _mode_words(old: Blob, new: Blob) -> str:
    kinds = {old.mode, new.mode}
    bits = f"mode {old.bits:04o} -> {new.bits:04o}" if old.bits is not None and new.bits is not None else ""
    if kinds == {0o100644, 0o100755}:
        words = "executable now" if new.mode == 0o100755 else "not executable any more"
        is_plain = old.bits is None or new.bits is None or (old.bits ^ new.bits) & ~0o111 == 0
        return words if is_plain else f"{words}, {bits}"
    return bits if len(kinds) == 1 else f"mode {old.mode:o} -> {new.mode:o}"


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
        self.is_settled = self.is_settled or later.is_settled
        self._add_doubts(later.doubts)
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
        made=change.made,
    )


def rejection(change: Entry, contents: Contents) -> list[ChangeRecord]:
    """Return the records of rejecting a whole change; undoing them brings the review back, too."""
    change.store_texts(contents)
    path, old_path, now, base, review = change.path, change.old_path, change.current, change.base, change.review_state()
    if old_path is not None:
        if change.is_directory:
            back = ChangeRecord(old_path, None, None, old_path=path, operation="rename")
            return [msgspec.structs.replace(back, review=review, made=change.made)]
        away = ChangeRecord(path, now, None, operation="delete", review=review, made=change.made)
        return [away, ChangeRecord(old_path, None, base, operation="add")]
    operation: Operation = "delete" if base is None else "add" if now is None else "modify"
    counts = change.removed, change.added
    return [ChangeRecord(path, now, base, *counts, operation=operation, review=review, made=change.made)]


def hunk_rejection(entry: Entry, was: Content, wanted: Content) -> ChangeRecord:
    """Return the record of rejecting some hunks; undoing it brings their review back, too."""
    text = ReviewedText(was.text_or_empty, wanted.text_or_empty)
    return ChangeRecord(entry.path, was.blob, wanted.blob, text.added, text.removed, review=entry.review_state())
