"""Enters changes of files on disk into the ledger, attributed by the evidence."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Container, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Final, Protocol

import anyio.to_thread
import msgspec

from acp_nvim.contract.events import Operation
from acp_nvim.evidence.change_times import ChangeTime
from acp_nvim.evidence.evidence import Evidence, Observation, Verdict
from acp_nvim.file_time import LastChange
from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import ABSENT, Content, FileOnDisk, mode_of, read_disk
from acp_nvim.review.ledger import Ledger
from acp_nvim.snapshots.objects import EXECUTABLE, FILE, SYMLINK
from acp_nvim.snapshots.snapshot import Blob, SnapshotError
from acp_nvim.workspace.open_files import OpenFiles, OpenText


class LastScans(Protocol):
    """What is known of files from the last scan, or the last look at them."""

    async def known(self, path: str) -> Blob | None:
        """Return the file's blob in the last snapshot. Raises `SnapshotError` if that is unknown."""

    def since(self, path: str) -> int:
        """Return the time (nanoseconds since 1970) until which changes of the file are in the ledger."""

    def change_time(self, path: str) -> ChangeTime:
        """Return when what is at the path has changed. Blocks."""

    def replaced(self, path: str) -> int | None:
        """Return until when (ns since 1970) a directory above the file was replaced since the snapshot of this scan.

        None if it is the file that the scan has found, or no scan runs. Blocks.
        """

    def made(self, path: str) -> list[str]:
        """Return the directories of a new file that the turn made, or moved there; the innermost first. Blocks."""


MAX_REJUDGED: Final = 200
"""Changes that each scan judges again, those of the newest files: each takes a millisecond."""


class DiskChanges:
    """Reads files from disk, and enters their changes into the ledger.

    Methods that take a path are called in `OpenFiles.alone` of that file.

    `saving` holds the files that the user has written and whose save is not entered yet.
    """

    def __init__(
        self,
        ledger: Ledger,
        files: OpenFiles,
        evidence: Evidence,
        scans: LastScans,
        saving: Container[str],
    ) -> None:
        self._ledger = ledger
        self._files = files
        self._evidence = evidence
        self.scans = scans
        self._saving = saving
        self._known_buffers: set[str] = set()

    async def known(self, path: str) -> Blob | None:
        """Return the file's last known blob. Raises `SnapshotError` if that is unknown."""
        if path in self._ledger.accounted:
            return self._ledger.accounted[path]
        return await self.scans.known(path)

    async def content(self, path: str) -> Content:
        """Return the present content of the file, with its text if it is text."""
        return await self._ledger.with_text(path, Content(await self.blob(path)), None)

    async def blob(self, path: str, known: Blob | None = None) -> Blob | None:
        """Return the present blob of the file; `known` is a blob that the shadow repository has already."""
        found = await self.read(path)
        if found is None or found.blob == known:
            return None if found is None else found.blob
        return found.blob if found.data is None else self._ledger.contents(path).put(path, found.data, found.blob)

    async def scanned(self, path: str, after: Blob | None) -> Blob | None:
        """Return the present blob of the file that a scan has found to be `after`.

        It is `after` if another directory is there by now, with a file that the scan has not looked at.
        """
        for _ in range(FOLLOW_ATTEMPTS):  # git and editors replace files, which are missing for a moment
            now = await self.blob(path, after)
            if not _is_other(await anyio.to_thread.run_sync(read_disk, path), Content(now)):
                break
        is_other = differs(now, after) and await anyio.to_thread.run_sync(self.scans.replaced, path) is not None
        return after if is_other else now

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
        return read_disk(path, self._ledger.contents(path).shadow.root), self._files.saves.is_being_saved(path)

    def text(self, path: str, text: str, encoding: str, like: Blob | None = None) -> Content:
        """Return a content with a text that the file has, or may have; by default with its present mode."""
        return self._ledger.contents(path).put_text(path, text, encoding, like or self._mode(path))

    def written(self, path: str, blob: Blob | None) -> Blob | None:
        """Return the blob that we have just written, with the mode that the file has got."""
        return blob if blob is None or blob.mode == SYMLINK else blob.with_mode(self._mode(path))

    def _mode(self, path: str) -> Blob:
        return mode_of(path, self._ledger.contents(path).shadow.root)

    async def known_mode(self, path: str) -> Blob | None:
        """Return a blob with the mode that the file had as last known; None if that is unknown."""
        entry, found = self._ledger.entries.get(path), None
        with suppress(SnapshotError):
            found = await self.known(path) if entry is None else entry.on_disk
        return found if found is not None and found.mode in (FILE, EXECUTABLE) else None

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
            await self._ledger.apply_user(path, after, found=True)
            self._ledger.announce_user(path, verdict.why, _operation(before, after))
        else:
            made = await self.made(path) if before.blob is None and after.blob is not None else []
            await self._ledger.apply_agent(verdict, path, before, after, seen, made=made)
        if not seen.is_past:
            self._evidence.set_accounted(path, seen.changed)
        return verdict

    async def observe(self, path: str, before: Content, after: Content) -> Observation:
        """Return the observation to judge: the file is now `after`."""
        time, is_past = await anyio.to_thread.run_sync(self._look, path, after)
        text = after.text
        if text is None and self._evidence.has_diff(path):
            text = (await self._ledger.with_text(path, after, None)).text
        return Observation(
            path,
            time.time,
            time.size,
            None if before.blob is None else before.blob.oid,
            None if after.blob is None else after.blob.oid,
            self.scans.since(path),
            text,
            self._evidence.accounted(path),
            is_past,
            time.earliest,
            time.other,
        )

    def _look(self, path: str, after: Content) -> tuple[ChangeTime, bool]:
        """Return when the file became `after`, and whether it is something else by now. Blocks."""
        is_past = _is_other(read_disk(path), after)
        replaced = self.scans.replaced(path) if is_past else None
        if replaced is not None:
            return ChangeTime(replaced, None, self.scans.since(path)), True
        return self.scans.change_time(path), is_past

    async def change_time(self, path: str) -> ChangeTime:
        """Return when what is at that path has changed."""
        return await anyio.to_thread.run_sync(self.scans.change_time, path)

    async def made(self, path: str) -> list[str]:
        """Return the directories of a new file that were made, or came there, since the turn began.

        One whose rename is under review belongs to that rename, and so do those above it.
        """
        made = await anyio.to_thread.run_sync(self.scans.made, path)
        return list(takewhile(lambda one: one + os.sep not in self._ledger.entries, made))

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
        if differs(before, now.blob) and path not in self._saving:
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

    async def rejudge(self, root: str, git: Callable[[], Awaitable[object]]) -> None:
        """Judge the doubtful changes in the workspace at `root` again of which more has become known since.

        `git` returns the present state of the git repository there (see `Evidence.news`).
        """
        found = [
            (path, entry)
            for path, entry in self._ledger.entries.items()
            if entry.doubts and self._ledger.contents(path).shadow.root == root
        ]
        if not found:
            return
        await anyio.to_thread.run_sync(self._files.saves.update)
        state, left = await git(), MAX_REJUDGED
        for path, entry in reversed(found):
            async with self._files.alone(path):
                if self._ledger.entries.get(path) is entry:
                    left -= await self._rejudge(path, entry, state)
            if left <= 0:
                return

    def settle(self, is_over: Callable[[str, Verdict], bool]) -> None:
        """Make doubtful changes final whose evidence is dropped: for which `is_over(path, verdict)` is true."""
        for path, entry in self._ledger.entries.items():
            if any(is_over(path, doubt.verdict) for doubt in entry.doubts):
                entry.settle()

    async def _rejudge(self, path: str, entry: Entry, git: object) -> int:
        """Judge the doubtful changes of a file again; return how many of them there was news of."""
        seen = [doubt.seen for doubt in entry.doubts]
        if not all(map(self._evidence.is_complete, seen)):
            entry.settle()
            return 0
        news = self._evidence.news(seen, git)
        fresh = [(doubt, new) for doubt, new in zip(entry.doubts, news, strict=True) if doubt.news != new]
        for doubt, new in fresh:
            doubt.verdict, doubt.news = await self._evidence.judge(doubt.seen), new
        if fresh:
            await self._conclude(path, entry, [doubt.verdict for doubt in entry.doubts])
        return len(fresh)

    async def _conclude(self, path: str, entry: Entry, verdicts: Sequence[Verdict]) -> None:
        """Attribute a change to the agent, or to the user, if all doubts about it are resolved alike."""
        if {verdict.by for verdict in verdicts} == {"agent"}:
            for change in self._ledger.changes(path):
                change.verdict, change.doubts = verdicts[-1], []
            self.announce(path, verdicts[-1])
        elif entry.is_all_doubt and {verdict.by for verdict in verdicts} == {"user"}:
            for change in self._ledger.changes(path):
                await self._ledger.load_texts(change)
                change.rebase(change.current_content())
                change.old_path = None
            self._ledger.publish(path)

    async def moved(self, path: str, new: str, before: Content | None = None) -> None:
        """Enter a rename; `before` is the content under the old name, if that has changed as well."""
        entry = self._ledger.entries.get(path)
        if self._ledger.is_taken(new, path) or (before is None and await self.was_there(new)):
            await self.account(path, ABSENT)
            await self.account(new, await self.content(new))
            return
        now = await self.content(new)
        seen = await self.observe(new, ABSENT, now)
        verdict = await self._evidence.judge(seen)
        if verdict.by == "user":
            await self._moved_by_user(path, new, now)
            self.announce(new, verdict)
            return
        turns = self._ledger.logs_of(verdict.sessions)
        if entry is None and not turns:
            return
        before = now if before is None else await self._ledger.with_text(path, before, None)
        for turn in turns:
            turn.move(path, new, before, now, verdict)
        if entry is None:
            entry = Entry(new, before, path)
        elif entry.operation != "add":
            entry.old_path = entry.old_path or path
        await self._place(entry, path, new, now)
        entry.old_path = None if entry.old_path == new else entry.old_path
        entry.made += await self.made(new)
        entry.sessions |= verdict.live_sessions
        entry.attribute(verdict, seen)
        entry.apply_agent(now)
        self.announce(new, verdict)

    async def was_there(self, path: str) -> bool:
        """Return whether the last scan, or what was noticed since, has found a file there."""
        try:
            return await self.known(path) is not None
        except SnapshotError:
            return False

    async def _moved_by_user(self, path: str, new: str, now: Content) -> None:
        """Let the changes of a file go on under the name that the user has given it; its old names are over."""
        for turn in self._ledger.logs:
            if path in turn.changes and new not in turn.changes:
                turn.changes[new] = turn.changes.pop(path)
                turn.changes[new].path = new
        entry = self._ledger.entries.get(path)
        if entry is not None:
            await self._place(entry, path, new, now)
            entry.old_path = None
        for change in self._ledger.changes(new):
            await self._ledger.load_texts(change)
            change.apply_user(now if change.text is None else await self._ledger.with_text(new, now, change.encoding))

    async def _place(self, entry: Entry, path: str, new: str, now: Content) -> None:
        """Put an entry under the new name of its file."""
        self._ledger.forget(path, moves=True)
        self._ledger.accounted[path] = None
        self._ledger.entries[new] = entry
        entry.path, entry.on_disk = new, now.blob
        await self._ledger.load_texts(entry)


def differs(one: Blob | None, other: Blob | None) -> bool:
    """Return whether two states of a file differ, in the content, the git mode, or known permission bits."""
    if one is None or other is None:
        return one is not other
    return one != other or one.has_other_mode(other)


def _is_other(found: FileOnDisk | None, content: Content) -> bool:
    if found is None or content.blob is None:
        return (found is None) != (content.blob is None)
    return found.blob.oid != content.blob.oid


def _operation(before: Content, after: Content) -> Operation:
    if before.blob is None or after.blob is None:
        return "add" if before.blob is None else "delete"
    return "modify"
