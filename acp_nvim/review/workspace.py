"""What the host keeps of each workspace under review: contents, checkpoints, what is left to review."""

from __future__ import annotations

import hashlib
import heapq
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.evidence.change_times import ChangeTime
from acp_nvim.evidence.git_contents import GitContents
from acp_nvim.limits import MEGABYTES
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import Contents, is_stored
from acp_nvim.review.ledger import Ledger, TurnLog
from acp_nvim.review.scanner import Scanner
from acp_nvim.review.storage import Checkpoint, CheckpointStore, EntryRecord, OpenTurn, ReviewStore, SavedReview
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.snapshots.run_git import NO_SPACE
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import UNKNOWN, Blob, GoneError, Snapshot, SnapshotError
from acp_nvim.snapshots.users_repository import main_directory
from acp_nvim.state.cleanup import WORKSPACES, WorkspaceLease, clean_memory, clean_state
from acp_nvim.workspace.regular_files import NO_ROOM, system_words

log = logging.getLogger(__name__)


CLEAN_SECONDS: Final = 60.0
"""Shortest time between two cleanings: each looks at all files in the state directory."""

StateKind = Literal["snapshot", "ledger", "checkpoint"]
"""What could not be written."""

_FULL: Final = (
    "No space is left on the disk where acp_nvim keeps its state ({directory}). Until you have made room: There is no "
    "snapshot of the workspace, so that what commands of an agent change is not seen; nothing can be rejected; and "
    "what is left to review, and the turns to go back to, are lost when Neovim ends."
)

_LOST: Final[dict[StateKind, str]] = {
    "ledger": "What is left to review in {root} cannot be written down, and is lost when Neovim ends: {why}",
    "checkpoint": "The turn in {root} is over, but :AcpRestore can undo it only until Neovim ends: {why}",
}


class Workspace:
    """One workspace; `root` is its real path, `state` the state directory.

    `on_trouble` notifies the user, in words, of data that cannot be written: once until writing works again.
    """

    def __init__(self, state: Path, root: str, tracker: ChangeTracker, on_trouble: Callable[[str], None]) -> None:
        self.root = root
        main = main_directory(root)  # linked work trees share the objects of the main one
        objects = state / WORKSPACES / name(main) / "git"
        self.git = GitContents(root, objects, self._content)
        self._state = state
        self._leases = [WorkspaceLease(state / WORKSPACES / name(one), one) for one in dict.fromkeys((main, root))]
        self.scanner = Scanner(Shadow(objects, root, [str(state)]), tracker, self.git.state)
        self._directory = state / WORKSPACES / name(root)
        self.checkpoints = CheckpointStore(self._directory)
        self.saved = ReviewStore(self._directory)
        self._on_trouble = on_trouble
        self._troubles: dict[StateKind, str] = {}
        self._unwritten: list[Checkpoint] = []
        self._cleaned: float | None = None  # when it was cleaned last
        self._saving = anyio.Lock()
        self._stored: SavedReview | None = None  # what is stored; None if that is unknown

    async def _content(self, oid: str) -> bytes:
        """See `Contents.read_file`: the scanner is made later."""
        return await self.scanner.contents.read_file(oid)

    async def add(self, checkpoint: Checkpoint) -> None:
        """Store a checkpoint and its contents. If that fails, keep it in memory, and notify the user."""
        try:
            await self.store(checkpoint, whole=False)
            await self.checkpoints.add(checkpoint)
        except (OSError, SnapshotError) as error:
            self._unwritten.append(checkpoint)
            self.complain("checkpoint", error)
        else:
            self.works("checkpoint")

    async def look_further(self, room: int) -> None:
        """Remember what a later turn may need, and no prompt has to wait for: ignored files, and the user's objects.

        The latter take at most `room` bytes.
        """
        try:
            if self.scanner.last is not None:
                await self.scanner.shadow.remember_ignored()
                await self.scanner.shadow.keep_objects(room)
        except SnapshotError as error:
            log.warning("what a turn in %s may change is not remembered: %s", self.root, error)

    def newest_checkpoints(self) -> Iterator[Checkpoint]:
        """Yield all checkpoints, the last one first, including those that could not be written. Blocks."""
        written, unwritten = self.checkpoints.newest_first(), self._unwritten[::-1]
        return heapq.merge(written, unwritten, key=lambda one: one.time, reverse=True)

    async def store(self, checkpoint: Checkpoint, *, whole: bool = True) -> None:
        """Store all contents that it needs in the shadow repository, and pin them; without `whole`, what is not lost.

        Raises `SnapshotError`.
        """
        blobs = [(one.path, blob) for one in checkpoint.changes for blob in one.blobs() if blob is not None]
        await self._hold(checkpoint.id, checkpoint.oids(), blobs, [], whole=whole)

    async def _hold(
        self,
        name: str,
        oids: Sequence[str],
        blobs: Iterable[tuple[str, Blob]],
        snapshots: Sequence[Snapshot],
        *,
        whole: bool = False,
    ) -> None:
        """Store and pin these contents, which may be in another workspace; without `whole`, what is not lost.

        Raises `SnapshotError`.
        """
        contents = self.scanner.contents
        await contents.flush()
        try:
            await contents.shadow.hold(name, oids, snapshots)
        except GoneError:
            for path, blob in blobs:
                with suppress(GoneError):
                    await contents.bring(path, blob)
            await contents.flush()
            await contents.shadow.hold(name, oids, snapshots, whole=whole)

    async def save(self, ledger: Ledger, workspace_of: Callable[[str], Workspace], evidence: str) -> None:
        """Store what is left to review, and the running turns, for the next Neovim.

        `evidence` is the name of this host's journal.

        If that fails, notify the user and remove the stored turns: beside an older list of files they would attribute
        later changes of the user to an agent.
        """
        async with self._saving:  # the ledger is read in here: the later call writes the newer state
            entries = [entry for entry in ledger.open() if workspace_of(entry.path) is self]
            running = [turn for turn in ledger.logs if turn.active and self.root in turn.began]
            turns = [
                OpenTurn(one.agent, one.prompt, one.began[self.root], one.session, evidence, self._outside(one, ledger))
                for one in running
            ]
            try:
                turns = [await self._with_directories(one) for one in turns]
                await self._save(entries, turns)
            except BaseException as error:
                with anyio.CancelScope(shield=True):
                    await self.saved.drop_turns()
                if not isinstance(error, (OSError, SnapshotError)):
                    raise
                self.complain("ledger", error)
            else:
                self.works("ledger")

    async def _with_directories(self, turn: OpenTurn) -> OpenTurn:
        return msgspec.structs.replace(turn, directories=await self.scanner.shadow.keep_directories(turn.snapshot))

    def _outside(self, turn: TurnLog, ledger: Ledger) -> dict[str, Blob | None]:
        """Return what the files outside that the turn watches were when they were looked at last, if that is known.

        Contents that are in memory only are left out. The first of the session's workspaces has them.
        """
        if next(iter(turn.began), None) != self.root:
            return {}
        known = ((path, ledger.on_disk(path)) for path in turn.roots.outside if ledger.is_accounted(path))
        return {path: self._storable(path, blob) for path, blob in known}

    def _storable(self, path: str, blob: Blob | None) -> Blob | None:
        is_secret = any(one.shadow.is_secret(path) for one in self.scanner.contents.all())
        return UNKNOWN if blob is not None and is_secret else blob

    async def _save(self, entries: list[Entry], turns: list[OpenTurn]) -> None:
        contents = self.scanner.contents
        entries = [one for one in entries if not self.scanner.shadow.is_secret(one.path)]  # they are in memory only
        for entry in entries:
            entry.store_texts(contents)
        saved = SavedReview([EntryRecord.of(one) for one in entries], turns)
        await contents.flush()
        if saved == self._stored:  # most changes are in one workspace of many
            return
        self._stored = None
        found = [(entry.path, blob) for entry in saved.entries for blob in (entry.base, entry.current)]
        found += [(path, blob) for turn in turns for path, blob in turn.outside.items()]
        blobs = [(path, blob) for path, blob in found if blob is not None and is_stored(blob)]
        oids = [*(blob.oid for _, blob in blobs), *(turn.directories for turn in turns if turn.directories)]
        await self._hold("review-" + self.saved.name, oids, blobs, [turn.snapshot for turn in turns])
        await self.saved.save(saved)
        self._stored = saved

    def complain(self, kind: StateKind, error: Exception) -> bool:
        """Notify the user why something cannot be written, once a reason; return False if the caller has to word it."""
        cause = error if isinstance(error, OSError) else error.__cause__
        why = system_words(error) if isinstance(error, OSError) else str(error)
        log.warning("%s of %s: %s", kind, self.root, why)
        is_full = why == NO_SPACE or (isinstance(cause, OSError) and cause.errno in NO_ROOM)
        words = _LOST.get(kind, "").format(root=self.root, why=why)
        if is_full:
            words = _FULL.format(directory=self._directory)
        if words and words not in self._troubles.values():
            self._on_trouble(words)
        self._troubles[kind] = words
        return bool(words)

    def works(self, kind: StateKind) -> None:
        """Note that this kind could be written: if it fails again, the user is notified again."""
        self._troubles.pop(kind, None)

    async def take_over(self) -> SavedReview:
        """Return what dead Neovims left to review; nothing if that cannot be read."""
        self._stored = None
        try:
            return await self.saved.take_over()
        except OSError as error:
            log.warning("the saved review of %s cannot be read: %s", self.root, error)
            return SavedReview()

    @property
    def is_clean(self) -> bool:
        """Whether it was cleaned a short while ago."""
        return self._cleaned is not None and anyio.current_time() < self._cleaned + CLEAN_SECONDS

    async def clean(self, max_bytes: int) -> None:
        """Delete what is too old or too much; all workspaces together may take `max_bytes`.

        The leases are taken here and not before `take_over`, which nothing may delay; until now the lock of the shadow
        repository has protected the workspace.
        """
        try:
            for one in self._leases:
                await anyio.to_thread.run_sync(one.begin)
        except OSError as error:
            log.warning("the workspace %s cannot be marked as used: %s", self.root, error)
        self._cleaned = anyio.current_time()
        usage = await clean_state(self._state, max_bytes)
        try:
            dropped = await self.checkpoints.drop_old()
            await self.scanner.shadow.release(dropped)
            await self.scanner.shadow.clean(usage.room(name(self.root), max_bytes) if usage else max_bytes)
        except (OSError, SnapshotError) as error:
            log.warning("%s could not be cleaned up: %s", self.root, error)
        await clean_memory()

    def close(self) -> None:
        """Release all locks of the workspace, when the process ends."""
        self.scanner.shadow.close()
        self.saved.close()
        for one in self._leases:
            one.close()


def name(root: str) -> str:
    """Return the directory name for a workspace: a readable word, and a hash of `root` that makes it unique."""
    word = re.sub(r"[^\w.-]", "_", os.path.basename(root), flags=re.ASCII)[-40:] or "root"
    return f"{word}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"


MAX_GITS: Final = 8
"""Directories outside of all workspaces whose repositories are kept in memory: one of 100,000 files takes 20 MB."""


class Workspaces:
    """All workspaces of the host by their real paths; `make` makes one. Together they may take `max_bytes`."""

    def __init__(self, make: Callable[[str], Workspace]) -> None:
        self.max_bytes = int(MEGABYTES * 1e6)
        self._make = make
        self.all: dict[str, Workspace] = {}
        self._adopted: dict[str, str] = {}
        self._gits: dict[str, GitContents] = {}
        self.looked: dict[str, int] = {}
        """When files outside of all workspaces were looked at last (nanoseconds since 1970)."""
        self._memory_cleaned = 0.0

    def at(self, directory: str) -> Workspace:
        """Return the workspace at a directory (a real path); make it if it is new."""
        if directory not in self.all:
            made = self.all[directory] = self._make(directory)
            made.scanner.contents.all = lambda: [one.scanner.contents for one in self.all.values()]
        return self.all[directory]

    def of(self, path: str) -> Workspace:
        """Return the innermost workspace that contains the file; of others that which has adopted it, else any one."""
        root = self._innermost(path) or self._adopted.get(path)
        return self.all[root if root in self.all else next(iter(self.all))]

    def _innermost(self, path: str) -> str | None:
        inside = (root for root in self.all if path.startswith(root.rstrip(os.sep) + os.sep))
        return max(inside, key=len, default=None)

    def is_outside(self, path: str) -> bool:
        """Whether the file is in none of the workspaces, so that no snapshot has it."""
        return self._innermost(path) is None

    def adopt(self, path: str, root: str) -> None:
        """Keep what is stored of the file in the workspace at `root` from now on, unless it is in a workspace."""
        self._adopted[path] = root

    def adopted(self, root: str) -> list[str]:
        """Return the files outside that the workspace at `root` has adopted."""
        return [path for path, one in self._adopted.items() if one == root and self.is_outside(path)]

    def git(self, path: str) -> GitContents:
        """Return what git has of the file: that of its workspace, or of the repository that contains it."""
        workspace = self.of(path)
        if not self.is_outside(path):
            return workspace.git
        directory = os.path.dirname(path)
        if directory not in self._gits:
            self._gits[directory] = workspace.git.at(directory)
            while len(self._gits) > MAX_GITS:
                del self._gits[next(iter(self._gits))]
        return self._gits[directory]

    def contents(self, path: str) -> Contents:
        """Return the `Contents` of the workspace that contains the file."""
        return self.of(path).scanner.contents

    async def known(self, path: str) -> Blob | None:
        """Return the file's blob in the last snapshot. Raises `SnapshotError` if that is unknown."""
        return await self.of(path).scanner.known(path)

    def since(self, path: str) -> int:
        """Return when the file was looked at last; see `LastScans`."""
        return self.looked.get(path, 0) if self.is_outside(path) else self.of(path).scanner.since

    def change_time(self, path: str) -> ChangeTime:
        """Return when the file was changed; see `LastScans`. Blocks."""
        return self.of(path).scanner.change_time(path, self.since(path))

    def replaced(self, path: str) -> int | None:
        """Return until when a directory above the file was replaced; see `LastScans`. Blocks."""
        return self.of(path).scanner.replaced(path)

    def made(self, path: str) -> list[str]:
        """Return the new directories above the file; see `LastScans`. Blocks."""
        return self.of(path).scanner.made(path)

    async def save(self, ledger: Ledger, evidence: str) -> None:
        """Store what is left to review in each workspace; `evidence` is the name of this host's journal."""
        for workspace in list(self.all.values()):
            await workspace.save(ledger, self.of, evidence)

    async def clean_memory(self) -> None:
        """Give memory back unless it was done a short while ago."""
        if anyio.current_time() >= self._memory_cleaned + CLEAN_SECONDS:
            self._memory_cleaned = anyio.current_time()
            await clean_memory()

    def close(self) -> None:
        """Release the locks of all workspaces, when the process ends."""
        for workspace in self.all.values():
            workspace.close()
