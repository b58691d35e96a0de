"""A file under review: what it was and what it is, how the editor shows it, and how it is written down."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Final

import msgspec

from acp_nvim.review.conflict_blocks import ConflictBlock, conflict_blocks
from acp_nvim.review.contents import NOT_STORED, Content, Contents, is_stored
from acp_nvim.review.evidence import Seen, Verdict
from acp_nvim.review.reviewed_text import ReviewedText
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.ui.events import By, Operation
from acp_nvim.ui.review_events import HunkView, Review
from acp_nvim.workspace.conflicts import Conflict


class Change:
    """From `base` to `current` (None: no file); what the user does meanwhile goes into both.

    Where `text` is there it knows better than the two blobs, until `settle`.
    """

    def __init__(self, path: str, before: Content, old_path: str | None = None) -> None:
        self.path = path
        self.old_path = old_path
        self.base: Blob | None = before.blob
        self.current: Blob | None = before.blob
        self.encoding = before.encoding
        self.text = None if before.text is None else ReviewedText(before.text, before.text)
        self.is_looked_at = before.text is not None
        self.counts: tuple[int, int] | None = None
        self.verdict = Verdict("agent", "")
        """Who did it. Where nobody knows of a part of it, nobody knows."""
        self.doubts: list[Seen] = []
        """What nobody knew who did it, to be judged again when there is more evidence."""
        self.is_all_doubt = False
        """Whether there is nothing else in it."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path} {self.operation}>"

    @property
    def operation(self) -> Operation | None:
        """What was done to the file as a whole; None when it is what it was."""
        if self.old_path is not None:
            return "rename"
        if self.base is None or self.current is None:
            return None if self.base is self.current else "add" if self.base is None else "delete"
        if not self._is_same():
            return "modify" if self.text is not None or not self.is_looked_at else "binary"
        return "mode" if self.base.mode != self.current.mode else None

    def _is_same(self) -> bool:
        if self.text is not None:
            return not self.text.hunks and self.text.shape is None
        return self.base is not None and self.current is not None and self.base.oid == self.current.oid

    @property
    def added(self) -> int:
        """Lines, as far as they are known."""
        return self.text.added if self.text is not None else self.counts[0] if self.counts else 0

    @property
    def removed(self) -> int:
        """Lines, as far as they are known."""
        return self.text.removed if self.text is not None else self.counts[1] if self.counts else 0

    @property
    def note(self) -> str | None:
        """What no line of the review shows, in words: modes, line ends, contents that are not kept. None: nothing."""
        notes = [] if self.text is None or self.text.shape is None else [self.text.shape]
        is_kept = all(is_stored(blob) for blob in (self.base, self.current) if blob is not None)
        if is_kept and self.base is not None and self.current is not None and self.base.mode != self.current.mode:
            notes.append(_mode_words(self.base.mode, self.current.mode))
        if not is_kept:
            notes.append(f"{NOT_STORED}: cannot be rejected")
        elif self.text is None and self.is_looked_at and not self._is_same():
            notes.append("no text, or too much of it: reviewed as a whole")
        return ", ".join(notes) or None

    def blame(self, verdict: Verdict, seen: Seen | None = None) -> None:
        """What happens to the file next was done by these; `seen` is what shows that it happened."""
        if self.operation is None:
            self.verdict, self.doubts, self.is_all_doubt = verdict, [], verdict.by == "unknown"
        elif verdict.by != "state" and self.verdict.by != "unknown":
            self.verdict = verdict
        self.is_all_doubt = self.is_all_doubt and verdict.by == "unknown"
        if verdict.by == "unknown" and seen is not None:
            self.doubts.append(seen)

    async def look(self, contents: Contents) -> None:
        """Get the texts, if it has them. Raises `SnapshotError` when they are gone."""
        if self.is_looked_at:
            return
        old = await contents.look(self.old_path or self.path, self.base, self.encoding)
        new = await contents.look(self.path, self.current, self.encoding)
        self.is_looked_at = True
        if old.text is not None and new.text is not None:
            self.encoding = (old if new.blob is None else new).encoding
            self.text = ReviewedText(old.text, new.text)

    def agent(self, after: Content) -> None:
        """The agent made that of it; with its text, when this was looked at."""
        self._take(after)
        if self.text is not None:
            self.text.agent(after.words)

    def user(self, after: Content) -> None:
        """The user made that of it: it was looked at before."""
        before = self.current
        self._take(after)
        if self.text is None or after.blob is None:
            self.base = after.blob
            self.text = None if self.text is None else ReviewedText(after.words, after.words)
            self.old_path = None
            return
        self.text.user(after.words)
        if self.base is None and self.text.base:
            self.base = Blob(after.blob.oid, after.blob.mode)  # there are lines of the user's own
        elif self.base is not None and before is not None and before.mode != after.blob.mode:
            self.base = Blob(self.base.oid, after.blob.mode)

    def _take(self, after: Content) -> None:
        self.current = after.blob
        self.counts = None
        if self.is_looked_at and after.blob is not None:
            self.encoding = after.encoding
            if after.text is None:
                self.text = None

    def rebase(self, before: Content) -> None:
        """Correct what was accepted: the file was something else before than we thought."""
        self.base = before.blob
        if self.text is not None:
            self.text = ReviewedText(before.words, self.text.current)

    def settle(self, contents: Contents) -> None:
        """Make both blobs what the texts are."""
        if self.text is None:
            return
        if self.base is not None:
            self.base = contents.put_text(self.path, self.text.base, self.encoding, self.base.mode).blob
        if self.current is not None:
            self.current = contents.put_text(self.path, self.text.current, self.encoding, self.current.mode).blob

    def copy_of_base(self) -> Content:
        """Return what was accepted of the file, with its text as far as it is known."""
        return Content(self.base, None if self.text is None else self.text.base, self.encoding)


def _mode_words(old: int, new: int) -> str:
    if {old, new} == {0o100644, 0o100755}:
        return "executable now" if new == 0o100755 else "not executable any more"
    return f"mode {old:o} -> {new:o}"


class InReview(msgspec.Struct, frozen=True):
    """A file was under review: what was accepted of it, and whose agents had changed it."""

    base: Blob | None
    sessions: list[int]
    old_path: str | None = None
    by: By = "agent"
    why: str = ""


class KeptChange(msgspec.Struct, frozen=True):
    """A change as it is written down."""

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
    review: InReview | None = None
    """What was left to review of it, where this took it out of the review."""


class Entry(Change):
    """`on_disk` is what we know to be in the file; `state` is that of its buffer, None without one."""

    def __init__(self, path: str, before: Content, old_path: str | None = None) -> None:
        super().__init__(path, before, old_path)
        self.sessions: set[int] = set()
        self.on_disk: Blob | None = before.blob
        self.state: str | None = None
        self.is_asked_for = False
        self.is_guessed = False  # what it was: no snapshot had the file
        self.conflict: Conflict | None = None
        self._ids: dict[tuple[int, tuple[str, ...], tuple[str, ...]], int] = {}
        self._blocks: dict[int, ConflictBlock] = {}

    @property
    def is_over(self) -> bool:
        """Whether nothing of the file is left to review: no change, and no conflict."""
        return self.operation is None and self.conflict is None

    def review(self) -> Review:
        """Return the event for the file's buffer; it has hunks only while somebody looks at them."""
        is_shown = (self.state is not None or self.is_asked_for) and self.is_looked_at
        blocks = self.blocks()
        return Review(
            path=self.path,
            operation=self.operation or ("modify" if self.conflict is not None else "none"),
            added=self.added,
            removed=self.removed,
            sessions=sorted(self.sessions),
            hunks=[*self._hunks(), *self._conflict_hunks(blocks)] if is_shown else None,
            state=self.state,
            old_path=self.old_path,
            note=self.note,
            conflicts=len(blocks),
            by=self.verdict.by,
            why=self.verdict.why,
            tool_call=self.verdict.tool_call,
        )

    def blocks(self) -> dict[int, ConflictBlock]:
        """What of a version that could not be merged is not decided yet, by id; ids stay while the lines do."""
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

    def in_review(self) -> InReview:
        """What of it is under review now."""
        return InReview(self.base, sorted(self.sessions), self.old_path, self.verdict.by, self.verdict.why)

    def _hunks(self) -> Iterable[HunkView]:
        if self.text is None:
            return
        for hunk in self.text.hunks:
            block = hunk.block
            yield HunkView(hunk.id, block.j1, block.j2 - block.j1, self.text.old_lines(hunk))

    def _conflict_hunks(self, blocks: dict[int, ConflictBlock]) -> Iterable[HunkView]:
        for number, block in blocks.items():
            yield HunkView(number, block.first, block.count, by="conflict", theirs=list(block.theirs))


_conflict_ids = count(-1, -1)
"""Ids of hunks are positive."""


def kept(change: Change, contents: Contents) -> KeptChange:
    """Write the change's texts into `contents`, and return it as it is kept in a checkpoint."""
    change.settle(contents)
    return KeptChange(
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


def rejection(change: Entry, contents: Contents) -> list[KeptChange]:
    """What it is to reject all of a change that is under review; to undo it brings the review back, too."""
    change.settle(contents)
    path, old_path, now, base, review = change.path, change.old_path, change.current, change.base, change.in_review()
    if old_path is not None:
        away = KeptChange(path, now, None, operation="delete", review=review)
        return [away, KeptChange(old_path, None, base, operation="add")]
    operation: Operation = "delete" if base is None else "add" if now is None else "modify"
    return [KeptChange(path, now, base, change.removed, change.added, operation=operation, review=review)]


def hunk_rejection(entry: Entry, was: Content, wanted: Content) -> KeptChange:
    """What it is to reject some hunks of a file; to undo it brings their review back, too."""
    text = ReviewedText(was.words, wanted.words)
    return KeptChange(entry.path, was.blob, wanted.blob, text.added, text.removed, review=entry.in_review())


PAST_TEXTS: Final = 200
"""Files whose review is over and of which earlier texts are remembered: buffers that somebody loads again."""
PAST_BYTES: Final = 32 * 1024 * 1024
"""Memory for these: hundreds of ordinary sources, each with a few versions."""


class PastTexts:
    """By path; the oldest go when there are more than `count`, or more than `max_bytes`."""

    def __init__(self, count: int = PAST_TEXTS, max_bytes: int = PAST_BYTES) -> None:
        self._entries: dict[str, tuple[Entry, int]] = {}
        self._count = count
        self._max_bytes = max_bytes

    def __repr__(self) -> str:
        return f"<PastTexts of {len(self._entries)} files>"

    def keep(self, entry: Entry) -> None:
        """Nothing is left of it to review. What was accepted does not come back, and need not be kept."""
        self._entries.pop(entry.path, None)
        if entry.text is None or not entry.text.has_past:
            return
        self._entries[entry.path] = entry, entry.text.size
        while len(self._entries) > self._count or sum(size for _, size in self._entries.values()) > self._max_bytes:
            self._entries.pop(next(iter(self._entries)))

    def take(self, path: str) -> Entry | None:
        """That of the file, once; None when nothing is known of it."""
        entry, _ = self._entries.pop(path, (None, 0))
        return entry
