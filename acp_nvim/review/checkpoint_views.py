"""Checkpoints as the editor lists them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from acp_nvim.contract.review_events import CheckpointView, FileView
from acp_nvim.review.records import ChangeRecord
from acp_nvim.review.storage import Checkpoint
from acp_nvim.snapshots.renames import is_directory


def checkpoint_views(newest_first: Iterable[Checkpoint]) -> list[CheckpointView]:
    """Return the checkpoints with changes, in the same order: what has undone one comes before it.

    A rejection or restore that was not undone yet, and undoes none itself, can be undone: repeated undo goes back
    further each time.
    """
    undone, views = set[str | None](), []
    for one in newest_first:
        undone.add(one.undoes)
        if one.changes:
            views.append(_view(one, is_undone=one.id in undone))
    return views


def _view(one: Checkpoint, *, is_undone: bool) -> CheckpointView:
    changed = file_views(one.changes)
    return CheckpointView(
        one.id,
        one.kind,
        one.time,
        one.agent,
        one.prompt,
        len(changed),
        sum(file.added for file in changed),
        sum(file.removed for file in changed),
        one.session,
        undo=one.kind != "turn" and one.undoes is None and not is_undone,
        is_undo=one.undoes is not None,
    )


def file_views(changes: Sequence[ChangeRecord]) -> list[FileView]:
    """Return the changes as a list shows them, each renamed file once.

    A session keeps those of all its turns, often of the same files: each path is in memory once.
    """
    renamed = {one.old_path for one in changes if one.old_path is not None}
    return [
        FileView(sys.intern(one.path), one.operation, one.added, one.removed, one.old_path, one.note, one.by, one.why)
        for one in changes
        if one.path not in renamed or one.after is not None or is_directory(one.path)
    ]
