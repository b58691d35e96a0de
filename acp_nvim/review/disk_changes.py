"""Enters into the ledger what became of files on disk, as the evidence says by whom."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.file_time import LastChange, last_change
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import ABSENT, Content, FileOnDisk, look_at, mode_of
from acp_nvim.review.evidence import Evidence, Seen, Verdict
from acp_nvim.review.ledger import NOBODY, Ledger
from acp_nvim.snapshots.snapshot import Blob, SnapshotError
from acp_nvim.ui.events import Operation
from acp_nvim.workspace.open_files import OpenFiles, OpenText

Known = Callable[[str], Awaitable[Blob | None]]
"""What the last snapshot has of a file. Raises `SnapshotError` when nobody knows."""


DOUBTS_AGAIN: Final = 200
"""Files that are judged again at each look, the newest: each takes a millisecond."""


class DiskChanges:
    """What files are on disk, and what the ledger is told of them.

    Methods that take a path are called in `OpenFiles.alone` of that file.

    `known` tells what the last snapshot has of a file, `since` when the directory that a path is in was last looked at
    (nanoseconds since 1970). `saving` has the files that the user has written, and who says so has not been heard yet.
    """

    def __init__(
        self,
        ledger: Ledger,
        files: OpenFiles,
        evidence: Evidence,
        known: Known,
        since: Callable[[str], int],
        saving: Container[str],
    ) -> None:
        self._ledger = ledger
        self._files = files
        self._evidence = evidence
        self._known = known
        self._since = since
        self._saving = saving
        self._heard_of: set[str] = set()

    def __repr__(self) -> str:
        return f"<DiskChanges of {self._ledger!r}>"

    async def known(self, path: str) -> Blob | None:
        """What the file was when it was last looked at. Raises `SnapshotError` when nobody knows."""
        if path in self._ledger.accounted:
            return self._ledger.accounted[path]
        return await self._known(path)

    async def content(self, path: str) -> Content:
        """The file as it is now, with its text if it is one."""
        return await self._ledger.with_text(path, Content(await self.blob(path)), None)

    async def blob(self, path: str, known: Blob | None = None) -> Blob | None:
        """The file as it is now; `known` is what the shadow repository has already."""
        found = await self.found(path)
        if found is None or found.blob == known:
            return None if found is None else known
        return found.blob if found.data is None else self._ledger.contents(path).put(path, found.data, found.blob.mode)

    async def found(self, path: str) -> FileOnDisk | None:
        """Read the file as it is now; None when there is none.

        Waits while a Neovim saves it: until then it may be empty, or have a text that nobody has noted as the user's.
        """
        found, is_being_saved = await anyio.to_thread.run_sync(self._look, path)
        if is_being_saved:
            await self._files.saves.wait_until_saved(path)
            found, _ = await anyio.to_thread.run_sync(self._look, path)
        return found

    def _look(self, path: str) -> tuple[FileOnDisk | None, bool]:
        """Read the file, and return also whether a Neovim was saving it. Blocks."""
        return look_at(path), self._files.saves.is_being_saved(path)

    def text(self, path: str, text: str, encoding: str) -> Content:
        """A text that the file has, or may have."""
        return self._ledger.contents(path).put_text(path, text, encoding, mode_of(path))

    async def became(self, path: str, before: Content, after: Content, on_disk: Content | None = None) -> None:
        """Enter that a file was changed on disk (see `enter`), and tell the editor."""
        self.told(path, await self.enter(path, before, after, on_disk))

    async def enter(
        self,
        path: str,
        before: Content,
        after: Content,
        on_disk: Content | None = None,
        replaced: LastChange | None = None,
    ) -> Verdict:
        """Enter that a file was changed on disk; return who did it, to be told.

        `on_disk` is what the file is, where that is not `after`: a buffer has the user's own changes, too. `replaced`:
        `after` is not on the disk any more, and that is when it became so.
        """
        seen = await self.seen(path, before, on_disk or after)
        if replaced is not None:
            seen = msgspec.structs.replace(seen, changed=replaced[0], size=replaced[1], is_past=False)
        verdict = await self._evidence.judge(seen)
        if verdict.by == "user":
            await self._ledger.user(path, after)
            self._ledger.announce_user(path, verdict.why, _operation(before, after))
        else:
            await self._ledger.agent(verdict, path, before, after, seen)
        if not seen.is_past:
            self._evidence.accounted(path, seen.changed)
        return verdict

    async def seen(self, path: str, before: Content, after: Content) -> Seen:
        """What there is to be judged: the file as it is now, which is `after`."""
        changed, size = await anyio.to_thread.run_sync(last_change, path)
        text = after.text
        if text is None and self._evidence.shows(path):
            text = (await self._ledger.with_text(path, after, None)).text
        return Seen(
            path,
            changed,
            size,
            None if before.blob is None else before.blob.oid,
            None if after.blob is None else after.blob.oid,
            self._since(path),
            text,
            self._evidence.heard(path),
            await self.is_past(path, after),
        )

    async def is_past(self, path: str, content: Content) -> bool:
        """Whether that is not what the file is, or not any more."""
        return await anyio.to_thread.run_sync(_is_other, path, content)

    def told(self, path: str, verdict: Verdict) -> None:
        """Tell the editor that a file has changed, and announce it in the sessions that may have done it."""
        self._ledger.tell(path)
        self._ledger.announce(path, self._ledger.of(verdict.sessions))

    async def account(self, path: str, now: Content, replaced: LastChange | None = None) -> bool:
        """What a file without a buffer is now, if that is news, was done by who works there. False: nobody knows.

        `replaced`: the file has been written since, and that is when it became `now`.
        """
        entry = self._ledger.entries.get(path)
        try:
            before = entry.on_disk if entry is not None else await self.known(path)
        except SnapshotError:
            return False
        if before != now.blob and path not in self._saving:
            verdict = await self.enter(path, Content(before), now, replaced=replaced)
            self._ledger.set_on_disk(path, now.blob)
            await self._ledger.count_lines(self._ledger.changes(path))
            self.told(path, verdict)
        return True

    async def buffer_is(self, path: str, buffer: OpenText | None) -> None:
        """What the agents had done to a file before we heard of its buffer is theirs; later the buffer tells."""
        if buffer is None:
            self._heard_of.discard(path)
        elif path not in self._heard_of:
            self._heard_of.add(path)
            await self._opened(path, buffer)

    async def _opened(self, path: str, buffer: OpenText) -> None:
        is_ours = path in self._ledger.entries or not self._ledger.active(path)
        if is_ours or buffer.modified or not buffer.on_disk or path in self._saving:
            return
        try:
            known = await self.known(path)
        except SnapshotError:
            return
        now = await self.blob(path, known)
        if now != known:
            await self.account(path, await self._ledger.with_text(path, Content(now), buffer.encoding))

    async def judge_again(self) -> None:
        """With the evidence that there is now."""
        found = [(path, entry) for path, entry in self._ledger.entries.items() if entry.doubts]
        for path, entry in found[-DOUBTS_AGAIN:]:
            async with self._files.alone(path):
                if self._ledger.entries.get(path) is entry:
                    await self._judge_again(path, entry)

    def leave_doubts(self, root: str) -> None:
        """What is in doubt below that directory stays so: what could show who did it is not known any more."""
        for path in self._ledger.known_below(root):
            if path in self._ledger.entries:
                self._ledger.entries[path].doubts = []

    async def _judge_again(self, path: str, entry: Entry) -> None:
        verdicts = [await self._evidence.judge(seen) for seen in entry.doubts]
        if {verdict.by for verdict in verdicts} == {"agent"}:
            for change in self._ledger.changes(path):
                change.verdict, change.doubts = verdicts[-1], []
            self.told(path, verdicts[-1])
        elif entry.is_all_doubt and {verdict.by for verdict in verdicts} == {"user"}:
            await self._ledger.look(entry)
            now = Content(entry.current, None if entry.text is None else entry.text.current, entry.encoding)
            for change in self._ledger.changes(path):
                change.rebase(now)
            self._ledger.tell(path)

    async def is_renamed(self, path: str, new: str) -> bool:
        """Whether there is a file of the new name, and none of the old one (any more)."""
        return await self.found(path) is None and await self.found(new) is not None

    async def moved(self, path: str, new: str, before: Content | None = None) -> None:
        """The file goes by another name; it was `before` then, if it has changed as well."""
        entry = self._ledger.entries.get(path)
        if self._ledger.is_taken(new, path):
            await self.account(path, ABSENT)
            await self.account(new, await self.content(new))
            return
        now = await self._ledger.with_text(new, Content(await self.blob(new)), None)
        seen = await self.seen(new, ABSENT, now)
        verdict = await self._evidence.judge(seen)
        turns = [] if verdict.by == "user" else self._ledger.of(verdict.sessions)
        if entry is None and not turns:
            return
        before = now if before is None else await self._ledger.with_text(path, before, None)
        for turn in turns:
            turn.move(path, new, before, now, verdict)
        if entry is None:
            entry = Entry(new, before, path)
        elif turns and entry.operation != "add":
            entry.old_path = entry.old_path or path
        self._ledger.forget(path, goes_on=True)
        self._ledger.accounted[path] = None
        self._ledger.entries[new] = entry
        entry.path, entry.on_disk = new, now.blob
        entry.old_path = None if entry.old_path == new else entry.old_path
        entry.sessions |= {turn.session for turn in turns if turn.session > NOBODY}
        await self._ledger.look(entry)
        if turns:
            entry.blame(verdict, seen)
            entry.agent(now)
        else:
            entry.user(now)
        self.told(new, verdict)


def _is_other(path: str, content: Content) -> bool:
    """Blocks."""
    found = look_at(path)
    if found is None or content.blob is None:
        return (found is None) != (content.blob is None)
    return found.blob.oid != content.blob.oid


def _operation(before: Content, after: Content) -> Operation:
    if before.blob is None or after.blob is None:
        return "add" if before.blob is None else "delete"
    return "modify"
