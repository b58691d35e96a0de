"""Records what is under review, file by file, and what each turn has changed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Sequence
from typing import Final

import msgspec

from acp_nvim.contract import events
from acp_nvim.contract.editor import TextChange
from acp_nvim.contract.events import Event, Operation
from acp_nvim.contract.review_events import Review
from acp_nvim.evidence.evidence import Observation, Verdict
from acp_nvim.hunks.reviewed_text import ReviewedText
from acp_nvim.review.change import Change, Entry, record_of
from acp_nvim.review.contents import ABSENT, Content, Contents, is_stored
from acp_nvim.review.past_texts import PastTexts
from acp_nvim.review.records import ChangeRecord
from acp_nvim.snapshots.renames import grouped, is_directory
from acp_nvim.snapshots.snapshot import Blob, DirectoryMove, GoneError, Snapshot, SnapshotError
from acp_nvim.workspace.roots import WatchedRoots

MAX_COMPARED: Final = 100
"""Changed files up to which texts are compared, at 1 ms each; git counts the lines of more."""

log = logging.getLogger(__name__)


class TurnLog:
    """The changes of a session's turn, whose agent may change what `roots` watch while `active`; dead hosts' keys are
    < 0.
    """

    def __init__(self, session: int, agent: str, roots: WatchedRoots) -> None:
        self.session = session
        self.agent = agent
        self.roots = roots
        self.parent: TurnLog | None = None
        """The log of the session whose agent has created this one: while it is active, it has the changes, too."""
        self.active = False
        self.prompt = ""
        self.began: dict[str, Snapshot] = {}
        """The snapshot at the beginning of the turn, by directory."""
        self.changes: dict[str, Change] = {}
        self.is_over = False
        """True when the agent has answered: what the user does to the files since is no part of `changes`."""
        self.recording: Collection[str] = ()
        """The paths of the changes whose records are being stored."""

    @classmethod
    def left(cls, key: int, agent: str, directory: str) -> TurnLog:
        """Return the log of a turn that a dead host has left in a workspace; `key` stands for its session."""
        return cls(key, agent, WatchedRoots([directory]))

    def change(self, path: str, before: Content) -> Change:
        """Return the turn's change of a file; make one that begins with `before` if there is none."""
        if path not in self.changes:
            self.changes[path] = Change(path, before)
        return self.changes[path]

    def move(self, path: str, new: str, before: Content, now: Content, verdict: Verdict) -> None:
        """Record a rename: its undo makes one file and removes another."""
        made = self.changes.get(path)
        if made is not None and made.base is None:
            made.path = new
            self.changes[new] = self.changes.pop(path)
        else:
            away = self.change(path, before)
            away.attribute(verdict)
            away.apply_agent(ABSENT)
            self.change(new, ABSENT)
        self.changes[new].attribute(verdict)
        if made is None or made.base is not None:
            self.changes[new].old_path = path
        self.changes[new].apply_agent(now)

    def counts(self, change: Change) -> tuple[int, int]:
        """Return the numbers of added and removed lines; a renamed file is compared with that of the old name."""
        old = None if change.old_path is None else self.changes.get(change.old_path)
        if old is None or old.text is None or change.text is None:
            return change.added, change.removed
        text = ReviewedText(old.text.base, change.text.current)
        return text.added, text.removed

    def take(self, contents: Callable[[str], Contents]) -> list[ChangeRecord]:
        """Return the records of all changes, renames of directories first, and begin without any."""
        directories = {_move_of(one): one for one in self.changes.values() if one.is_directory and one.old_path}
        joining = [one for group in grouped(list(directories)) for one in group[1:]]
        done = [directories[one] for group in grouped(list(directories)) for one in group]
        done += [self.changes[path] for path in sorted(self.changes) if not is_directory(path)]
        taken = []
        for change in done:
            if change.operation is not None:
                added, removed = self.counts(change)
                record = record_of(change, contents(change.path))
                joins = change.is_directory and _move_of(change) in joining
                taken.append(msgspec.structs.replace(record, added=added, removed=removed, joins=joins))
        self.changes = {}
        return taken


def _move_of(change: Change) -> DirectoryMove:
    return DirectoryMove((change.old_path or change.path).rstrip(os.sep), change.path.rstrip(os.sep))


class Ledger:
    """The review of all sessions, by real path. To change a file's review, hold `OpenFiles.alone` of the file.

    `contents` returns the `Contents` for a path; `publish` sends an event to the editor; `on_news` is called after it.
    """

    def __init__(self, contents: Callable[[str], Contents], publish: Callable[[Event], None]) -> None:
        self.entries: dict[str, Entry] = {}
        self.logs: list[TurnLog] = []
        self.accounted: dict[str, Blob | None] = {}
        """The last known content on disk of files that are not under review."""
        self.past = PastTexts()
        self.contents = contents
        self.on_news: Callable[[], None] = lambda: None
        self._publish = publish

    def active(self, path: str) -> list[TurnLog]:
        """Return the logs of the turns whose agents may change that file now."""
        return [one for one in self.logs if one.active and one.roots.contains(path)]

    def open(self, session: int | None = None) -> list[Entry]:
        """Return the entries with something to review, of one session or of all; sorted by path."""
        found = (entry for entry in self.entries.values() if not entry.is_over)
        return sorted((one for one in found if session is None or session in one.sessions), key=lambda one: one.path)

    def sessions(self) -> set[int]:
        """Return the keys of the sessions of which there is something to review."""
        return {session for one in self.entries.values() if not one.is_over for session in one.sessions}

    def counts(self, session: int, roots: WatchedRoots | None) -> events.ReviewCounts | None:
        """Count what there is to review for a session, and what dead hosts left in `roots`; None if nothing."""

        def counts(entry: Entry) -> bool:
            return session in entry.sessions if entry.sessions else roots is not None and roots.contains(entry.path)

        found = [one for one in self.entries.values() if one.verdict.by != "state" and counts(one) and not one.is_over]
        if not found:
            return None
        return events.ReviewCounts(len(found), sum(one.added for one in found), sum(one.removed for one in found))

    def logs_of(self, sessions: Sequence[int]) -> list[TurnLog]:
        """Return the logs of the sessions with these keys, and the active ones of their parents."""
        found = {one.session: one for one in self.logs if one.session in sessions}
        for one in list(found.values()):
            while one.parent is not None:
                one = one.parent
                if one.active:
                    found[one.session] = one
        return list(found.values())

    async def apply_agent(
        self,
        verdict: Verdict,
        path: str,
        before: Content,
        after: Content,
        seen: Observation | None = None,
        change: TextChange | None = None,
        made: Sequence[str] = (),
    ) -> Entry:
        """Enter a change by an agent, or of unknown origin; what differs from `before` is the user's.

        `change` leads from the text of `before` to that of `after`, if it is known; `made` are the directories that
        were created with the file.
        """
        turns = self.logs_of(verdict.sessions)
        for one in self.changes(path):
            if not one.is_at(before):
                await self.load_texts(one)
                one.apply_user(before if one.text is None else await self.with_text(path, before, one.encoding))
        entry = self.entries.get(path)
        if entry is None:
            entry = self.entries[path] = Entry(path, before)
        entry.sessions |= verdict.live_sessions | {turn.session for turn in turns if turn.session > 0}
        changes = [entry, *(turn.change(path, before) for turn in turns)]
        if after.text is None and any(one.text is not None for one in changes):
            after = await self.with_text(path, after, entry.encoding)
        for one in changes:
            one.attribute(verdict, seen)
            one.made += made
            is_there = one.text is not None and one.text.current == before.text
            one.apply_agent(after, change if is_there else None)
        if after.blob is None:
            await self._undo_rename_of_deleted(path, entry)
        else:
            await self._undo_rename_of_recreated(path, entry)
        return entry

    def is_taken(self, path: str, by: str) -> bool:
        """Return whether the file that was `by` and is `path` now replaces another one under review."""
        other = self._renamed_from(path)
        return path in self.entries or other not in (None, self.entries.get(by))

    def _renamed_from(self, path: str) -> Entry | None:
        """Return the entry of the file that had that name."""
        return next((one for one in self.entries.values() if one.old_path == path), None)

    async def _undo_rename_of_deleted(self, path: str, entry: Entry) -> None:
        """Turn a rename whose file was deleted into a deletion under the old name."""
        old_path = entry.old_path
        for change in self.changes(path):
            await self.load_texts(change)
            change.old_path = None
        if old_path is None:
            return
        moves = old_path not in self.entries
        self.forget(path, moves=moves)
        if moves:
            entry.path, entry.state, entry.on_disk = old_path, None, None
            self.entries[old_path] = entry
            self.publish(old_path)

    async def _undo_rename_of_recreated(self, path: str, entry: Entry) -> None:
        """Split a rename whose old name exists again: one file was changed, one is new."""
        other = self._renamed_from(path)
        if other is None:
            return
        await self.load_texts(other)
        other.store_texts(self.contents(other.path))
        if entry.base is None:
            entry.rebase(await self.with_text(path, other.base_content(), other.encoding))
            await self.load_texts(entry)
        other.old_path = None
        other.rebase(ABSENT)
        self.publish(other.path)

    async def apply_user(self, path: str, after: Content, *, found: bool = False) -> None:
        """Enter that the user changed a file to `after`; users' changes are not reviewed.

        `found`: a look has found that on disk. It may have been done during a turn that is over.
        """
        for change in self.changes(path, lasting=not found):
            await self.load_texts(change)
            if change.text is not None and after.text is None:
                after = await self.with_text(path, after, change.encoding)
            change.apply_user(after)

    def mode(self, verdict: Verdict, path: str, now: Blob) -> None:
        """Enter a change of nothing but the mode, or the permissions, of a file that is `now`."""
        for change in self.changes(path):
            if verdict.by != "user":
                change.attribute(verdict)
            if change.current is not None:
                change.current = change.current.with_mode(now)
            if verdict.by == "user" and change.base is not None:
                change.base = change.base.with_mode(now)

    def changes(self, path: str, *, lasting: bool = False) -> list[Change]:
        """Return all recorded changes of the file: the one under review, and those of turns.

        `lasting`: without those of turns that are over, which what the user does from now on is no part of.
        """
        entry = self.entries.get(path)
        found: list[Change] = [] if entry is None else [entry]
        turns = (turn for turn in self.logs if path in turn.changes and not (lasting and turn.is_over))
        return found + [turn.changes[path] for turn in turns]

    def is_in_turn(self, path: str) -> bool:
        """Return whether a turn that is not recorded yet has changed the file."""
        return any(path in turn.changes or path in turn.recording for turn in self.logs)

    async def load_texts(self, change: Change) -> None:
        """Load the texts of a change; if they are lost, it is reviewed as a whole."""
        try:
            await change.load(self.contents(change.path))
        except SnapshotError as error:
            log.warning("the earlier contents of %s are lost: %s", change.path, error)
            change.is_loaded = True
            change.is_lost = isinstance(error, GoneError)

    async def count_lines(self, changes: Sequence[Change]) -> None:
        """Count the lines of changes; many are counted by git, which ignores line ends and binary files."""
        for change in changes:
            if not all(is_stored(blob) for blob in (change.base, change.current) if blob is not None):
                change.is_loaded = True  # there are no lines to be counted
        if len(changes) <= MAX_COMPARED:
            for change in changes:
                await self.load_texts(change)
        waiting: dict[Contents, list[Change]] = {}
        for change in changes:
            if not change.is_loaded and change.counts is None:
                waiting.setdefault(self.contents(change.path), []).append(change)
        for contents, some in waiting.items():
            try:
                await contents.flush()
                counts = await contents.shadow.counts([(one.base, one.current) for one in some])
            except SnapshotError as error:
                log.warning("the changed lines in %s cannot be counted: %s", contents.shadow.root, error)
                continue
            for change, counted in zip(some, counts, strict=True):
                change.counts = counted
                change.is_loaded = change.is_loaded or counted is None

    async def with_text(self, path: str, content: Content, encoding: str | None) -> Content:
        """Return the content with its text, if it is text and not lost."""
        try:
            return await self.contents(path).load(path, content.blob, encoding)
        except SnapshotError as error:
            log.warning("the stored content of %s is lost: %s", path, error)
            return content

    def is_known(self, path: str, on_disk: Blob | None, text: str) -> bool:
        """Return whether that is known to be on disk, and in the review of the file if there is one."""
        entry = self.entries.get(path)
        if entry is None:
            return path in self.accounted and self.accounted[path] == on_disk
        if on_disk is None and entry.current is None:
            return entry.on_disk is None
        return entry.on_disk == on_disk and entry.text is not None and entry.text.current == text

    def is_accounted(self, path: str) -> bool:
        """Return whether the content on disk is known from a look at the file (`on_disk`), not only from a snapshot."""
        return path in self.entries or path in self.accounted

    def on_disk(self, path: str) -> Blob | None:
        """Return what the file was on disk at the last look; None also if that is unknown."""
        entry = self.entries.get(path)
        return self.accounted.get(path) if entry is None else entry.on_disk

    def known_below(self, root: str) -> list[str]:
        """Return the files below that directory whose content on disk is known, whatever the last scan found."""
        top = root.rstrip(os.sep) + os.sep
        return [path for path in (*self.accounted, *self.entries) if path.startswith(top) and not is_directory(path)]

    def publish(self, path: str) -> None:
        """Send the state of the file's review to the editor; end the review if nothing is left."""
        entry = self.entries.get(path)
        if entry is None:
            return
        if entry.is_over and entry.state is None:
            self.forget(path)
        else:
            self._publish(entry.review())
            self.on_news()

    def set_on_disk(self, path: str, blob: Blob | None) -> None:
        """Note the file's content on disk without attributing the change."""
        entry = self.entries.get(path)
        if entry is None:
            self.accounted[path] = blob
        else:
            entry.on_disk = blob

    def forget(self, path: str, *, moves: bool = False) -> None:
        """End the review of a path; with `moves`, its entry goes on under another path."""
        entry = self.entries.pop(path, None)
        if entry is not None:
            self.accounted[path] = entry.on_disk
            if not moves:
                self.past.keep(entry)
            self.leave(path)

    def leave(self, path: str) -> None:
        """Tell the editor that the review of a path is over."""
        self._publish(Review(path=path, operation="none"))
        self.on_news()

    def revive(self, path: str) -> Entry | None:
        """Return the entry of a finished review, which undo may reopen; None if it is not kept."""
        entry = self.past.take(path) if path not in self.entries else None
        if entry is not None:
            self.entries[path] = entry
            entry.on_disk = self.accounted.pop(path, entry.on_disk)
        return entry

    def announce(self, path: str, turns: Sequence[TurnLog]) -> None:
        """Tell the sessions of these turns that they have changed the file."""
        for turn in turns:
            change = turn.changes.get(path)
            if change is not None and change.operation is not None and turn.session > 0:
                added, removed = turn.counts(change)
                self._publish(
                    events.FileChanged(
                        session=turn.session,
                        path=path,
                        by=change.verdict.by,
                        operation=change.operation,
                        added=added,
                        removed=removed,
                        why=change.verdict.why,
                        tool_call=change.verdict.tool_call,
                    )
                )

    def announce_user(self, path: str, why: str, operation: Operation) -> None:
        """Tell the sessions that work there that the user has changed the file."""
        for turn in self.active(path):
            if turn.session > 0:
                self._publish(
                    events.FileChanged(session=turn.session, path=path, by="user", operation=operation, why=why)
                )
