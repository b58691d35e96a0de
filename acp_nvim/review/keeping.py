"""Writes down what changes there were, so that they can be found again."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from acp_nvim.review.change import Change, KeptChange
from acp_nvim.review.contents import Contents
from acp_nvim.review.reviewed_text import ReviewedText


def kept(change: Change, contents: Contents, others: Sequence[Change] = ()) -> KeptChange:
    """That change, with its contents put. A renamed file is compared with what it was under its old name."""
    change.settle(contents)
    written = KeptChange(
        path=change.path,
        before=change.base,
        after=change.current,
        added=change.added,
        removed=change.removed,
        old_path=change.old_path,
        note=change.note,
        operation=change.operation or "modify",
    )
    old = next((one for one in others if change.old_path is not None and one.path == change.old_path), None)
    if old is None or old.text is None or change.text is None:
        return written
    text = ReviewedText(old.text.base, change.text.current)
    return msgspec.structs.replace(written, added=text.added, removed=text.removed)


def rejection(change: Change, contents: Contents) -> list[KeptChange]:
    """What it is to reject all of a change that is under review; to undo it brings the review back, too."""
    change.settle(contents)
    path, old_path, now, base = change.path, change.old_path, change.current, change.base
    if old_path is not None:
        return [KeptChange(path, now, None, operation="delete"), KeptChange(old_path, None, base, operation="add")]
    back = KeptChange(
        path,
        before=now,
        after=base,
        added=change.removed,
        removed=change.added,
        operation="delete" if base is None else "add" if now is None else "modify",
    )
    return [msgspec.structs.replace(back, base=base, in_review=True)]
