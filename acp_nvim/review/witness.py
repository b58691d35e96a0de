"""Sees files become others, and enters it into the ledger: as an agent's doing, or as the user's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio.to_thread

from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.accounting import Accounting
from acp_nvim.review.contents import ABSENT, Content
from acp_nvim.review.counting import count
from acp_nvim.review.disk import Disk, Known
from acp_nvim.review.doubts import Doubts
from acp_nvim.review.edit import Edit
from acp_nvim.review.entering import Entering
from acp_nvim.review.entry import Entry
from acp_nvim.review.evidence import Evidence, Verdict, looked_at
from acp_nvim.review.kept_ledger import KeptEntry
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.renames import Renames
from acp_nvim.review.turn_log import NOBODY, TurnLog
from acp_nvim.snapshots.snapshot import Blob, Changed
from acp_nvim.workspace.open_files import Followed, OpenFiles, OpenText
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.write_text_file import Written


class Witness:
    """All methods but `edited`, `saved`, `scanned` are called in `OpenFiles.alone` of the file."""

    def __init__(
        self, ledger: Ledger, files: OpenFiles, known: Known, evidence: Evidence, since: Callable[[str], int]
    ) -> None:
        self.ledger = self._ledger = ledger
        self._files = files
        self._evidence = evidence
        self._since = since
        self.disk = self._disk = Disk(ledger, known, files.saves)
        self._entering = Entering(ledger, evidence, since)
        self._saving: dict[str, int] = {}
        self.doubts = Doubts(ledger, files, evidence, self._entering)
        self._accounting = Accounting(ledger, self._disk, self._entering, self._saving)
        self._renames = Renames(ledger, self._disk, evidence, self._entering, self._accounting)

    def __repr__(self) -> str:
        return f"<Witness {self._ledger!r}>"

    async def wrote(self, turn: TurnLog, path: str, is_saved: bool, written: Written) -> None:
        """`fs/write_text_file` is done."""
        before = ABSENT
        if written.before is not None:
            before = self._disk.text(path, written.before, written.encoding)
        after = self._disk.text(path, written.after, written.encoding)
        last, is_known = self._files.last(path), True
        if last is None:
            is_known = await self._accounting.account(path, before, written.replaced)
        if before == after and path not in self._ledger.entries:
            self._evidence.wrote(turn.session, path)
            return  # the agent was there before us: a look at the disk will find it
        is_known = is_known or path in self._ledger.entries
        verdict = Verdict("agent", f"written by {turn.agent}", (turn.session,))
        entry = await self._ledger.agent(verdict, path, before, after)
        entry.is_guessed = entry.is_guessed or not is_known
        if last is not None:
            entry.state = last.state
        if is_saved or last is None:
            entry.on_disk = after.blob
        if entry.conflict is not None and entry.conflict.by == "fs/write_text_file":
            self._files.conflicts.settle(path)  # the agent has read the file again
            entry.conflict = None
        self._entering.told(path, verdict)

    async def followed(self, what: Followed) -> None:
        """A buffer was brought up to its file."""
        path = what.path
        if what.kind == "moved":
            await self._renames.moved(path, what.detail)
        elif what.kind == "conflict" and what.had is not None and what.after is not None:
            had = self._disk.text(path, what.had, what.encoding)
            after = self._disk.text(path, what.after, what.encoding)
            verdict = await self._evidence.judge(await self._entering.seen(path, had, after))
            await self.conflict(path, verdict, had)
            self._ledger.set_on_disk(path, after.blob)
        elif what.kind == "deleted" and what.had is not None:
            if not self._ledger.is_known(path, None, ""):
                await self._entering.became(path, self._disk.text(path, what.had, what.encoding), ABSENT)
        elif what.had is not None and what.has is not None and what.after is not None:
            after = self._disk.text(path, what.after, what.encoding)
            if self._ledger.is_known(path, after.blob, what.has):
                return  # the buffer was behind: it had the text of a file that was gone
            if what.before is not None:
                await self._accounting.account(path, self._disk.text(path, what.before, what.encoding))
            if what.had != what.has:
                before = self._disk.text(path, what.had, what.encoding)
                await self._entering.became(path, before, self._disk.text(path, what.has, what.encoding), after)
            self._ledger.set_on_disk(path, after.blob)

    async def conflict(self, path: str, verdict: Verdict, now: Content | None = None) -> None:
        """A version of the file, which is `now` (its buffer's text, if there is one), could not be merged."""
        kept = self._files.conflicts.of(path)
        entry = self._ledger.entries.get(path)
        last = self._files.last(path)
        if entry is None:
            if now is None:
                now = (
                    await self._disk.content(path) if last is None else self._disk.text(path, last.text, last.encoding)
                )
            entry = self._ledger.entries[path] = Entry(path, now)
            entry.on_disk = await self._disk.blob(path)
        entry.state = entry.state if last is None else last.state
        await self._ledger.look(path, entry)
        entry.conflict = kept[-1] if kept else None
        if entry.operation is None:
            entry.blame(verdict)
        entry.sessions |= {session for session in verdict.sessions if session > NOBODY}
        self._ledger.tell(path)

    async def buffer_is(self, path: str, buffer: OpenText | None) -> None:
        """What a buffer is; what it was not when it was last heard of, the user has made of it."""
        await self._accounting.buffer_is(path, buffer)
        entry = self._ledger.entries.get(path)
        if entry is None:
            return
        if buffer is None:
            await self._gone(path, entry)
            return
        if entry.current is None and not buffer.on_disk:
            entry.state = None
            self._ledger.tell(path)
            return
        await self._ledger.look(path, entry)
        was, entry.state = entry.state, buffer.state
        for change in self._ledger.changes(path):
            if change.text is not None:
                change.text.held_as(buffer.fileformat)
        if entry.text is not None and entry.text.current != buffer.text:
            now = self._disk.text(path, buffer.text, buffer.encoding)
            if was is None and not buffer.modified:  # the file was changed before it was opened
                before = Content(entry.current, entry.text.current, entry.encoding)
                await self._entering.became(path, before, now)
                entry.on_disk = now.blob
            else:
                await self._ledger.user(path, now)
        if was != entry.state:
            self._ledger.tell(path)

    async def _gone(self, path: str, entry: Entry) -> None:
        """There is no buffer (any more): what was not saved of it, the user has thrown away."""
        if entry.state is None:
            return
        entry.state = None
        if entry.text is not None and entry.on_disk is not None:
            saved = await self._ledger.with_text(path, Content(entry.on_disk), entry.encoding)
            if saved.text is not None and saved.text != entry.text.current:
                await self._ledger.user(path, saved)
        self._ledger.tell(path)

    async def edited(self, edit: Edit) -> None:
        """The user changed lines of a buffer under review."""
        async with self._files.alone(edit.path):
            entry = self._ledger.entries.get(edit.path)
            if entry is None:
                return
            is_same = edit.count == 0 and not edit.lines  # but for what is in no line
            if entry.text is None or entry.state != edit.before or is_same:
                await self._read(edit.path)  # which tells `buffer_is`
                return
            is_other = False
            for change in self._ledger.changes(edit.path):
                await self._ledger.look(edit.path, change)
                if change.text is not None:
                    is_other |= change.text.user_lines(edit.first, edit.count, edit.lines)
            entry.state = edit.state
            if is_other or entry.conflict is not None:
                self._ledger.tell(edit.path)

    async def wanted(self, path: str) -> None:
        """Somebody wants to see the hunks of that file."""
        async with self._files.alone(path):
            entry = self._ledger.entries.get(path) or self._ledger.revive(path)
            if entry is not None:
                entry.is_asked_for = True
                await self._ledger.look(path, entry)
                await self._read(path)
                self._ledger.tell(path)

    def saved(self, path: str) -> Awaitable[None]:
        """The user wrote the buffer: from now on nobody takes it for an agent's doing."""
        self._saving[path] = self._saving.get(path, 0) + 1
        return self._saved_now(path)

    async def _saved_now(self, path: str) -> None:
        async with self._files.alone(path):
            self._saving[path] -= 1
            if not self._saving[path]:
                del self._saving[path]
            on_disk = await self._disk.blob(path)
            entry = self._ledger.entries.get(path) or self._ledger.revive(path)
            if entry is None:
                self._ledger.accounted[path] = on_disk
            else:
                is_back = entry.current is None and on_disk is not None
                entry.on_disk, entry.current = on_disk, entry.current or on_disk
                await self._read(path)
                if is_back:  # what was deleted; its buffer had told of the text before
                    self._ledger.tell(path)

    async def take_up(self, kept: KeptEntry) -> None:
        """A host that is gone has left that file under review."""
        if kept.path not in self._ledger.entries:
            async with self._files.alone(kept.path):
                self._ledger.entries[kept.path] = kept.entry()
                await self._found(kept.path)

    async def _found(self, path: str) -> None:
        """What its Neovim had not saved is lost."""
        entry, now = self._ledger.entries[path], await self._disk.blob(path)
        if entry.current != entry.on_disk:
            await self._ledger.user(path, Content(entry.on_disk))
        if entry.on_disk != now:
            await self._entering.enter(path, Content(entry.on_disk), Content(now))
        self._ledger.set_on_disk(path, now)
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
        await count([change for path in news for change in self._ledger.changes(path)], self._ledger.contents)
        for path, verdict in news.items():
            self._entering.told(path, verdict)

    async def _scanned(self, one: Changed) -> Verdict | None:
        """Who changed it, to be told; None when there is nothing to tell."""
        path = one.path
        buffer = await self._read(path)  # a buffer that was behind has followed by now
        entry = self._ledger.entries.get(path)
        before = entry.on_disk if entry is not None else self._ledger.accounted.get(path, one.before)
        for _ in range(FOLLOW_ATTEMPTS):  # git, and editors, make files anew: they are gone for a moment
            now = await self._disk.blob(path, one.after)
            if not await self._entering.is_past(path, Content(now)):
                break
        if entry is not None and entry.is_guessed and one.after is not None:
            await self._correct(path, entry, one.before)
        if before == now or path in self._saving:  # by the user, who is waited for to be heard
            return None
        verdict: Verdict | None = None
        if entry is None or buffer is None:
            verdict = await self._entering.enter(path, Content(before), Content(now))
            await self.buffer_is(path, buffer)
        elif before is not None and now is not None and before.mode != now.mode:
            verdict = await self._evidence.judge(await self._entering.seen(path, Content(before), Content(now)))
            self._ledger.mode(verdict, path, now.mode)
        self._ledger.set_on_disk(path, now)
        return verdict

    async def _correct(self, path: str, entry: Entry, before: Blob | None) -> None:
        """The snapshots know what the file was."""
        entry.is_guessed = False
        content = await self._ledger.with_text(path, Content(before), entry.encoding)
        for change in self._ledger.changes(path):
            change.rebase(content)
        self._entering.told(path, entry.verdict)

    async def _renamed(self, one: Changed, old_path: str) -> None:
        """A file that may be open, or under review, has another name, and perhaps another text."""
        async with self._files.alone(old_path):
            await self._read(old_path)  # its buffer goes along
        async with self._files.alone(one.path):
            if not self._ledger.is_taken(one.path, old_path):
                await self._renames.moved(old_path, one.path, Content(one.before))
                return
        await self.scanned([Changed(old_path, one.before, None), Changed(one.path, None, one.after)])

    async def named(self, path: str) -> None:
        """An agent is about to change the file: what was done to it before is not its doing."""
        changed, size = await anyio.to_thread.run_sync(looked_at, path)
        if size is not None and changed >= self._since(path):  # what is gone may have another name: a look tells
            async with self._files.alone(path):
                await self.look_at(path)

    async def look_at(self, path: str) -> None:
        """Nobody has told us of the file for a while: what it has become on disk is known from now on."""
        if await self._read(path) is None:
            await self._accounting.account(path, await self._disk.content(path))

    async def _read(self, path: str) -> OpenText | None:
        try:
            return await self._files.read(path)
        except FileRefusedError:  # it is no text any more, or nobody can read it
            return None
