"""Enters renames of directories into the ledger: each is one change, and what is known of the files follows."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import anyio.to_thread
import msgspec

from acp_nvim.evidence.evidence import Evidence, Observation, Verdict
from acp_nvim.file_time import is_real_directory, last_change
from acp_nvim.review.change import Change, Entry
from acp_nvim.review.contents import ABSENT, Content, is_stored
from acp_nvim.review.disk_changes import DiskChanges
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.obstacles import first_file
from acp_nvim.snapshots.birth import born
from acp_nvim.snapshots.directories import CLOCK_NS
from acp_nvim.snapshots.renames import Moves, Naming, Renames, grouped, is_directory, name_after, naming, ordered
from acp_nvim.snapshots.snapshot import UNKNOWN, Blob, Changed, DirectoryMove
from acp_nvim.workspace.open_files import OpenFiles

C = TypeVar("C", bound=Change)

_USERS = Verdict("user", "")


class _Row(msgspec.Struct, frozen=True):
    """A file that a scan has found: it is at `path`, and would be at `was` if only we had renamed directories."""

    path: str
    was: str | None
    before: Blob | None
    after: Blob | None
    moved: DirectoryMove | None
    is_renamed: bool


class MovedDirectories:
    """Enters renames of directories: those that scans find, and those of the plugin."""

    def __init__(self, ledger: Ledger, files: OpenFiles, evidence: Evidence, disk: DiskChanges) -> None:
        self._ledger = ledger
        self._files = files
        self._evidence = evidence
        self._disk = disk

    async def enter(self, found: Sequence[Changed], renames: Renames, count: int) -> list[Changed]:
        """Enter the renames of directories in what a scan has found; return the changes of files, by present names.

        The scan has found the names after the first `count` renames.
        """
        renames.found = ()
        rows = [_present(one, renames, count) for one in found]
        moves = ordered(one.moved for one in rows if one.moved is not None)
        kept = {one.moved.new for one in rows if one.moved is not None and one.moved.old == one.moved.new}
        whole = self._with_gone(moves)
        moves = [one for one in moves if one.new in kept or not self._had_files(one.new, whole)]
        if moves:
            await self._enter(moves, rows)
            renames.found = moves
        renamed = naming(moves)
        taken = {renamed(one.was) for one in rows if one.is_renamed and one.was is not None}
        return await anyio.to_thread.run_sync(
            lambda: _joined(change for one in rows for change in self._in_place(one, renamed, taken))
        )

    async def missing(self, root: str) -> list[str]:
        """Return the paths of renamed directories below `root`, as they are under review, that are not there."""
        top = root.rstrip(os.sep) + os.sep
        known = [path for path, one in self._ledger.entries.items() if one.is_directory and path.startswith(top)]
        return await anyio.to_thread.run_sync(lambda: [path for path in known if not is_real_directory(path)])

    async def prune(self, gone: Sequence[str]) -> None:
        """End the review of renamed directories that were `missing` before the last scan: their files are deleted.

        It goes on while another directory has the earlier name: rejected, the files come back first, then the names.
        """
        for path in gone:
            entry = self._ledger.entries.get(path)
            if entry is None or await anyio.to_thread.run_sync(is_real_directory, path):
                continue
            if entry.old_path in self._ledger.entries:
                if not self._has_deleted(path):
                    self._forget(path)
            elif entry.old_path is not None:
                self.moved([DirectoryMove(path.rstrip(os.sep), entry.old_path.rstrip(os.sep))], {})

    def _has_deleted(self, path: str) -> bool:
        """Return whether files that were in that directory are under review."""
        return any(one.base is not None for one in self._ledger.entries.values() if one.path.startswith(path))

    def _forget(self, path: str) -> None:
        """End the review of the rename of a directory; what was in it keeps its names."""
        for turn in self._ledger.logs:
            turn.changes.pop(path, None)
        del self._ledger.entries[path]
        self._ledger.leave(path)

    def moved(self, moves: Moves, verdicts: Mapping[DirectoryMove, Verdict]) -> None:
        """Enter renames that the plugin has made for the user; those with a verdict are an agent's, as they were."""
        follow(self._ledger, moves)
        for one in moves:
            self._note(one, verdicts.get(one, _USERS))
            if one.new + os.sep in self._ledger.entries:
                self._ledger.publish(one.new + os.sep)

    async def _enter(self, moves: Moves, rows: Sequence[_Row]) -> None:
        seen = {one: await self._observe(one, rows) for one in moves}
        verdicts = {one: await self._evidence.judge(seen[one]) for one in moves}
        for group in grouped(moves):  # who has made only half of an exchange?
            doubtful = [verdicts[one] for one in group if verdicts[one].by == "unknown"]
            verdicts |= dict.fromkeys(group, doubtful[0]) if doubtful else {}
        made = {one: await self._disk.made(one.new) for one in moves}
        names = {name for change in self._changes() for name in change.made}.union(*made.values())
        brought = await anyio.to_thread.run_sync(self._brought, moves, names)
        async with self._files.alone(*below(self._ledger, [path for one in moves for path in (one.old, one.new)])):
            self._unmake(moves, brought)
            whole = self._with_gone(moves)
            follow(self._ledger, whole)
            for one in whole:
                if one not in moves:
                    self._note(one, _USERS)
            for one in moves:
                self._note(one, verdicts[one], seen[one], [name for name in made[one] if name not in brought])
        for one in moves:
            await self._files.editor.file_moved(one.old + os.sep, one.new + os.sep)
            self._disk.announce(one.new + os.sep, verdicts[one])

    def _with_gone(self, moves: Moves) -> Moves:
        """Add renames back of directories that are gone, and in whose places these have come: their files were there.

        Not of those whose earlier names are taken.
        """
        directories = [one for one in self._ledger.entries.values() if one.is_directory]
        known = [DirectoryMove(one.origin or one.old, one.new) for one in moves]
        renamed, left = naming(moves), {one.old + os.sep for one in known}
        come, taken = {one.new + os.sep for one in moves}, {renamed(one.path) for one in directories}
        for one in directories:
            if one.old_path is None or one.path in left or name_after(one.path, renamed) not in come:
                continue
            first = name_after(one.old_path, renamed)
            if first not in taken:
                known.append(DirectoryMove(one.path.rstrip(os.sep), first.rstrip(os.sep)))
        return moves if len(known) == len(moves) else ordered(known)

    def _brought(self, moves: Moves, names: Iterable[str]) -> set[str]:
        """Return those of these directories that have come by these renames. Blocks."""
        new, found = tuple(one.new + os.sep for one in moves), set[str]()
        for name in names:
            if (name + os.sep).startswith(new):
                birth = born(os.fsencode(name))
                if birth is None or birth <= self._disk.scans.since(name) + CLOCK_NS:
                    found.add(name)
        return found

    def _changes(self) -> list[Change]:
        changes: list[Change] = [*self._ledger.entries.values()]
        for turn in self._ledger.logs:
            changes += turn.changes.values()
        return changes

    def _unmake(self, moves: Moves, brought: Collection[str]) -> None:
        """Forget that directories were made for a file that was noticed before the scan: the renames brought them."""
        old = tuple(one.old + os.sep for one in moves)
        for change in self._changes():
            change.made = [one for one in change.made if (one + os.sep).startswith(old) or one not in brought]

    async def _observe(self, move: DirectoryMove, rows: Sequence[_Row]) -> Observation:
        """Observe a file of the directory, as changed when the directory was."""
        moved = [one for one in rows if one.moved is not None and one.after is not None]
        files = [one for one in moved if one.moved is not None and one.moved.new == move.new] or moved
        one = next((one for one in files if one.before == one.after), next(iter(files), None))
        path = one.path if one is not None else await anyio.to_thread.run_sync(lambda: first_file(move.new) or move.new)
        now = one.after if one is not None else await self._disk.blob(path)
        seen = await self._disk.observe(path, ABSENT, Content(now))
        time = await self._disk.change_time(os.path.join(move.new, ""))
        changed = time.time if time.other is None else time.other
        return msgspec.structs.replace(seen, changed=changed, earliest=seen.since, other=None)

    def _note(
        self, move: DirectoryMove, verdict: Verdict, seen: Observation | None = None, made: Sequence[str] = ()
    ) -> None:
        """Enter one rename, after everything has followed it; the user's ends that of an agent."""
        turns = [] if verdict.by == "user" else self._ledger.logs_of(verdict.sessions)
        path, old_path = move.new + os.sep, move.old + os.sep
        for turn in self._ledger.logs:
            is_settled = _settle(turn.changes, path, verdict) or _is_made(turn.changes, move.new)
            if turn not in turns:
                continue
            if path in turn.changes:  # it was renamed before
                _add_made(turn.changes[path], made)
            elif not is_settled:
                turn.changes[path] = _rename(Change(path, ABSENT), old_path, verdict, seen, made)
        if _settle(self._ledger.entries, path, verdict):
            self._ledger.leave(path)
        elif verdict.by != "user":
            if path in self._ledger.entries:
                _add_made(self._ledger.entries[path], made)
            elif not _is_made(self._ledger.entries, move.new):
                self._ledger.entries[path] = _rename(Entry(path, ABSENT), old_path, verdict, seen, made)
        entry = self._ledger.entries.get(path)
        if entry is not None:
            entry.sessions |= verdict.live_sessions | {turn.session for turn in turns if turn.session > 0}

    def _had_files(self, new: str, moves: Moves) -> bool:
        """Return whether files are known that were in a directory of that name: it was another one."""
        known = (change for path in below(self._ledger, [new]) for change in self._ledger.changes(path))
        had = (one.path for one in known if one.base is not None and one.old_path is None)
        renamed = naming(moves)
        return any(renamed(path) == path for path in had)

    def _in_place(self, row: _Row, renamed: Naming, taken: Collection[str]) -> list[Changed]:
        """Return the changes of a file but for those of its directories that have been entered, and gave it a name."""
        if row.was is None:
            is_entered = row.moved is not None and renamed(row.moved.old + os.sep) == row.moved.new + os.sep
            if is_directory(row.path) or is_entered:  # perhaps with an outer one
                return []
            return [Changed(row.path, row.before if row.moved is None else UNKNOWN, row.after)]
        was = renamed(row.was)
        if row.after is None:
            return [Changed(was, row.before, None)]
        if was == row.path:
            is_same = row.moved is not None and _is_same(row.before, row.after) and self._is_unchanged(was, row.before)
            return [] if is_same else [Changed(was, row.before, row.after)]
        if row.is_renamed:
            return [Changed(row.path, row.before, row.after, was)]
        gone = [] if was in taken else [Changed(was, row.before, None)]  # it was moved, and another one is there now
        return [*gone, Changed(row.path, None, row.after)]

    def _is_unchanged(self, path: str, before: Blob | None) -> bool:
        """Return whether a file that has moved with its directory is known to have that content, and was not edited."""
        if path in self._ledger.entries or self._ledger.accounted.get(path, before) != before:
            return False
        is_comparable = before is None or is_stored(before)
        return is_comparable or last_change(path)[0] < self._disk.scans.since(path)


def _joined(found: Iterable[Changed]) -> list[Changed]:
    """Return the changes with one for each file: it is not the one that was there, but its name is."""
    joined: dict[str, Changed] = {}
    for one in found:
        gone = joined.get(one.path)
        is_gone = gone is not None and gone.after is None and gone.old_path is None and one.old_path is None
        joined[one.path] = one if gone is None or not is_gone else Changed(one.path, gone.before, one.after)
    return list(joined.values())


def _is_same(one: Blob | None, other: Blob | None) -> bool:
    """Return whether these have the same content and permissions."""
    return one == other and (one is None or other is None or not one.has_other_mode(other))


def _add_made(change: Change, made: Sequence[str]) -> None:
    """Note which directories were made for a directory that was renamed before."""
    change.made = [*change.made, *(one for one in made if one not in change.made)]


def below(ledger: Ledger, directories: Sequence[str]) -> list[str]:
    """Return the paths of all changes below these directories, and those of the directories that were renamed."""
    tops = tuple(one + os.sep for one in directories)
    known = {*ledger.entries, *(path for turn in ledger.logs for path in turn.changes)}
    return [path for path in known if path.startswith(tops)]


def follow(ledger: Ledger, moves: Moves) -> None:
    """Let everything that is known of files follow renames of directories."""
    renamed = naming(moves)
    ledger.accounted = {renamed(path): blob for path, blob in ledger.accounted.items()}
    ledger.past.follow(renamed)
    for turn in ledger.logs:
        _place(ledger, turn.changes, {path: one for path, one in turn.changes.items() if one.follow(renamed)})
    moved = {path: one for path, one in ledger.entries.items() if one.follow(renamed)}
    _place(ledger, ledger.entries, moved)
    for path in moved:
        if path not in ledger.entries:
            ledger.leave(path)
    for one in moved.values():
        if one.old_path is not None or not one.is_directory:
            ledger.publish(one.path)


def _place(ledger: Ledger, changes: dict[str, C], moved: dict[str, C]) -> None:
    """Put changes under their new paths; of one file, what was deleted and what was created is one change."""
    for path in moved:
        del changes[path]
    for one in moved.values():
        other = changes.get(one.path)
        gone, made = (one, other) if one.current is None else (other, one)
        if gone is not None and made is not None and gone.current is None and made.base is None:
            gone.store_texts(ledger.contents(gone.path))
            made.store_texts(ledger.contents(made.path))
            made.base, made.text, made.is_loaded, made.old_path = gone.base, None, False, None
            changes[one.path] = made
        else:
            changes[one.path] = one


def _settle(changes: dict[str, C], path: str, verdict: Verdict) -> bool:
    """Remove the rename of that directory if it is undone, or the user has renamed it; return whether it was."""
    one = changes.get(path)
    if one is None or (one.old_path is not None and verdict.by != "user"):
        return False
    del changes[path]
    return True


def _is_made(changes: Mapping[str, C], directory: str) -> bool:
    """Return whether a directory was made, or came there, with a file of these changes: then its rename is none."""
    return any(directory in one.made for one in changes.values())


def _rename(one: C, old_path: str, verdict: Verdict, seen: Observation | None, made: Sequence[str]) -> C:
    one.attribute(verdict, seen)
    one.old_path, one.made = old_path, list(made)
    return one


def _present(one: Changed, renames: Renames, count: int) -> _Row:
    """Return what a scan has found by the present names."""
    was = None if one.before is None or one.appears else renames.now(one.old_path or one.path)
    moved = one.moved
    if moved is not None:
        old, new = renames.now(moved.old + os.sep), renames.now(moved.new + os.sep, count)
        moved = DirectoryMove(old.rstrip(os.sep), new.rstrip(os.sep))
    return _Row(renames.now(one.path, count), was, one.before, one.after, moved, one.old_path is not None)
