"""Keeps what files were before an agent changed them: those outside that it may change, and those its calls name."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final

import anyio
import anyio.lowlevel
import anyio.to_thread

from acp_nvim.acp.diff import FileChange
from acp_nvim.evidence.activities import WHY_CHARS
from acp_nvim.evidence.work import Work
from acp_nvim.file_time import last_change
from acp_nvim.hunks.locate import unapplied
from acp_nvim.review.outside_files import NamedOutside
from acp_nvim.review.reviews import Reviews
from acp_nvim.snapshots.snapshot import Blob, Changed, SnapshotError
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.roots import WatchedRoots

KNOWN_WAIT_SECONDS: Final = 2.0
"""Time that a permission waits until the files that it names were read: each takes a millisecond."""
WAITING: Final = 1000
"""Named files that may wait to be read, one after the other; of more, only the snapshots show changes."""

LOOK_SECONDS: Final = 2.0
"""Time to look at open buffers and the repository after a turn: nothing waits for it, and nothing is said beyond."""
LOOKED_AT: Final = 1000
"""Changed files of the repository that are looked at: most of them were changed long before the turn."""
NAMED: Final = 3
"""Files that the line names."""


class NamedFiles:
    """The named files of one session that `roots` watch: git may ignore them, or they are outside of all workspaces.

    `work` is what its agent does. `is_blind`: there is no snapshot at all.
    """

    def __init__(self, reviews: Reviews, roots: WatchedRoots, work: Work, tasks: Tasks) -> None:
        self.is_blind = False
        self.on_outside: Callable[[], None] = lambda: None
        """Called when the files that are watched outside of the directories have changed."""
        self._reviews = reviews
        self._outside = reviews.outside
        self._work = work
        self._tracker = reviews.tracker
        self._workspaces = reviews.workspaces
        self._roots = roots
        self._tasks = tasks
        self._was: dict[str, Blob | None] = {}
        self._waiting: deque[Callable[[], Awaitable[None]]] = deque()
        self._reading: anyio.Event | None = None

    def __len__(self) -> int:
        """Return the number of files that still have to be read."""
        return len(self._waiting)

    def add(self, files: Sequence[tuple[str, FileChange | None]]) -> None:
        """Queue the files (absolute paths) that a tool call names, with what it does to them."""
        self._queue(partial(self._look_inside, path, change) for path, change in files)

    def add_outside(self, files: Mapping[str, Sequence[FileChange]], may_have_run: bool, deletes: bool) -> None:
        """Queue the files outside of the directories that a call names, with its changes: they are watched by now.

        `may_have_run`: the agent did not only announce the call. `deletes`: it deletes what it names.
        """
        if files:
            self.on_outside()
            named = (NamedOutside(path, some, may_have_run, deletes) for path, some in files.items())
            self._queue(partial(self._look_outside, one) for one in named)

    def watch(self, path: str) -> None:
        """Watch a file (a real path) that the agent writes through the host."""
        if self._roots.admit(path) is not None and self._roots.is_outside(path):
            self.add_outside({path: ()}, may_have_run=False, deletes=False)

    def _queue(self, looks: Iterable[Callable[[], Awaitable[None]]]) -> None:
        self._waiting += islice(looks, max(0, WAITING - len(self._waiting)))
        if self._waiting and not is_running(self._reading):
            self._reading = self._tasks.spawn(self._read_all)

    async def known(self) -> None:
        """Wait until all were read, because an agent may change them as soon as it is allowed to."""
        with anyio.move_on_after(KNOWN_WAIT_SECONDS):
            while self._reading is not None and is_running(self._reading):
                await self._reading.wait()

    async def scan(self) -> None:
        """Pass those that have changed to the tracker, and begin anew."""
        was, self._was = self._was, {}
        found = [Changed(path, before, None) for path, before in was.items()]
        await self._tracker.scanned(found, are_in_snapshot=False)

    async def scan_outside(self) -> list[str]:
        """Pass the changed files outside to the tracker; return those that cannot be looked at, and are dropped."""
        if self._roots.outside:
            await self.known()
        failed = await self._outside.scan(self._roots.outside)
        for path in failed:
            self._roots.drop(path)
        if failed:
            self.on_outside()
        return failed

    async def say_unwatched(self, began: int, say: Callable[[str], None]) -> None:
        """Say in one line what commands have changed outside since `began` (nanoseconds since 1970), unwatched."""
        words = await unwatched(self._reviews, self._roots, self._work, began)
        if words is not None:
            say(words)

    async def _read_all(self) -> None:
        """Read one file after the other: an agent may name a million, and others need the disk, too."""
        while self._waiting:
            await anyio.lowlevel.checkpoint()  # many in a row may be refused
            look = self._waiting.popleft()
            with self._tasks.contained("looking at a file that was named"), suppress(NotAllowedError):
                await look()

    async def _look_inside(self, path: str, change: FileChange | None) -> None:
        real = self._roots.resolve(path)
        if not self._roots.is_outside(real):
            await self._look_at(real, change)

    async def _look_outside(self, named: NamedOutside) -> None:
        is_known = self._workspaces.since(named.path) > 0
        if not await self._outside.begin(named, self._roots.directories[0], self._work):
            self._roots.drop(named.path)
            self.on_outside()
        elif not is_known:
            await self._reviews.keep()  # another host has to know what it was

    async def _look_at(self, path: str, change: FileChange | None) -> None:
        await self._tracker.before_change(path)
        if path not in self._was:
            blob = await self._tracker.disk.blob(path)
            if blob is not None or not await self._is_in_snapshot(path):  # deleted since: the next snapshot tells
                self._was.setdefault(path, blob)
        if change is not None and not await self._is_in_snapshot(path):
            await self._note_before(path, change)

    async def _is_in_snapshot(self, path: str) -> bool:
        """Return whether the last snapshot has the file, so that its content before the turn is known."""
        if self.is_blind:
            return False
        try:
            await self._workspaces.known(path)
        except SnapshotError:
            return False
        return True

    async def _note_before(self, path: str, change: FileChange) -> None:
        """If the diff of the call is in the file already, store what the file was before it."""
        contents = self._workspaces.contents(path)
        found = await self._tracker.disk.read(path)
        if found is None or found.blob != self._was.get(path):
            return
        content = await contents.load(path, found.blob)
        if content.text is None:
            return
        before = await anyio.to_thread.run_sync(unapplied, content.text, change)
        if before is not None:
            is_new = all(piece.old_text is None for piece in change.pieces)
            text = contents.put_text(path, before, content.encoding, found.blob)
            self._was[path] = None if is_new and not before else text.blob


async def unwatched(reviews: Reviews, roots: WatchedRoots, work: Work, began: int) -> str | None:
    """Return in words what has changed since `began` (nanoseconds since 1970) and is not reviewed; None if nothing has.

    Looks at the files of open buffers, and at the tracked files of the repository that contains the working directory,
    if the agent of `work` has run a command since then.
    """
    if not work.has_run_since(began):
        return None
    with anyio.move_on_after(LOOK_SECONDS):
        paths = await reviews.files.editor.untracked_buffers()
        repository = reviews.workspaces.at(roots.directories[0]).git
        paths += (await repository.changed_files(roots.directories[0]))[:LOOKED_AT]
        await anyio.to_thread.run_sync(reviews.files.saves.update)
        outside = [path for path in dict.fromkeys(paths) if not roots.contains(path)]
        times = await anyio.to_thread.run_sync(_times, outside, abandon_on_cancel=True)
        found = [(path, words) for path, at in times if at >= began and (words := _command(reviews, work, path, at))]
        if found:
            return _words([path for path, _ in found], found[0][1])
    return None


def _times(paths: Iterable[str]) -> list[tuple[str, int]]:
    return [(path, last_change(path)[0]) for path in paths]


def _command(reviews: Reviews, work: Work, path: str, at: int) -> str | None:
    """Return the command that ran when the file was changed; None if there was none, or if the user saved it."""
    if any(int(one.mtime) <= at <= int(one.ctime) for one in reviews.files.saves.of(path)):
        return None
    return next((one.words or one.kind for one in work.commands(at)), None)


def _words(paths: list[str], command: str) -> str:
    line = f"{command[: WHY_CHARS - 1]}…" if len(command) > WHY_CHARS else command
    names = ", ".join(_name(path) for path in paths[:NAMED])
    names += f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    are = "is" if len(paths) == 1 else "are"
    return (
        f"{names} changed on disk while `{line}` ran, and {are} not in the session's directories: what commands change "
        "there is not reviewed (additional_directories)."
    )


def _name(path: str) -> str:
    home = os.path.expanduser("~").rstrip(os.sep)
    return f"~{path[len(home) :]}" if home and path.startswith(home + os.sep) else path
