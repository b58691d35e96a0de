"""Stores checkpoints, and what is left to review, in the state directory, from one Neovim to the next."""

from __future__ import annotations

import json
import logging
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

import anyio
import anyio.to_thread
import msgspec

from acp_nvim import decoders
from acp_nvim.contract.events import By
from acp_nvim.evidence.evidence import Verdict
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import Content, is_stored
from acp_nvim.review.records import ChangeRecord, CheckpointKind, joined
from acp_nvim.snapshots.snapshot import Blob, Snapshot
from acp_nvim.state.private_file import alone, lock_now, make_directory, replace_whole
from acp_nvim.traffic.masking import masked

MAX_CHECKPOINTS: Final = 500
"""Turns of a workspace that can be restored: weeks of work; a longer list helps no user."""
CHECKPOINT_SECONDS: Final = 30 * 24 * 3600.0
"""Age at which checkpoints are deleted."""
VERSION: Final = 1
"""Version of the format; files of other versions are ignored."""
_HEAD: Final = b'{"version":%d,' % VERSION
"""How each line begins. Decoded in one step it takes a tenth of the time and memory."""

T = TypeVar("T")
log = logging.getLogger(__name__)


def encode(value: msgspec.Struct) -> bytes:
    """Return one line of versioned JSON in ASCII, without a line end.

    A byte of a file name that is not UTF-8 is a lone surrogate in Python (PEP 383), which `msgspec.json` refuses. JSON
    can have it as an escape: b"\\xe9" is written as `\\udce9`, so that `os.fsencode` gives the same bytes again.
    """
    fields = {"version": VERSION, **msgspec.to_builtins(value)}
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def decode(data: bytes, kind: type[T]) -> T:
    """Return what `encode` wrote. Raises `ValueError` if it is incomplete, damaged or of another version."""
    if data.startswith(_HEAD):
        with suppress(msgspec.MsgspecError, RecursionError):  # what has a lone surrogate, for example
            return decoders.decode(data, kind)
    try:
        fields = json.loads(data)
        version = fields.pop("version", None) if isinstance(fields, dict) else None
        if version != VERSION:
            raise ValueError(f"it has version {version}, not {VERSION}")
        return decoders.convert(fields, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from error


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The file changes made at `time` (seconds since 1970) by a turn, a restore or a rejection.

    `undoes` is the id of the restore or rejection that a restore undoes.
    """

    kind: CheckpointKind
    agent: str
    prompt: str
    changes: list[ChangeRecord]
    session: int | None = None
    undoes: str | None = None
    id: str = msgspec.field(default_factory=lambda: uuid.uuid4().hex[:12])
    time: float = msgspec.field(default_factory=time.time)

    def oids(self) -> list[str]:
        """Return the distinct ids of the git objects that the checkpoint needs."""
        blobs = [blob for one in self.changes for blob in one.blobs()]
        return list(dict.fromkeys(blob.oid for blob in blobs if blob is not None and is_stored(blob)))


class CheckpointHead(msgspec.Struct, frozen=True):
    """What decides how long a checkpoint is kept: all of it is not to be in memory for that."""

    id: str
    kind: CheckpointKind
    time: float


class CheckpointStore:
    """The checkpoints of one workspace, in a file to which several Neovims append lines.

    Lines with the same id are parts of one checkpoint; the last line about a file counts.
    """

    def __init__(self, directory: Path) -> None:
        self._file = directory / "checkpoints.jsonl"

    async def add(self, checkpoint: Checkpoint) -> None:
        """Append a checkpoint, or more changes of one. Raises `OSError`; then nothing was appended."""
        await anyio.to_thread.run_sync(self._add, checkpoint)

    def newest_first(self) -> Iterator[Checkpoint]:
        """Yield the readable checkpoints, the last one first. Blocks.

        There may be a thousand, with a kilobyte of each change: one at a time is in memory.
        """
        places: dict[str, list[int]] = {}
        try:
            with suppress(FileNotFoundError), self._file.open("rb") as file:
                for place, _, head in self._lines(file, CheckpointHead):
                    if head is not None:
                        places.setdefault(head.id, []).append(place)
                for parts in reversed(places.values()):
                    if (found := self._joined(file, parts)) is not None:
                        yield found
        except OSError as error:
            log.warning("%s cannot be read: %s", self._file, error)

    async def drop_old(self) -> list[str]:
        """Delete the checkpoints beyond the limits of number and age; return their ids. Raises `OSError`."""
        return await anyio.to_thread.run_sync(self._drop_old)

    def _add(self, checkpoint: Checkpoint) -> None:
        line = encode(msgspec.structs.replace(checkpoint, prompt=masked(checkpoint.prompt))) + b"\n"
        make_directory(self._file.parent)
        with alone(self._file):
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                _append(descriptor, line)
            finally:
                os.close(descriptor)

    def _joined(self, file: BinaryIO, places: Iterable[int]) -> Checkpoint | None:
        """Return the checkpoint whose parts are the lines at these places; None if none of them is readable."""
        found: Checkpoint | None = None
        for place in places:
            file.seek(place)
            more = self._decode(file.readline(), Checkpoint)
            if found is None or more is None:
                found = found or more
            else:
                found = msgspec.structs.replace(found, changes=joined([*found.changes, *more.changes]))
        return found

    def _lines(self, file: BinaryIO, kind: type[T]) -> Iterator[tuple[int, bytes, T | None]]:
        """Yield each non-empty line after its place, with what it has; None if it is not readable."""
        place = 0
        for line in file:
            if text := line.removesuffix(b"\n"):
                yield place, text, self._decode(text, kind)
            place += len(line)

    def _decode(self, line: bytes, kind: type[T]) -> T | None:
        try:
            return decode(line, kind)
        except ValueError as error:
            log.warning("a line of %s is not what this version writes, and is ignored: %s", self._file, error)
            return None

    def _drop_old(self) -> list[str]:
        if not self._file.exists():
            return []
        with alone(self._file), self._file.open("rb") as file:
            known: dict[str, CheckpointHead] = {}
            for _, _, one in self._lines(file, CheckpointHead):
                if one is not None:
                    known.setdefault(one.id, one)
            kept = _within_limits(list(known.values()))
            if len(kept) < len(known):
                file.seek(0)
                lines = (line for _, line, one in self._lines(file, CheckpointHead) if one is None or one.id in kept)
                replace_whole(self._file, b"".join(line + b"\n" for line in lines))
        return [one for one in known if one not in kept]


def _append(descriptor: int, line: bytes) -> None:
    """Append and synchronise the whole line, or nothing; a partial line left by a killed Neovim is ended first."""
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


def _within_limits(checkpoints: Sequence[CheckpointHead]) -> set[str]:
    """Return the ids of those to keep. Turns have a limit of their own, so that rejected hunks do not evict them."""
    since = time.time() - CHECKPOINT_SECONDS
    turns = [one for one in checkpoints if one.kind == "turn"]
    others = [one for one in checkpoints if one.kind != "turn"]
    return {one.id for one in (*turns[-MAX_CHECKPOINTS:], *others[-MAX_CHECKPOINTS:]) if one.time >= since}


class EntryRecord(msgspec.Struct, frozen=True):
    """A file under review, as stored for the next host."""

    path: str
    base: Blob | None
    current: Blob | None
    on_disk: Blob | None
    old_path: str | None = None
    encoding: str = "utf-8"
    by: By = "agent"
    why: str = ""
    base_encoding: str | None = None
    """None if it is `encoding`."""
    made: list[str] = []

    @classmethod
    def of(cls, one: Entry) -> EntryRecord:
        """Return the record of an entry whose texts are stored already."""
        verdict, states = one.verdict, (one.base, one.current, one.on_disk)
        recoded = None if one.base_encoding == one.encoding else one.base_encoding
        return cls(one.path, *states, one.old_path, one.encoding, verdict.by, verdict.why, recoded, one.made)

    def entry(self) -> Entry:
        """Return an entry that belongs to no session of this host."""
        entry = Entry(self.path, Content(self.base, encoding=self.base_encoding or self.encoding), self.old_path)
        entry.current, entry.on_disk, entry.encoding = self.current, self.on_disk, self.encoding
        entry.verdict, entry.made = Verdict(self.by, self.why), list(self.made)
        return entry


class OpenTurn(msgspec.Struct, frozen=True):
    """A running turn. If its host dies, the next one compares the disk with `snapshot` and judges by the evidence.

    `evidence` is the name of the host's `WorkJournal`, `session` the session's number in it. `outside` are the watched
    files that no snapshot has, with what they were when they were looked at last. `directories` is the id of the
    snapshot's, see `Shadow.keep_directories`.
    """

    agent: str
    prompt: str
    snapshot: Snapshot
    session: int = 0
    evidence: str = ""
    outside: dict[str, Blob | None] = {}
    directories: str = ""


class SavedReview(msgspec.Struct):
    """What a Neovim leaves to the next one: files under review, and the turns that were running."""

    entries: list[EntryRecord] = []
    turns: list[OpenTurn] = []


class ReviewStore:
    """Stores the review of one Neovim in `<directory>/review`, and takes over those of dead ones.

    | file | content |
    |---|---|
    | `<id>.json` | the files under review |
    | `<id>.turns` | the running turns; if their Neovim dies, later changes are attributed to them |
    | `<id>.lock` | locked as long as the Neovim runs |

    The turns have a file of their own so that it can be removed when the disk is full: an open turn beside an older
    list of files would attribute later changes of the user to an agent.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "review"
        self.name = uuid.uuid4().hex[:12]
        self._file = self._directory / f"{self.name}.json"
        self._lock: int | None = None
        self._taken: list[tuple[Path, int]] = []
        self._written: dict[Path, bytes] = {}
        self._writing = anyio.Lock()

    async def save(self, saved: SavedReview) -> None:
        """Store the present state. Raises `OSError`; then no open turn is left on the disk."""
        async with self._writing:
            await anyio.to_thread.run_sync(self._save, saved)

    async def drop_turns(self) -> None:
        """Remove the stored turns, because the stored files cannot be brought up to date."""
        async with self._writing:
            await anyio.to_thread.run_sync(self._drop_turns)

    async def take_over(self) -> SavedReview:
        """Return what dead Neovims left; the next `save` makes it this Neovim's. Raises `OSError`."""
        async with self._writing:
            return await anyio.to_thread.run_sync(self._take_over)

    def close(self) -> None:
        """Release the locks, so that the next Neovim can take over the review."""
        taken, self._taken = self._taken, []
        for lock in (self._lock, *(lock for _, lock in taken)):
            if lock is not None:
                os.close(lock)
        self._lock = None

    def _save(self, saved: SavedReview) -> None:
        if self._lock is None and not saved.entries and not saved.turns:
            self._drop_taken()
            return
        turns = [msgspec.structs.replace(one, prompt=masked(one.prompt)) for one in saved.turns]
        try:
            if self._lock is None:
                make_directory(self._directory)
                self._lock = lock_now(self._file.with_suffix(".lock"))
            self._replace(self._file, SavedReview(entries=saved.entries))  # first: it is valid without the turns
            if turns:
                self._replace(_turns(self._file), SavedReview(turns=turns))
            else:
                self._remove_turns(self._file)
            self._drop_taken()
        except BaseException:
            self._drop_turns()
            raise

    def _replace(self, file: Path, saved: SavedReview) -> None:
        data = encode(saved)
        if self._written.get(file) != data:
            self._written.pop(file, None)
            replace_whole(file, data)
            self._written[file] = data

    def _drop_turns(self) -> None:
        for file in (self._file, *(file for file, _ in self._taken)):
            self._remove_turns(file)

    def _remove_turns(self, file: Path) -> None:
        """Remove the file of turns, or else truncate it: readers ignore an empty one."""
        turns = _turns(file)
        self._written.pop(turns, None)
        try:
            turns.unlink(missing_ok=True)
        except OSError:
            with suppress(OSError):
                os.truncate(turns, 0)

    def _take_over(self) -> SavedReview:
        found = SavedReview()
        for file in sorted(self._directory.glob("*.json")):
            lock = None if file == self._file else lock_now(file.with_suffix(".lock"))
            if lock is None:
                continue
            left = _read(file)
            if left is None:
                os.close(lock)
                continue
            open_turns = _read(_turns(file)) or SavedReview()
            found.entries += left.entries
            found.turns += open_turns.turns
            self._taken.append((file, lock))
        return found

    def _drop_taken(self) -> None:
        taken, self._taken = self._taken, []
        for file, lock in taken:
            for one in (_turns(file), file, file.with_suffix(".lock")):
                with suppress(OSError):
                    one.unlink()
            os.close(lock)


def _turns(file: Path) -> Path:
    return file.with_suffix(".turns")


def _read(file: Path) -> SavedReview | None:
    """Return the saved review; None if the file is missing, incomplete or of another version."""
    try:
        return decode(file.read_bytes(), SavedReview)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        log.warning("%s is not what this version writes, and is ignored: %s", file, error)
        return None
