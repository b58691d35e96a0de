"""What became of one file: what it was, what it is, and line by line where both are texts."""

from __future__ import annotations

import msgspec

from acp_nvim.events import By, Operation
from acp_nvim.review.contents import NOT_STORED, Content, Contents, is_stored
from acp_nvim.review.evidence import Seen, Verdict
from acp_nvim.review.reviewed_text import ReviewedText
from acp_nvim.snapshots.snapshot import Blob


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
        """None: it is what it was."""
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
        """What no line shows, in words."""
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
        """It was something else before than we thought."""
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
        """What it was."""
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
