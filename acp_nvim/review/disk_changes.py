"""Enters changes of files on disk into the ledger, attributed by the evidence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.file_time import LastChange
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import ABSENT, Content, FileOnDisk, mode_of, read_disk
from acp_nvim.review.evidence import Evidence, Observation, Verdict
from acp_nvim.review.ledger import Ledger
from acp_nvim.snapshots.directories import ChangeTime
from acp_nvim.snapshots.snapshot import Blob, SnapshotError
from acp_nvim.ui.events import Operation
from acp_nvim.workspace.open_files import OpenFiles, OpenText

Known = Callable[[str], Awaitable[Blob | None]]
"""Returns a file's blob in the last snapshot. Raises `SnapshotError` if that is unknown."""


MAX_REJUDGED: Final = 200
"""Files that each scan judges again, the newest ones: each takes a millisecond."""


class DiskChanges:
    """Reads files from disk, and enters their changes into the ledger.

    Methods that take a path are called in `OpenFiles.alone` of that file.

    `known` returns a file's blob in the last snapshot, `since` the time of the last scan of its directory (nanoseconds
    since 1970), `change_time` when what is at a path has changed (it blocks). `saving` holds the files that the
    user has written and whose save is not entered yet.
    """

    def __init__(
        self,
        ledger: Ledger,
        files: OpenFiles,
        evidence: Evidence,
        known: Known,
        since: Callable[[str], int],
        change_time: Callable[[str], ChangeTime],
        saving: Container[str],
    ) -> None:
        self._ledger = ledger
        self._files = files
        self._evidence = evidence
        self._known = known
        self.since = since
        self._change_time = change_time
        self._saving = saving
        self._known_buffers: set[str] = set()

    async def known(self, path: str) -> Blob | None:
        """Return the file's last known blob. Raises `SnapshotError` if that is unknown."""
        if path in self._ledger.accounted:
            return self._ledger.accounted[path]
        return await self._known(path)

    async def content(self, path: str) -> Content:
        """Return the present content of the file, with its text if it is text."""
        return await self._ledger.with_text(path, Content(await self.blob(path)), None)

    async def blob(self, path: str, known: Blob | None = None) -> Blob | None:
        """Return the present blob of the file; `known` is a blob that the shadow repository has already."""
        found = await self.read(path)
        if found is None or found.blob == known:
            return None if found is None else known
        return found.blob if found.data is None else self._ledger.contents(path).put(path, found.data, found.blob.mode)

    async def read(self, path: str) -> FileOnDisk | None:
        """Read the file; return None if there is none.

        Waits while a Neovim saves it: until then it may be empty, or have a text that is not recorded as the user's.
        """
        found, is_being_saved = await anyio.to_thread.run_sync(self._read, path)
        if is_being_saved:
            await self._files.saves.wait_until_saved(path)
            found, _ = await anyio.to_thread.run_sync(self._read, path)
        return found

    def _read(self, path: str) -> tuple[FileOnDisk | None, bool]:
        """Read the file, and return also whether a Neovim was saving it. Blocks."""
        return read_disk(path), self._files.saves.is_being_saved(path)

    def text(self, path: str, text: str, encoding: str) -> Content:
        """Return a content with a text that the file has, or may have."""
        return self._ledger.contents(path).put_text(path, text, encoding, mode_of(path))

    async def changed(self, path: str, before: Content, after: Content, on_disk: Content | None = None) -> None:
        """Enter that a file was changed on disk (see `enter`), and notify the editor."""
        self.announce(path, await self.enter(path, before, after, on_disk))

    async def enter(
        self,
        path: str,
        before: Content,
        after: Content,
        on_disk: Content | None = None,
        replaced: LastChange | None = None,
    ) -> Verdict:
        """Enter that a file was changed on disk; return the verdict, which the caller announces.

        `on_disk` is the content on disk, if it is not `after`: a buffer has the user's unsaved edits, too. `replaced`
        is the time at which the file became `after`, if it was written again since.
        """
        seen = await self.observe(path, before, on_disk or after)
        if replaced is not None:
            seen = msgspec.structs.replace(
                seen, changed=replaced[0], size=replaced[1], is_past=False, earliest=None, other=None
            )
        verdict = await self._evidence.judge(seen)
        if verdict.by == "user":
            await self._ledger.apply_user(path, after)
            self._ledger.announce_user(path, verdict.why, _operation(before, after))
        else:
            await self._ledger.apply_agent(verdict, path, before, after, seen)
        if not seen.is_past:
            self._evidence.set_accounted(path, seen.changed)
        return verdict

    async def observe(self, path: str, before: Content, after: Content) -> Observation:
        """Return the observation to judge: the file is now `after`."""
        time = await self.change_time(path)
        text = after.text
        if text is None and self._evidence.has_diff(path):
            text = (await self._ledger.with_text(path, after, None)).text
        return Observation(
            path,
            time.time,
            time.size,
            None if before.blob is None else before.blob.oid,
            None if after.blob is None else after.blob.oid,
            self.since(path),
            text,
            self._evidence.accounted(path),
            await self.is_past(path, after),
            time.earliest,
            time.other,
        )

    async def change_time(self, path: str) -> ChangeTime:
        """Return when what is at that path has changed."""
        return await anyio.to_thread.run_sync(self._change_time, path)

    async def is_past(self, path: str, content: Content) -> bool:
        """Return whether the file on disk is not, or no longer, that content."""
        found = await anyio.to_thread.run_sync(read_disk, path)
        if found is None or content.blob is None:
            return (found is None) != (content.blob is None)
        return found.blob.oid != content.blob.oid

    def announce(self, path: str, verdict: Verdict) -> None:
        """Notify the editor that a file has changed, and the sessions that may have changed it."""
        self._ledger.publish(path)
        self._ledger.announce(path, self._ledger.logs_of(verdict.sessions))

    async def account(self, path: str, now: Content, replaced: LastChange | None = None) -> bool:
        """Enter that a file without a buffer is now `now`; return False if its earlier content is unknown.

        `replaced` is the time at which the file became `now`, if it was written again since.
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
            self.announce(path, verdict)
        return True

    async def buffer_read(self, path: str, buffer: OpenText | None) -> None:
        """Enter the changes made before the host knew the buffer; later changes come with the buffer."""
        if buffer is None:
            self._known_buffers.discard(path)
        if buffer is None or path in self._known_buffers:
            return
        self._known_buffers.add(path)
        is_entered = path in self._ledger.entries or not self._ledger.active(path)
        if is_entered or buffer.modified or not buffer.on_disk or path in self._saving:
            return
        try:
            known = await self.known(path)
        except SnapshotError:
            return
        now = await self.blob(path, known)
        if now != known:
            await self.account(path, await self._ledger.with_text(path, Content(now), buffer.encoding))

    async def rejudge(self) -> None:
        """Judge the newest doubtful changes again, with the present evidence."""
        found = [(path, entry) for path, entry in self._ledger.entries.items() if entry.doubts]
        for path, entry in found[-MAX_REJUDGED:]:
            async with self._files.alone(path):
                if self._ledger.entries.get(path) is entry:
                    await self._rejudge(path, entry)

    def drop_doubts(self, root: str) -> None:
        """Make doubtful changes below that directory final, because their evidence is dropped."""
        for path in self._ledger.known_below(root):
            if path in self._ledger.entries:
                self._ledger.entries[path].doubts = []

    async def _rejudge(self, path: str, entry: Entry) -> None:
        verdicts = [await self._evidence.judge(seen) for seen in entry.doubts]
        if {verdict.by for verdict in verdicts} == {"agent"}:
            for change in self._ledger.changes(path):
                change.verdict, change.doubts = verdicts[-1], []
            self.announce(path, verdicts[-1])
        elif entry.is_all_doubt and {verdict.by for verdict in verdicts} == {"user"}:
            await self._ledger.load_texts(entry)
            now = entry.current_content()
            for change in self._ledger.changes(path):
                change.rebase(now)
            self._ledger.publish(path)

    async def moved(self, path: str, new: str, before: Content | None = None) -> None:
        """Enter a rename; `before` is the content under the old name, if that has changed as well."""
        entry = self._ledger.entries.get(path)
        if self._ledger.is_taken(new, path):
            await self.account(path, ABSENT)
            await self.account(new, await self.content(new))
            return
        now = await self.content(new)
        seen = await self.observe(new, ABSENT, now)
        verdict = await self._evidence.judge(seen)
        turns = [] if verdict.by == "user" else self._ledger.logs_of(verdict.sessions)
        if entry is None and not turns:
            return
        before = now if before is None else await self._ledger.with_text(path, before, None)
        for turn in turns:
            turn.move(path, new, before, now, verdict)
        if entry is None:
            entry = Entry(new, before, path)
        elif turns and entry.operation != "add":
            entry.old_path = entry.old_path or path
        self._ledger.forget(path, moves=True)
        self._ledger.accounted[path] = None
        self._ledger.entries[new] = entry
        entry.path, entry.on_disk = new, now.blob
        entry.old_path = None if entry.old_path == new else entry.old_path
        await self._ledger.load_texts(entry)
        if turns:
            entry.sessions |= verdict.live_sessions
            entry.attribute(verdict, seen)
            entry.apply_agent(now)
        else:
            entry.apply_user(now)
        self.announce(new, verdict)


def _operation(before: Content, after: Content) -> Operation:
    if before.blob is None or after.blob is None:
        return "add" if before.blob is None else "delete"
    return "modify"
