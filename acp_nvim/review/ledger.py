"""What is to be reviewed, file by file, and what each turn has changed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from acp_nvim.review.change import Change, Entry, KeptChange, PastTexts, kept
from acp_nvim.review.contents import ABSENT, Content, Contents, is_stored
from acp_nvim.review.evidence import Seen, Verdict
from acp_nvim.review.reviewed_text import ReviewedText
from acp_nvim.snapshots.snapshot import Blob, Snapshot, SnapshotError
from acp_nvim.ui import events
from acp_nvim.ui.events import Event, Operation
from acp_nvim.ui.review_events import Review
from acp_nvim.workspace.roots import Roots

NOBODY = 0
"""Sessions of turns whose host is gone have this number, or one below it."""
LOOKED_AT: Final = 100
"""Files that change at once up to which their texts are compared, instead of git being asked: 1 ms each."""

log = logging.getLogger(__name__)


class TurnLog:
    """What a turn has changed; while it is `active`, what happens on disk below `roots` is its agent's doing."""

    def __init__(self, session: int, agent: str, roots: Roots) -> None:
        self.session = session
        self.agent = agent
        self.roots = roots
        self.active = False
        self.prompt = ""
        self.began: dict[str, Snapshot] = {}
        """What there was when the turn began, by directory."""
        self.changes: dict[str, Change] = {}

    def __repr__(self) -> str:
        return f"<TurnLog of {self.session}: {len(self.changes)} files{', active' if self.active else ''}>"

    def change(self, path: str, before: Content) -> Change:
        """Return the turn's change of a file; the first one begins with `before`."""
        return self.changes.setdefault(path, Change(path, before))

    def move(self, path: str, new: str, before: Content, now: Content, verdict: Verdict) -> None:
        """The file got another name: to go back, there is one to be made and one to be removed."""
        made = self.changes.get(path)
        if made is not None and made.base is None:
            made.path = new
            self.changes[new] = self.changes.pop(path)
        else:
            away = self.change(path, before)
            away.blame(verdict)
            away.agent(ABSENT)
            self.change(new, ABSENT)
        self.changes[new].blame(verdict)
        if made is None or made.base is not None:
            self.changes[new].old_path = path
        self.changes[new].agent(now)

    def counts(self, change: Change) -> tuple[int, int]:
        """Lines added and removed; a renamed file is compared with what it was under its old name."""
        old = None if change.old_path is None else self.changes.get(change.old_path)
        if old is None or old.text is None or change.text is None:
            return change.added, change.removed
        text = ReviewedText(old.text.base, change.text.current)
        return text.added, text.removed

    def take(self, contents: Callable[[str], Contents]) -> list[KeptChange]:
        """All changes, in the order of their paths; the next turn begins without any."""
        done = [self.changes[path] for path in sorted(self.changes)]
        taken = [self._kept(change, contents(change.path)) for change in done if change.operation is not None]
        self.changes = {}
        return taken

    def _kept(self, change: Change, contents: Contents) -> KeptChange:
        added, removed = self.counts(change)
        return msgspec.structs.replace(kept(change, contents), added=added, removed=removed)


class Ledger:
    """For all sessions, by real path. Who changes a file for it holds `OpenFiles.alone` of that file.

    `contents` gives those that a path's bytes belong to; `publish` tells the editor; `on_news` is called after it.
    """

    def __init__(self, contents: Callable[[str], Contents], publish: Callable[[Event], None]) -> None:
        self.entries: dict[str, Entry] = {}
        self.logs: list[TurnLog] = []
        self.accounted: dict[str, Blob | None] = {}
        """What is known to be on disk, of files that are not under review (any more)."""
        self._past = PastTexts()
        self.contents = contents
        self.on_news: Callable[[], None] = lambda: None
        self._publish = publish

    def __repr__(self) -> str:
        return f"<Ledger {len(self.entries)} files, {self.logs}>"

    def active(self, path: str) -> list[TurnLog]:
        """Return the logs of the turns whose agents may be changing that file just now."""
        return [one for one in self.logs if one.active and one.roots.contains(path)]

    def open(self, session: int | None = None) -> list[Entry]:
        """What is to be reviewed, of one session or of all; by path."""
        found = (entry for entry in self.entries.values() if not entry.is_over)
        return sorted((one for one in found if session is None or session in one.sessions), key=lambda one: one.path)

    def counts(self, session: int, roots: Roots) -> events.ReviewCounts | None:
        """Count what is to be reviewed for a session at `roots` and what dead hosts have left; None: nothing."""
        found = [one for one in self.open() if one.verdict.by != "state"]
        found = [one for one in found if session in one.sessions or (not one.sessions and roots.contains(one.path))]
        if not found:
            return None
        return events.ReviewCounts(len(found), sum(one.added for one in found), sum(one.removed for one in found))

    def of(self, sessions: Sequence[int]) -> list[TurnLog]:
        """Return the logs of what the turns of these sessions (their keys) have changed."""
        return [one for one in self.logs if one.session in sessions]

    async def agent(
        self, verdict: Verdict, path: str, before: Content, after: Content, seen: Seen | None = None
    ) -> Entry:
        """An agent, or nobody knows who, made `after` of `before`; what the file was else, the user has made of it."""
        turns = self.of(verdict.sessions)
        for change in self.changes(path):
            if not _is_at(change, before):
                await self.look(change)
                change.user(before if change.text is None else await self.with_text(path, before, change.encoding))
        entry = self.entries.get(path)
        if entry is None:
            entry = self.entries[path] = Entry(path, before)
        entry.sessions |= {turn.session for turn in turns if turn.session > NOBODY}
        changes = [entry, *(turn.change(path, before) for turn in turns)]
        if after.text is None and any(one.text is not None for one in changes):
            after = await self.with_text(path, after, entry.encoding)
        for change in changes:
            change.blame(verdict, seen)
            change.agent(after)
        if after.blob is None:
            await self._gone_under_another_name(path, entry)
        else:
            await self._there_again(path, entry)
        return entry

    def is_taken(self, path: str, by: str) -> bool:
        """Whether what was `by` and is `path` now takes the place of another one that is under review."""
        other = self._renamed_from(path)
        return path in self.entries or other not in (None, self.entries.get(by))

    def _renamed_from(self, path: str) -> Entry | None:
        return next((one for one in self.entries.values() if one.old_path == path), None)

    async def _gone_under_another_name(self, path: str, entry: Entry) -> None:
        """What was renamed and then deleted is just deleted, where it was."""
        old_path = entry.old_path
        for change in self.changes(path):
            await self.look(change)
            change.old_path = None
        if old_path is None:
            return
        goes_on = old_path not in self.entries
        self.forget(path, goes_on=goes_on)
        if goes_on:
            entry.path, entry.state, entry.on_disk = old_path, None, None
            self.entries[old_path] = entry
            self.tell(old_path)

    async def _there_again(self, path: str, entry: Entry) -> None:
        """What was renamed, and made anew under its old name, was not renamed: one file was changed, one is new."""
        other = self._renamed_from(path)
        if other is None:
            return
        await self.look(other)
        other.settle(self.contents(other.path))
        if entry.base is None:
            entry.rebase(await self.with_text(path, other.copy_of_base(), other.encoding))
            await self.look(entry)
        other.old_path = None
        other.rebase(ABSENT)
        self.tell(other.path)

    async def user(self, path: str, after: Content) -> None:
        """Enter that the user has changed a file to `after`; what the user does is not reviewed."""
        for change in self.changes(path):
            await self.look(change)
            if change.text is not None and after.text is None:
                after = await self.with_text(path, after, change.encoding)
            change.user(after)

    def mode(self, verdict: Verdict, path: str, mode: int) -> None:
        """The mode of a file was changed, and nothing else."""
        for change in self.changes(path):
            if verdict.by != "user":
                change.blame(verdict)
            if change.current is not None:
                change.current = Blob(change.current.oid, mode)
            if verdict.by == "user" and change.base is not None:
                change.base = Blob(change.base.oid, mode)

    def changes(self, path: str) -> list[Change]:
        """All that are recorded of the file: what is to be reviewed of it, and what the turns did."""
        entry = self.entries.get(path)
        found: list[Change] = [] if entry is None else [entry]
        return found + [turn.changes[path] for turn in self.logs if path in turn.changes]

    async def look(self, change: Change) -> None:
        """Get its texts. Where they are lost it is reviewed as a whole."""
        try:
            await change.look(self.contents(change.path))
        except SnapshotError as error:
            log.warning("what was in %s is lost: %s", change.path, error)
            change.is_looked_at = True

    async def count_lines(self, changes: Sequence[Change]) -> None:
        """Give them their counts; of many by git, which knows nothing of line ends, and what has no lines."""
        for change in changes:
            if not all(is_stored(blob) for blob in (change.base, change.current) if blob is not None):
                change.is_looked_at = True  # there are no lines to be counted
        if len(changes) <= LOOKED_AT:
            for change in changes:
                await self.look(change)
        waiting: dict[Contents, list[Change]] = {}
        for change in changes:
            if not change.is_looked_at and change.counts is None:
                waiting.setdefault(self.contents(change.path), []).append(change)
        for contents, some in waiting.items():
            try:
                await contents.flush()
                counts = await contents.shadow.counts([(one.base, one.current) for one in some])
            except SnapshotError as error:
                log.warning("lines of changes in %s cannot be counted: %s", contents.shadow.root, error)
                continue
            for change, counted in zip(some, counts, strict=True):
                change.counts = counted
                change.is_looked_at = change.is_looked_at or counted is None

    async def with_text(self, path: str, content: Content, encoding: str | None) -> Content:
        """Return the content with its text, if it is one."""
        try:
            return await self.contents(path).look(path, content.blob, encoding)
        except SnapshotError as error:
            log.warning("what is in %s is lost: %s", path, error)
            return content

    def is_known(self, path: str, on_disk: Blob | None, text: str) -> bool:
        """Whether that is known to be on disk, and in the review of the file, if there is one: so is who did it."""
        entry = self.entries.get(path)
        if entry is None:
            return path in self.accounted and self.accounted[path] == on_disk
        return entry.on_disk == on_disk and entry.text is not None and entry.text.current == text

    def known_below(self, root: str) -> list[str]:
        """The files below that directory of which is known what they are on disk, whatever the last look has found."""
        top = root.rstrip(os.sep) + os.sep
        return [path for path in (*self.accounted, *self.entries) if path.startswith(top)]

    def tell(self, path: str) -> None:
        """How the review of that file stands."""
        entry = self.entries.get(path)
        if entry is None:
            return
        if entry.is_over and entry.state is None:
            self.forget(path)
        else:
            self._publish(entry.review())
            self.on_news()

    def set_on_disk(self, path: str, blob: Blob | None) -> None:
        """Note what is in the file, where nobody needs to find out who made it so."""
        entry = self.entries.get(path)
        if entry is None:
            self.accounted[path] = blob
        else:
            entry.on_disk = blob

    def forget(self, path: str, *, goes_on: bool = False) -> None:
        """Nothing is left of it to review; `goes_on`: its entry is that of another path from now on."""
        entry = self.entries.pop(path, None)
        if entry is not None:
            self.accounted[path] = entry.on_disk
            if not goes_on:
                self._past.keep(entry)
            self._publish(Review(path=path, operation="none"))
            self.on_news()

    def revive(self, path: str) -> Entry | None:
        """The entry of a file whose review was over, with its past; None when it has none. Undo may begin it again."""
        entry = self._past.take(path) if path not in self.entries else None
        if entry is not None:
            self.entries[path] = entry
            entry.on_disk = self.accounted.pop(path, entry.on_disk)
        return entry

    def announce(self, path: str, turns: Sequence[TurnLog]) -> None:
        """Tell that the agents of these turns have changed it."""
        for turn in turns:
            change = turn.changes.get(path)
            if change is not None and change.operation is not None and turn.session > NOBODY:
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
        """Tell the sessions that work there that the user has changed it."""
        for turn in self.active(path):
            if turn.session > NOBODY:
                self._publish(
                    events.FileChanged(session=turn.session, path=path, by="user", operation=operation, why=why)
                )


def _is_at(entry: Change, content: Content) -> bool:
    """Whether we know that the file is that."""
    if (entry.current is None) != (content.blob is None):
        return False
    if entry.text is not None and content.text is not None:
        return entry.text.current == content.text
    return entry.current is None or content.blob is None or entry.current.oid == content.blob.oid
