"""What the host keeps of each workspace under review: contents, checkpoints, what is left to review."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import anyio
import anyio.to_thread

from acp_nvim.limits import MEGABYTES
from acp_nvim.review.change import Entry
from acp_nvim.review.cleanup import WORKSPACES, WorkspaceLease, clean_state
from acp_nvim.review.contents import Contents, is_stored
from acp_nvim.review.git_contents import GitContents
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.scanner import Scanner
from acp_nvim.review.storage import Checkpoint, CheckpointStore, EntryRecord, OpenTurn, ReviewStore, SavedReview
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.snapshots.run_git import NO_SPACE
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob, SnapshotError
from acp_nvim.snapshots.users_repository import main_directory
from acp_nvim.workspace.regular_files import NO_ROOM, system_words

log = logging.getLogger(__name__)


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
        self.git = GitContents(root, objects)
        self._state = state
        self._leases = [WorkspaceLease(state / WORKSPACES / name(one), one) for one in dict.fromkeys((main, root))]
        self.scanner = Scanner(Shadow(objects, root, [str(state)]), tracker)
        self._directory = state / WORKSPACES / name(root)
        self.checkpoints = CheckpointStore(self._directory)
        self.saved = ReviewStore(self._directory)
        self._on_trouble = on_trouble
        self._troubles: dict[StateKind, str] = {}
        self._unwritten: list[Checkpoint] = []
        self._saving = anyio.Lock()
        self._stored: SavedReview | None = None  # what is stored; None if that is unknown

    async def add(self, checkpoint: Checkpoint) -> None:
        """Store a checkpoint and its contents. If that fails, keep it in memory, and notify the user."""
        try:
            await self.store(checkpoint)
            await self.checkpoints.add(checkpoint)
        except (OSError, SnapshotError) as error:
            self._unwritten.append(checkpoint)
            self.complain("checkpoint", error)
        else:
            self.works("checkpoint")

    async def all_checkpoints(self) -> list[Checkpoint]:
        """Return all checkpoints, the oldest first, including those that could not be written."""
        found = await self.checkpoints.all()
        return sorted([*found, *self._unwritten], key=lambda one: one.time) if self._unwritten else found

    async def store(self, checkpoint: Checkpoint) -> None:
        """Store all contents that it needs in the shadow repository, and pin them. Raises `SnapshotError`."""
        await self.scanner.contents.flush()
        await self.scanner.shadow.hold(checkpoint.id, checkpoint.oids(), [])

    async def save(self, ledger: Ledger, workspace_of: Callable[[str], Workspace], evidence: str) -> None:
        """Store what is left to review, and the running turns, for the next Neovim.

        `evidence` is the name of this host's journal.

        If that fails, notify the user and remove the stored turns: beside an older list of files they would attribute
        later changes of the user to an agent.
        """
        async with self._saving:  # the ledger is read in here: the later call writes the newer state
            entries = [entry for entry in ledger.open() if workspace_of(entry.path) is self]
            running = [turn for turn in ledger.logs if turn.active and self.root in turn.began]
            turns = [OpenTurn(one.agent, one.prompt, one.began[self.root], one.session, evidence) for one in running]
            try:
                await self._save(entries, turns)
            except BaseException as error:
                with anyio.CancelScope(shield=True):
                    await self.saved.drop_turns()
                if not isinstance(error, (OSError, SnapshotError)):
                    raise
                self.complain("ledger", error)
            else:
                self.works("ledger")

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
        blobs = (blob for entry in saved.entries for blob in (entry.base, entry.current))
        oids = [blob.oid for blob in blobs if blob is not None and is_stored(blob)]
        await self.scanner.shadow.hold("review-" + self.saved.name, oids, [turn.snapshot for turn in turns])
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
        usage = await clean_state(self._state, max_bytes)
        try:
            dropped = await self.checkpoints.drop_old()
            await self.scanner.shadow.release(dropped)
            await self.scanner.shadow.clean(usage.room(name(self.root), max_bytes) if usage else max_bytes)
        except (OSError, SnapshotError) as error:
            log.warning("%s could not be cleaned up: %s", self.root, error)

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


class Workspaces:
    """All workspaces of the host by their real paths; `make` makes one. Together they may take `max_bytes`."""

    def __init__(self, make: Callable[[str], Workspace]) -> None:
        self.max_bytes = int(MEGABYTES * 1e6)
        self._make = make
        self.all: dict[str, Workspace] = {}

    def at(self, directory: str) -> Workspace:
        """Return the workspace at a directory (a real path); make it if it is new."""
        if directory not in self.all:
            self.all[directory] = self._make(directory)
        return self.all[directory]

    def of(self, path: str) -> Workspace:
        """Return the innermost workspace that contains the file, or any one if none does."""
        inside = [root for root in self.all if path.startswith(root.rstrip(os.sep) + os.sep)]
        return self.all[max(inside, key=len) if inside else next(iter(self.all))]

    def contents(self, path: str) -> Contents:
        """Return the `Contents` of the workspace that contains the file."""
        return self.of(path).scanner.contents

    async def known(self, path: str) -> Blob | None:
        """Return the file's blob in the last snapshot. Raises `SnapshotError` if that is unknown."""
        return await self.of(path).scanner.known(path)

    async def save(self, ledger: Ledger, evidence: str) -> None:
        """Store what is left to review in each workspace; `evidence` is the name of this host's journal."""
        for workspace in list(self.all.values()):
            await workspace.save(ledger, self.of, evidence)

    def close(self) -> None:
        """Release the locks of all workspaces, when the process ends."""
        for workspace in self.all.values():
            workspace.close()
