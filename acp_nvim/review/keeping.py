"""Writes down what changes there were, so that they can be found again."""

from __future__ import annotations

import msgspec

from acp_nvim.review.change import Change, InReview, KeptChange
from acp_nvim.review.contents import Content, Contents
from acp_nvim.review.entry import Entry
from acp_nvim.review.reviewed_text import ReviewedText


def kept(change: Change, contents: Contents) -> KeptChange:
    """That change, with its contents put."""
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
    path, old_path, now, base = change.path, change.old_path, change.current, change.base
    review = InReview(base, sorted(change.sessions), old_path, change.verdict.by, change.verdict.why)
    if old_path is not None:
        away = KeptChange(path, now, None, operation="delete", review=review)
        return [away, KeptChange(old_path, None, base, operation="add")]
    back = KeptChange(
        path,
        before=now,
        after=base,
        added=change.removed,
        removed=change.added,
        operation="delete" if base is None else "add" if now is None else "modify",
    )
    return [msgspec.structs.replace(back, review=review)]


def hunk_rejection(entry: Entry, was: Content, wanted: Content) -> KeptChange:
    """What it is to reject some hunks of a file; to undo it brings their review back, too."""
    text = ReviewedText(was.words, wanted.words)
    return KeptChange(
        entry.path,
        before=was.blob,
        after=wanted.blob,
        added=text.added,
        removed=text.removed,
        review=InReview(entry.base, sorted(entry.sessions), entry.old_path, entry.verdict.by, entry.verdict.why),
    )
