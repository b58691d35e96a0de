"""The moments of one workspace that can be gone back to, kept from one Neovim to the next."""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import anyio.to_thread
import msgspec

from acp_nvim.limits import CHECKPOINT_SECONDS, CHECKPOINTS
from acp_nvim.review.change import KeptChange
from acp_nvim.review_events import CheckpointView, FileView
from acp_nvim.traffic.words import masked
from acp_nvim.workspace.private_file import make_directory, write_new

log = logging.getLogger(__name__)

Kind = Literal["turn", "restore", "reject"]


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """What was done at that time (seconds since 1970): undone, the files are what they were before."""

    kind: Kind
    agent: str
    prompt: str
    changes: list[KeptChange]
    session: int | None = None
    id: str = msgspec.field(default_factory=lambda: uuid.uuid4().hex[:12])
    time: float = msgspec.field(default_factory=time.time)

    def view(self) -> CheckpointView:
        """As a list shows it."""
        return CheckpointView(
            self.id, self.kind, self.time, self.agent, self.prompt, file_views(self.changes), self.session
        )

    def oids(self) -> list[str]:
        """What must be kept for it."""
        reviews = [one.review.base for one in self.changes if one.review is not None]
        blobs = [*reviews, *(blob for one in self.changes for blob in (one.before, one.after))]
        return list(dict.fromkeys(blob.oid for blob in blobs if blob is not None))


def file_views(changes: Iterable[KeptChange]) -> list[FileView]:
    """The changes as a list shows them: a renamed file once."""
    changes = list(changes)
    renamed = {one.old_path for one in changes if one.old_path is not None}
    return [
        FileView(one.path, one.operation, one.added, one.removed, one.old_path, one.note)
        for one in changes
        if one.path not in renamed or one.after is not None
    ]


class Checkpoints:
    """Those of one workspace: lines of a file that several Neovims may add to."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "checkpoints.jsonl"

    def __repr__(self) -> str:
        return f"<Checkpoints {self._file}>"

    async def add(self, checkpoint: Checkpoint) -> None:
        """Keep it. Raises `OSError`."""
        await anyio.to_thread.run_sync(self._add, checkpoint)

    async def all(self) -> list[Checkpoint]:
        """The oldest first; what cannot be read is left out."""
        return await anyio.to_thread.run_sync(self._read)

    async def drop_old(self) -> list[str]:
        """Forget those that are too many or too old; returns their ids. Nobody else may add one meanwhile."""
        return await anyio.to_thread.run_sync(self._drop_old)

    def _add(self, checkpoint: Checkpoint) -> None:
        without_secrets = msgspec.structs.replace(checkpoint, prompt=masked(checkpoint.prompt))
        line = msgspec.json.encode(without_secrets) + b"\n"
        make_directory(self._file.parent)
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def _read(self) -> list[Checkpoint]:
        try:
            lines = self._file.read_bytes().splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                found.append(msgspec.json.decode(line, type=Checkpoint))
            except msgspec.MsgspecError:
                log.warning("a line of %s is no checkpoint", self._file)
        return found

    def _drop_old(self) -> list[str]:
        found = self._read()
        since = time.time() - CHECKPOINT_SECONDS
        kept = [one for one in found[-CHECKPOINTS:] if one.time >= since]
        if len(kept) < len(found):
            temporary = self._file.with_suffix(".new")
            temporary.unlink(missing_ok=True)
            write_new(temporary, b"".join(msgspec.json.encode(one) + b"\n" for one in kept))
            temporary.replace(self._file)
        ids = {one.id for one in kept}
        return [one.id for one in found if one.id not in ids]
