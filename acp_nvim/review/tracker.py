"""Sees files become others, and enters it into the ledger: as an agent's doing, or as the user's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio.to_thread
import msgspec

from acp_nvim.file_time import last_change
from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import ABSENT, Content
from acp_nvim.review.disk_changes import DiskChanges, Known
from acp_nvim.review.evidence import Evidence, Verdict
from acp_nvim.review.kept_ledger import KeptEntry
from acp_nvim.review.ledger import NOBODY, Ledger, TurnLog
from acp_nvim.snapshots.snapshot import Blob, Changed
from acp_nvim.workspace.open_files import Followed, OpenFiles, OpenText
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.write_text_file import Written


class Edit(msgspec.Struct, frozen=True):
    """Between the buffer's states `before` and `state`, `lines` took the place of `count` lines after `first` others.

    `before` goes by the name `from` on the wire.
    """

    path: str
    before: str = msgspec.field(name="from")
    state: str
    first: int
    count: int
    lines: list[str]


class ChangeTracker:
    """All methods but `edited`, `saved`, `scanned` are called in `OpenFiles.alone` of the file."""

    def __init__(
        self, ledger: Ledger, files: OpenFiles, known: Known, evidence: Evidence, since: Callable[[str], int]
    ) -> None:
        self.ledger = ledger
        self._files = files
        self._evidence = evidence
        self._since = since
        self._saving: dict[str, int] = {}
        self.disk = DiskChanges(ledger, files, evidence, known, since, self._saving)

    def __repr__(self) -> str:
        return f"<ChangeTracker {self.ledger!r}>"

    async def wrote(self, turn: TurnLog, path: str, is_saved: bool, written: Written) -> None:
        """Enter what an agent has written with `fs/write_text_file`, as proven to be the agent's.

        `is_saved`: it is on the disk, too, and not only in a buffer.
        """
        before = ABSENT
        if written.before is not None:
            before = self.disk.text(path, written.before, written.encoding)
        after = self.disk.text(path, written.after, written.encoding)
        last, is_known = self._files.last(path), True
        if last is None:
            is_known = await self.disk.account(path, before, written.replaced)
        if before == after and path not in self.ledger.entries:
            self._evidence.wrote(turn.session, path)
            return  # the agent was there before us: a look at the disk will find it
        is_known = is_known or path in self.ledger.entries
        verdict = Verdict("agent", f"written by {turn.agent}", (turn.session,))
        entry = await self.ledger.agent(verdict, path, before, after)
        entry.is_guessed = entry.is_guessed or not is_known
        if last is not None:
            entry.state = last.state
        if is_saved or last is None:
            entry.on_disk = after.blob
        if entry.conflict is not None and entry.conflict.by == "fs/write_text_file":
            self._files.conflicts.settle(path)  # the agent has read the file again
            entry.conflict = None
        self.disk.told(path, verdict)

    async def followed(self, what: Followed) -> None:
        """A buffer was brought up to its file."""
        path = what.path
        if what.kind == "moved":
            await self.disk.moved(path, what.detail)
        elif what.kind == "conflict" and what.had is not None and what.after is not None:
            had = self.disk.text(path, what.had, what.encoding)
            after = self.disk.text(path, what.after, what.encoding)
            verdict = await self._evidence.judge(await self.disk.seen(path, had, after))
            await self.conflict(path, verdict, had)
            self.ledger.set_on_disk(path, after.blob)
        elif what.kind == "deleted" and what.had is not None:
            if not self.ledger.is_known(path, None, ""):
                await self.disk.became(path, self.disk.text(path, what.had, what.encoding), ABSENT)
        elif what.had is not None and what.has is not None and what.after is not None:
            after = self.disk.text(path, what.after, what.encoding)
            if self.ledger.is_known(path, after.blob, what.has):
                return  # the buffer was behind: it had the text of a file that was gone
            if what.before is not None:
                await self.disk.account(path, self.disk.text(path, what.before, what.encoding))
            if what.had != what.has:
                before = self.disk.text(path, what.had, what.encoding)
                await self.disk.became(path, before, self.disk.text(path, what.has, what.encoding), after)
            self.ledger.set_on_disk(path, after.blob)

    async def refused(self, turn: TurnLog, path: str) -> None:
        """What the agent wanted to write through us could not be merged."""
        async with self._files.alone(path):
            await self.conflict(path, Verdict("agent", f"written by {turn.agent}", (turn.session,)))

    async def conflict(self, path: str, verdict: Verdict, now: Content | None = None) -> None:
        """A version of the file, which is `now` (its buffer's text, if there is one), could not be merged."""
        kept = self._files.conflicts.of(path)
        entry = self.ledger.entries.get(path)
        last = self._files.last(path)
        if entry is None:
            if now is None:
                now = await self.disk.content(path) if last is None else self.disk.text(path, last.text, last.encoding)
            entry = self.ledger.entries[path] = Entry(path, now)
            entry.on_disk = await self.disk.blob(path)
        entry.state = entry.state if last is None else last.state
        await self.ledger.look(entry)
        entry.conflict = kept[-1] if kept else None
        if entry.operation is None:
            entry.blame(verdict)
        entry.sessions |= {session for session in verdict.sessions if session > NOBODY}
        self.ledger.tell(path)

    async def buffer_is(self, path: str, buffer: OpenText | None) -> None:
        """What a buffer is; what it was not when it was last heard of, the user has made of it."""
        await self.disk.buffer_is(path, buffer)
        entry = self.ledger.entries.get(path)
        if entry is None:
            return
        if buffer is None:
            await self._gone(path, entry)
            return
        if entry.current is None and not buffer.on_disk:
            entry.state = None
            self.ledger.tell(path)
            return
        await self.ledger.look(entry)
        was, entry.state = entry.state, buffer.state
        for change in self.ledger.changes(path):
            if change.text is not None:
                change.text.held_as(buffer.fileformat)
        if entry.text is not None and entry.text.current != buffer.text:
            now = self.disk.text(path, buffer.text, buffer.encoding)
            if was is None and not buffer.modified:  # the file was changed before it was opened
                before = Content(entry.current, entry.text.current, entry.encoding)
                await self.disk.became(path, before, now)
                entry.on_disk = now.blob
            else:
                await self.ledger.user(path, now)
        if was != entry.state:
            self.ledger.tell(path)

    async def _gone(self, path: str, entry: Entry) -> None:
        """There is no buffer (any more): what was not saved of it, the user has thrown away."""
        if entry.state is None:
            return
        entry.state = None
        if entry.text is not None and entry.on_disk is not None:
            saved = await self.ledger.with_text(path, Content(entry.on_disk), entry.encoding)
            if saved.text is not None and saved.text != entry.text.current:
                await self.ledger.user(path, saved)
        self.ledger.tell(path)

    async def edited(self, edit: Edit) -> None:
        """The user changed lines of a buffer under review."""
        async with self._files.alone(edit.path):
            entry = self.ledger.entries.get(edit.path)
            if entry is None:
                return
            is_same = edit.count == 0 and not edit.lines  # but for what is in no line
            if entry.text is None or entry.state != edit.before or is_same:
                await self._read(edit.path)  # which tells `buffer_is`
                return
            is_other = False
            for change in self.ledger.changes(edit.path):
                await self.ledger.look(change)
                if change.text is not None:
                    is_other |= change.text.user_lines(edit.first, edit.count, edit.lines)
            entry.state = edit.state
            if is_other or entry.conflict is not None:
                self.ledger.tell(edit.path)

    async def wanted(self, path: str) -> None:
        """Show the hunks of a file from now on: somebody looks at it."""
        async with self._files.alone(path):
            entry = self.ledger.entries.get(path) or self.ledger.revive(path)
            if entry is not None:
                entry.is_asked_for = True
                await self.ledger.look(entry)
                await self._read(path)
                self.ledger.tell(path)

    def saved(self, path: str) -> Awaitable[None]:
        """The user wrote the buffer: from now on nobody takes it for an agent's doing."""
        self._saving[path] = self._saving.get(path, 0) + 1
        return self._saved_now(path)

    async def _saved_now(self, path: str) -> None:
        async with self._files.alone(path):
            self._saving[path] -= 1
            if not self._saving[path]:
                del self._saving[path]
            on_disk = await self.disk.blob(path)
            entry = self.ledger.entries.get(path) or self.ledger.revive(path)
            if entry is None:
                self.ledger.accounted[path] = on_disk
            else:
                is_back = entry.current is None and on_disk is not None
                entry.on_disk, entry.current = on_disk, entry.current or on_disk
                await self._read(path)
                if is_back:  # what was deleted; its buffer had told of the text before
                    self.ledger.tell(path)

    async def take_over(self, kept: KeptEntry) -> None:
        """Take over a file that a host that is gone has left under review."""
        if kept.path not in self.ledger.entries:
            async with self._files.alone(kept.path):
                self.ledger.entries[kept.path] = kept.entry()
                await self._found(kept.path)

    async def _found(self, path: str) -> None:
        """What its Neovim had not saved is lost."""
        entry, now = self.ledger.entries[path], await self.disk.blob(path)
        if entry.current != entry.on_disk:
            await self.ledger.user(path, Content(entry.on_disk))
        if entry.on_disk != now:
            await self.disk.enter(path, Content(entry.on_disk), Content(now))
        self.ledger.set_on_disk(path, now)
        await self._read(path)

    async def scanned(self, found: Sequence[Changed]) -> None:
        """These files on disk are others than at the last look."""
        news: dict[str, Verdict] = {}
        for one in found:
            if one.old_path is not None:
                await self._renamed(one, one.old_path)
                continue
            async with self._files.alone(one.path):
                verdict = await self._scanned(one)
            if verdict is not None:
                news[one.path] = verdict
        await self.ledger.count_lines([change for path in news for change in self.ledger.changes(path)])
        for path, verdict in news.items():
            self.disk.told(path, verdict)

    async def _scanned(self, one: Changed) -> Verdict | None:
        """Who changed it, to be told; None when there is nothing to tell."""
        path = one.path
        buffer = await self._read(path)  # a buffer that was behind has followed by now
        entry = self.ledger.entries.get(path)
        before = entry.on_disk if entry is not None else self.ledger.accounted.get(path, one.before)
        for _ in range(FOLLOW_ATTEMPTS):  # git, and editors, make files anew: they are gone for a moment
            now = await self.disk.blob(path, one.after)
            if not await self.disk.is_past(path, Content(now)):
                break
        if entry is not None and entry.is_guessed and one.after is not None:
            await self._correct(path, entry, one.before)
        if before == now or path in self._saving:  # by the user, who is waited for to be heard
            return None
        verdict: Verdict | None = None
        if entry is None or buffer is None:
            verdict = await self.disk.enter(path, Content(before), Content(now))
            await self.buffer_is(path, buffer)
        elif before is not None and now is not None and before.mode != now.mode:
            verdict = await self._evidence.judge(await self.disk.seen(path, Content(before), Content(now)))
            self.ledger.mode(verdict, path, now.mode)
        self.ledger.set_on_disk(path, now)
        return verdict

    async def _correct(self, path: str, entry: Entry, before: Blob | None) -> None:
        """The snapshots know what the file was."""
        entry.is_guessed = False
        content = await self.ledger.with_text(path, Content(before), entry.encoding)
        for change in self.ledger.changes(path):
            change.rebase(content)
        self.disk.told(path, entry.verdict)

    async def _renamed(self, one: Changed, old_path: str) -> None:
        """A file that may be open, or under review, has another name, and perhaps another text."""
        async with self._files.alone(old_path):
            await self._read(old_path)  # its buffer goes along
        async with self._files.alone(old_path, one.path):
            if not self.ledger.is_taken(one.path, old_path) and await self.disk.is_renamed(old_path, one.path):
                await self.disk.moved(old_path, one.path, Content(one.before))
                return
        await self.scanned([Changed(old_path, one.before, None), Changed(one.path, None, one.after)])

    async def named(self, path: str) -> None:
        """An agent is about to change the file: what was done to it before is not its doing."""
        changed, size = await anyio.to_thread.run_sync(last_change, path)
        if size is not None and changed >= self._since(path):  # what is gone may have another name: a look tells
            async with self._files.alone(path):
                await self.look_at(path)

    async def look_at(self, path: str) -> None:
        """Look at a file on the disk, and enter what has become of it since the last look."""
        if await self._read(path) is None:
            await self.disk.account(path, await self.disk.content(path))

    async def _read(self, path: str) -> OpenText | None:
        try:
            return await self._files.read(path)
        except FileRefusedError:  # it is no text any more, or nobody can read it
            return None
