"""What is kept of one workspace under review: contents, checkpoints, what is left to review."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal

import anyio
import anyio.to_thread

from acp_nvim.review.change import Entry
from acp_nvim.review.checkpoints import Checkpoint, Checkpoints
from acp_nvim.review.contents import is_stored
from acp_nvim.review.git_contents import GitContents
from acp_nvim.review.kept_ledger import KeptEntry, KeptLedger, KeptReview, OpenTurn
from acp_nvim.review.scanner import Scanner
from acp_nvim.review.sweeping import WORKSPACES, InUse, sweep
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.snapshots.run_git import NO_SPACE
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import SnapshotError
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
    """`root` is a real path; all that is kept of it goes below `state`.

    `on_trouble` tells the user, in words, what cannot be written down: once until that works again.
    """

    def __init__(self, state: Path, root: str, tracker: ChangeTracker, on_trouble: Callable[[str], None]) -> None:
        directory = state / WORKSPACES / name(root)
        self.root = root
        main = main_directory(root)  # linked work trees share the objects of the main one
        objects = state / WORKSPACES / name(main) / "git"
        self.git = GitContents(root, objects)
        self._state = state
        self._in_use = [InUse(state / WORKSPACES / name(one), one) for one in dict.fromkeys((main, root))]
        self.scanner = Scanner(Shadow(objects, root, [str(state)]), tracker)
        self.checkpoints = Checkpoints(directory)
        self.kept = KeptLedger(directory)
        self._directory = directory
        self._on_trouble = on_trouble
        self._troubles: dict[StateKind, str] = {}
        self._unwritten: list[Checkpoint] = []
        self._keeping = anyio.Lock()

    def __repr__(self) -> str:
        return f"<Workspace {self.root}>"

    async def add(self, checkpoint: Checkpoint) -> None:
        """Keep it, with its contents. Where that fails it lasts as long as this Neovim, and the user is told."""
        try:
            await self.store(checkpoint)
            await self.checkpoints.add(checkpoint)
        except (OSError, SnapshotError) as error:
            self._unwritten.append(checkpoint)
            self.complain("checkpoint", error)
        else:
            self.works("checkpoint")

    async def all_checkpoints(self) -> list[Checkpoint]:
        """All checkpoints, the oldest first; those too that could not be written."""
        found = await self.checkpoints.all()
        return sorted([*found, *self._unwritten], key=lambda one: one.time) if self._unwritten else found

    async def store(self, checkpoint: Checkpoint) -> None:
        """All contents that it needs are in the shadow repository, and stay. Raises `SnapshotError`."""
        await self.scanner.contents.flush()
        await self.scanner.shadow.hold(checkpoint.id, checkpoint.oids(), [])

    async def keep(self, entries: Callable[[], Sequence[Entry]], turns: Callable[[], Sequence[OpenTurn]]) -> None:
        """Write down what is left to review, and the turns that run, for the next Neovim.

        Where that fails the user is told, and no open turn is left on the disk: beside an older list of files it would
        make an agent's of what the user does from now on.
        """
        async with self._keeping:  # who comes later writes what is newer
            try:
                await self._keep(entries(), turns())
            except BaseException as error:
                with anyio.CancelScope(shield=True):
                    await self.kept.drop_turns()
                if not isinstance(error, (OSError, SnapshotError)):
                    raise
                self.complain("ledger", error)
            else:
                self.works("ledger")

    async def _keep(self, entries: Sequence[Entry], turns: Sequence[OpenTurn]) -> None:
        contents = self.scanner.contents
        entries = [one for one in entries if not self.scanner.shadow.is_secret(one.path)]  # memory is not for the next
        for entry in entries:
            entry.settle(contents)
        kept = KeptReview([KeptEntry.of(one) for one in entries], list(turns))
        await contents.flush()
        blobs = (blob for entry in kept.entries for blob in (entry.base, entry.current))
        oids = [blob.oid for blob in blobs if blob is not None and is_stored(blob)]
        await self.scanner.shadow.hold("review-" + self.kept.name, oids, [turn.snapshot for turn in turns])
        await self.kept.keep(kept)

    def complain(self, kind: StateKind, error: Exception) -> bool:
        """Tell why something cannot be written, unless that is known. A full disk is told once for all kinds.

        False when the words are the caller's.
        """
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
        """Something was written that failed before: if it fails again, the user is told again."""
        self._troubles.pop(kind, None)

    async def take_over(self) -> KeptReview:
        """What Neovims that are gone have left to review."""
        try:
            return await self.kept.take_over()
        except OSError as error:
            log.warning("what was left to review in %s cannot be read: %s", self.root, error)
            return KeptReview()

    async def clean(self, max_bytes: int) -> None:
        """Forget what is too old or too much; the state directory of all workspaces may have `max_bytes`.

        That the workspace is used is written down here and not before `take_over`, which nothing may delay; until now
        the lock of the shadow repository has said so.
        """
        try:
            for one in self._in_use:
                await anyio.to_thread.run_sync(one.begin)
        except OSError as error:
            log.warning("that %s is used cannot be written down: %s", self.root, error)
        swept = await sweep(self._state, max_bytes)
        try:
            dropped = await self.checkpoints.drop_old()
            await self.scanner.shadow.release(dropped)
            await self.scanner.shadow.clean(swept.room(name(self.root), max_bytes) if swept else max_bytes)
        except (OSError, SnapshotError) as error:
            log.warning("%s could not be cleaned up: %s", self.root, error)

    def close(self) -> None:
        """Nothing is asked of it any more."""
        self.scanner.shadow.close()
        self.kept.close()
        for one in self._in_use:
            one.close()


def name(root: str) -> str:
    """Return a directory's name for the workspace: a readable word, and a hash of `root` that makes it unique."""
    word = re.sub(r"[^\w.-]", "_", os.path.basename(root), flags=re.ASCII)[-40:] or "root"
    return f"{word}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"
