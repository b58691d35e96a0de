"""One directory that agents work in: its snapshots, its moments to go back to, what is left of it to review."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path

from acp_nvim.limits import SHADOW_BYTES
from acp_nvim.review.checkpoints import Checkpoint, Checkpoints
from acp_nvim.review.entry import Entry
from acp_nvim.review.kept_ledger import Kept, KeptLedger, OpenTurn
from acp_nvim.review.scanning import Scanner
from acp_nvim.review.witness import Witness
from acp_nvim.snapshots.failures import SnapshotError
from acp_nvim.snapshots.shadow import Shadow

log = logging.getLogger(__name__)


class Workspace:
    """`root` is a real path; all that is kept of it goes below `state`."""

    def __init__(self, state: Path, root: str, witness: Witness) -> None:
        directory = state / "workspaces" / name(root)
        self.root = root
        self.scanner = Scanner(Shadow(directory / "git", root, [str(state)]), witness)
        self.checkpoints = Checkpoints(directory)
        self.kept = KeptLedger(directory)

    def __repr__(self) -> str:
        return f"<Workspace {self.root}>"

    async def add(self, checkpoint: Checkpoint) -> None:
        """Keep it, with its contents. Where that fails it lasts as long as this Neovim: said in the log."""
        try:
            await self.scanner.contents.flush()
            await self.scanner.shadow.hold(checkpoint.id, checkpoint.oids(), [])
            await self.checkpoints.add(checkpoint)
        except (OSError, SnapshotError) as error:
            log.warning("the checkpoint %s of %s could not be kept: %s", checkpoint.id, self.root, error)

    async def keep(self, entries: Sequence[Entry], turns: Sequence[OpenTurn]) -> None:
        """What is left to review, and the turns that run, for the next Neovim."""
        contents = self.scanner.contents
        entries = [one for one in entries if not self.scanner.shadow.is_secret(one.path)]  # memory is not for the next
        for entry in entries:
            entry.settle(contents)
        try:
            await contents.flush()
            blobs = (blob for entry in entries for blob in (entry.base, entry.current))
            oids, snapshots = [blob.oid for blob in blobs if blob], [turn.snapshot for turn in turns]
            await self.scanner.shadow.hold("review-" + self.kept.name, oids, snapshots)
            await self.kept.keep(entries, turns)
        except (OSError, SnapshotError) as error:
            log.warning("what is left to review in %s could not be kept: %s", self.root, error)

    async def take_over(self) -> Kept:
        """What Neovims that are gone have left to review."""
        try:
            return await self.kept.take_over()
        except OSError as error:
            log.warning("what was left to review in %s cannot be read: %s", self.root, error)
            return Kept()

    async def clean(self) -> None:
        """Forget what is too old or too much."""
        try:
            dropped = await self.checkpoints.drop_old()
            await self.scanner.shadow.release(dropped)
            await self.scanner.shadow.clean(SHADOW_BYTES)
        except (OSError, SnapshotError) as error:
            log.warning("%s could not be cleaned up: %s", self.root, error)

    def close(self) -> None:
        """Nothing is asked of it any more."""
        self.scanner.shadow.close()
        self.kept.close()


def name(root: str) -> str:
    """For people first, then unique."""
    word = re.sub(r"[^\w.-]", "_", os.path.basename(root), flags=re.ASCII)[-40:] or "root"
    return f"{word}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"
