"""The moments of one workspace that can be gone back to, kept from one Neovim to the next."""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

import anyio.to_thread
import msgspec

from acp_nvim.review import stored
from acp_nvim.review.change import KeptChange
from acp_nvim.review.contents import is_stored
from acp_nvim.traffic.masking import masked
from acp_nvim.ui.review_events import CheckpointView, FileView
from acp_nvim.workspace.private_file import alone, make_directory, replace_whole

CHECKPOINTS: Final = 500
"""Turns of a workspace that can be gone back to: weeks of work; nobody finds more in a list."""
CHECKPOINT_SECONDS: Final = 30 * 24 * 3600.0
"""Age at which they are forgotten."""

log = logging.getLogger(__name__)

CheckpointKind = Literal["turn", "restore", "reject"]


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """What was done at that time (seconds since 1970): undone, the files are what they were before.

    A restore that takes another one back, or a rejection, has its id in `undoes`.
    """

    kind: CheckpointKind
    agent: str
    prompt: str
    changes: list[KeptChange]
    session: int | None = None
    undoes: str | None = None
    id: str = msgspec.field(default_factory=lambda: uuid.uuid4().hex[:12])
    time: float = msgspec.field(default_factory=time.time)

    def view(self, undo: bool = False) -> CheckpointView:
        """As a list shows it; `undo`: `:AcpRestore undo` may take it back."""
        files = file_views(self.changes)
        return CheckpointView(self.id, self.kind, self.time, self.agent, self.prompt, files, self.session, undo)

    def oids(self) -> list[str]:
        """The ids of the git objects that must be kept as long as the checkpoint is, each once."""
        reviews = [one.review.base for one in self.changes if one.review is not None]
        blobs = [*reviews, *(blob for one in self.changes for blob in (one.before, one.after))]
        return list(dict.fromkeys(blob.oid for blob in blobs if blob is not None and is_stored(blob)))


def views(checkpoints: Sequence[Checkpoint]) -> list[CheckpointView]:
    """Return the checkpoints that have changed files, the newest first; they are given the oldest first.

    The first one to undo is what was rejected or restored last, and was not taken back since; so one undo after the
    other goes further back.
    """
    undone = {one.undoes for one in checkpoints}
    return [
        one.view(undo=one.kind != "turn" and one.undoes is None and one.id not in undone)
        for one in reversed(checkpoints)
        if one.changes
    ]


def file_views(changes: Iterable[KeptChange]) -> list[FileView]:
    """The changes as a list shows them: a renamed file once."""
    changes = list(changes)
    renamed = {one.old_path for one in changes if one.old_path is not None}
    return [
        FileView(one.path, one.operation, one.added, one.removed, one.old_path, one.note, one.by, one.why)
        for one in changes
        if one.path not in renamed or one.after is not None
    ]


class Checkpoints:
    """The checkpoints of one workspace: lines of a file that several Neovims may add to.

    A checkpoint may have several lines, of which each has other files; of a file the last line counts.
    """

    def __init__(self, directory: Path) -> None:
        self._file = directory / "checkpoints.jsonl"

    def __repr__(self) -> str:
        return f"<Checkpoints {self._file}>"

    async def add(self, checkpoint: Checkpoint) -> None:
        """Keep it, or add its files to those of the same id. Raises `OSError`; then nothing of it is in the file."""
        await anyio.to_thread.run_sync(self._add, checkpoint)

    async def all(self) -> list[Checkpoint]:
        """The oldest first; what cannot be read is left out."""
        return await anyio.to_thread.run_sync(self._read)

    async def drop_old(self) -> list[str]:
        """Forget those that are too many or too old; returns their ids. Raises `OSError`."""
        return await anyio.to_thread.run_sync(self._drop_old)

    def _add(self, checkpoint: Checkpoint) -> None:
        without_secrets = msgspec.structs.replace(checkpoint, prompt=masked(checkpoint.prompt))
        line = stored.encode(without_secrets) + b"\n"
        make_directory(self._file.parent)
        with alone(self._file):
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                _append(descriptor, line)
            finally:
                os.close(descriptor)

    def _lines(self) -> list[bytes]:
        try:
            return self._file.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []

    def _read(self) -> list[Checkpoint]:
        try:
            lines = self._lines()
        except OSError as error:
            log.warning("%s cannot be read: %s", self._file, error)
            return []
        return _joined(one for line in lines if (one := self._decode(line)) is not None)

    def _decode(self, line: bytes) -> Checkpoint | None:
        try:
            return stored.decode(line, Checkpoint) if line else None
        except ValueError as error:
            log.warning("a line of %s is not what this version writes, and is passed over: %s", self._file, error)
            return None

    def _drop_old(self) -> list[str]:
        if not self._file.exists():
            return []
        with alone(self._file):
            found = [(line, self._decode(line)) for line in self._lines()]
            known = _joined(one for _, one in found if one is not None)
            kept = _young(known)
            if len(kept) < len(known):
                lines = [line for line, one in found if (one is None and line) or (one is not None and one.id in kept)]
                replace_whole(self._file, b"".join(line + b"\n" for line in lines))
        return [one.id for one in known if one.id not in kept]


def _append(descriptor: int, line: bytes) -> None:
    """All of the line, on the disk itself, or nothing. What a killed Neovim has left of another one stays apart."""
    size = os.fstat(descriptor).st_size
    rest = memoryview(line)
    try:
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            os.write(descriptor, b"\n")
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except BaseException:
        os.ftruncate(descriptor, size)
        raise


def _joined(lines: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Lines of one id are one checkpoint, at the place of the first."""
    found: dict[str, Checkpoint] = {}
    for one in lines:
        before = found.get(one.id)
        changes = {} if before is None else {change.path: change for change in before.changes}
        changes |= {change.path: change for change in one.changes}
        found[one.id] = msgspec.structs.replace(before or one, changes=list(changes.values()))
    return list(found.values())


def _young(checkpoints: Sequence[Checkpoint]) -> set[str]:
    """The ids of those to be kept. Many rejected hunks do not push turns out."""
    since = time.time() - CHECKPOINT_SECONDS
    turns = [one for one in checkpoints if one.kind == "turn"]
    others = [one for one in checkpoints if one.kind != "turn"]
    return {one.id for one in (*turns[-CHECKPOINTS:], *others[-CHECKPOINTS:]) if one.time >= since}
