"""Looks at the files outside of all workspaces that tool calls name: no snapshot tells what they were."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.acp.diff import FileChange
from acp_nvim.evidence.work import Work
from acp_nvim.file_time import last_change
from acp_nvim.hunks.locate import unapplied
from acp_nvim.review.contents import Content
from acp_nvim.review.storage import SavedReview
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.workspace import Workspace, Workspaces
from acp_nvim.snapshots.directories import CLOCK_NS
from acp_nvim.snapshots.snapshot import UNKNOWN, Blob, Changed
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.regular_files import regular_file

ANSWER_SECONDS: Final = 2.0
"""Time for the status of a file: on a network that is gone it never comes."""

_Stamp = tuple[int, ...]
"""The status of a file, by which a change is noticed; empty: there is none; one number: it is no regular file."""


class NamedOutside(msgspec.Struct, frozen=True):
    """A file outside that a tool call names: its real path, and the call's `changes` of it.

    `may_have_run`: the agent did not only announce the call. `deletes`: the call deletes what it names.
    """

    path: str
    changes: Sequence[FileChange] = ()
    may_have_run: bool = False
    deletes: bool = False


class OutsideFiles:
    """The files outside of all workspaces that are watched, for all sessions of the host."""

    def __init__(self, tracker: ChangeTracker, workspaces: Workspaces) -> None:
        self._tracker = tracker
        self._ledger = tracker.ledger
        self._workspaces = workspaces
        self._found: dict[str, _Stamp | None] = {}  # None: look again

    async def begin(self, named: NamedOutside, root: str, work: Work) -> bool:
        """Begin to watch a file that a call of `work` names, for the workspace at `root`.

        Returns False, and does nothing, unless it is a regular file, or was one, or there is none.
        """
        path = named.path
        stamp = await _stamp_of(path)
        if stamp is None or len(stamp) == 1:
            return self._ledger.is_accounted(path)  # it was a regular file before
        self._workspaces.adopt(path, root)
        await self._note_private([path])
        await self._tracker.before_change(path)  # what others did before; its buffer is watched from now on
        if not self._ledger.is_accounted(path):
            looked = time.time_ns() - CLOCK_NS
            found = await self._tracker.disk.blob(path)
            before = await self._before(named, found, work)
            if not self._ledger.is_accounted(path):
                self._ledger.set_on_disk(path, before)
                self._found[path], self._workspaces.looked[path] = stamp if before == found else None, looked
        return True

    async def scan(self, paths: Iterable[str]) -> list[str]:
        """Pass those of the watched files that have changed to the tracker; return those that cannot be looked at."""
        changed: list[Changed] = []
        found: dict[str, _Stamp] = {}
        looked: dict[str, int] = {}
        failed: list[str] = []
        for path in paths:
            now = time.time_ns() - CLOCK_NS
            stamp = await _stamp_of(path)
            if stamp is None:
                failed.append(path)
            elif self._ledger.is_accounted(path):
                found[path], looked[path] = stamp, now
                if stamp != self._found.get(path):
                    changed.append(Changed(path, self._ledger.on_disk(path), None))
        await self._note_private(one.path for one in changed)
        await self._tracker.scanned(changed, are_in_snapshot=False)
        self._found |= found
        self._workspaces.looked |= looked
        return failed

    def take_over(self, workspace: Workspace, saved: SavedReview, works: Sequence[Work]) -> list[Changed]:
        """Watch the files outside that dead hosts have left to the workspace; return what their turns knew of them.

        `works` are those of the turns. The earlier contents of a file that a call has named, and that its host did not
        come to read, are not known.
        """
        named = (path for work in works for path in work.named)
        known: dict[str, Blob | None] = {path: UNKNOWN for path in named if self._workspaces.is_outside(path)}
        for turn in reversed(saved.turns):
            known |= turn.outside
        for path in (*known, *(one.path for one in saved.entries)):
            self._workspaces.adopt(path, workspace.root)
            for work in works:
                work.roots.admit(path)
        reviewed = {one.path for one in saved.entries}
        return [Changed(path, blob, None) for path, blob in known.items() if path not in reviewed]

    async def _note_private(self, paths: Iterable[str]) -> None:
        for path in paths:
            await anyio.to_thread.run_sync(self._workspaces.contents(path).shadow.note_private, path)

    async def _before(self, named: NamedOutside, found: Blob | None, work: Work) -> Blob | None:
        """Return what the file was before the call, which may have changed it already; `found` is what it is."""
        path = named.path
        changed, _ = await anyio.to_thread.run_sync(last_change, path)
        if not any(one.covers(changed) for one in work.naming(path)):
            return found
        if found is None:
            return UNKNOWN if named.deletes and named.may_have_run else None
        content = await self._ledger.with_text(path, Content(found), None)
        undone = [] if content.text is None else await anyio.to_thread.run_sync(_undone, content.text, named.changes)
        if not named.changes or content.text is None:
            return UNKNOWN if named.may_have_run else found
        if not undone:
            return found  # it has not run yet
        if len(undone) < len(named.changes):
            return UNKNOWN
        if not undone[-1] and all(piece.old_text is None for one in named.changes for piece in one.pieces):
            return await self._absent_before(path, work)
        contents = self._workspaces.contents(path)
        return contents.put_text(path, undone[-1], content.encoding, found).blob

    async def _absent_before(self, path: str, work: Work) -> Blob | None:
        """Return None for a file that the agent says it has created, unless its directory has not changed since."""
        began = work.turn_began_at
        touched = await anyio.to_thread.run_sync(partial(_changed_at, os.path.dirname(path)))
        return None if touched >= began - CLOCK_NS else UNKNOWN


def _undone(text: str, changes: Sequence[FileChange]) -> list[str]:
    """Return the texts before the last change, the last two, and so on, as far as these are in the text."""
    found: list[str] = []
    for change in reversed(changes):
        before = unapplied(found[-1] if found else text, change) if change.pieces else None
        if before is None:
            break
        found.append(before)
    return found


def _changed_at(directory: str) -> int:
    try:
        return os.stat(directory).st_mtime_ns
    except OSError:
        return 0


async def _stamp_of(path: str) -> _Stamp | None:
    """Return the status of a file; None if the system does not tell, or not in time."""
    with anyio.move_on_after(ANSWER_SECONDS):
        return await anyio.to_thread.run_sync(_stamp, path, abandon_on_cancel=True)
    return None


def _stamp(path: str) -> _Stamp | None:
    try:
        found = regular_file(path)
    except FileRefusedError:
        return (0,)
    except NotADirectoryError:
        return ()
    except OSError:
        return None
    if found is None:
        return ()
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns
