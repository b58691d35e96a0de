"""What is left to review in one workspace, kept from one Neovim to the next."""

from __future__ import annotations

import logging
import os
import uuid
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.review import stored
from acp_nvim.review.change import Entry
from acp_nvim.review.contents import Content
from acp_nvim.review.evidence import Verdict
from acp_nvim.snapshots.snapshot import Blob, Snapshot
from acp_nvim.traffic.masking import masked
from acp_nvim.ui.events import By
from acp_nvim.workspace.private_file import lock_now, make_directory, replace_whole

log = logging.getLogger(__name__)


class KeptEntry(msgspec.Struct, frozen=True):
    """A file under review as a host has left it, for the next one."""

    path: str
    base: Blob | None
    current: Blob | None
    on_disk: Blob | None
    old_path: str | None = None
    encoding: str = "utf-8"
    by: By = "agent"
    why: str = ""

    @classmethod
    def of(cls, one: Entry) -> KeptEntry:
        """An entry as it is now, settled already."""
        verdict = one.verdict
        return cls(one.path, one.base, one.current, one.on_disk, one.old_path, one.encoding, verdict.by, verdict.why)

    def entry(self) -> Entry:
        """Under review again; no session of this Neovim is to blame."""
        entry = Entry(self.path, Content(self.base, encoding=self.encoding), self.old_path)
        entry.current, entry.on_disk = self.current, self.on_disk
        entry.verdict = Verdict(self.by, self.why)
        return entry


class OpenTurn(msgspec.Struct, frozen=True):
    """A turn that runs: of what is different from `snapshot` when its Neovim is gone, its evidence says what it did.

    `evidence` is the name of what its host has written down (`WorkJournal`), `session` the session's number there.
    """

    agent: str
    prompt: str
    snapshot: Snapshot
    session: int = 0
    evidence: str = ""


class KeptReview(msgspec.Struct):
    """What a Neovim has left: files to review, and the turns that ran in it."""

    entries: list[KeptEntry] = []
    turns: list[OpenTurn] = []


class KeptLedger:
    """The files of one Neovim in `<directory>/review`, and those that it has taken over from others.

    | file | content |
    |---|---|
    | `<id>.json` | the files under review |
    | `<id>.turns` | the turns that run; what changes from now on is theirs, if their Neovim dies |
    | `<id>.lock` | locked as long as the Neovim lives |

    The turns have a file of their own so that it can be removed when the disk is full: an open turn beside an older
    list of files would make an agent's of what the user does later.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "review"
        self.name = uuid.uuid4().hex[:12]
        self._file = self._directory / f"{self.name}.json"
        self._lock: int | None = None
        self._taken: list[tuple[Path, int]] = []
        self._written: dict[Path, bytes] = {}
        self._writing = anyio.Lock()

    def __repr__(self) -> str:
        return f"<KeptLedger {self._file}>"

    async def keep(self, kept: KeptReview) -> None:
        """Write down how things stand. Raises `OSError`; then no open turn is left on the disk."""
        async with self._writing:
            await anyio.to_thread.run_sync(self._write, kept)

    async def drop_turns(self) -> None:
        """What is on the disk could not be brought up to date: no open turn is believed that is there."""
        async with self._writing:
            await anyio.to_thread.run_sync(self._drop_turns)

    async def take_over(self) -> KeptReview:
        """What others have left; it is this Neovim's from the next `keep` on. Raises `OSError`."""
        async with self._writing:
            return await anyio.to_thread.run_sync(self._take_over)

    def close(self) -> None:
        """The next Neovim may take over what was kept."""
        taken, self._taken = self._taken, []
        for lock in (self._lock, *(lock for _, lock in taken)):
            if lock is not None:
                os.close(lock)
        self._lock = None

    def _write(self, kept: KeptReview) -> None:
        if self._lock is None and not kept.entries and not kept.turns:
            self._drop_taken()
            return
        turns = [msgspec.structs.replace(one, prompt=masked(one.prompt)) for one in kept.turns]
        try:
            if self._lock is None:
                make_directory(self._directory)
                self._lock = lock_now(self._file.with_suffix(".lock"))
            self._replace(self._file, KeptReview(entries=kept.entries))  # first: without the turns it is no lie
            if turns:
                self._replace(_turns(self._file), KeptReview(turns=turns))
            else:
                self._remove_turns(self._file)
            self._drop_taken()
        except BaseException:
            self._drop_turns()
            raise

    def _replace(self, file: Path, kept: KeptReview) -> None:
        data = stored.encode(kept)
        if self._written.get(file) != data:
            self._written.pop(file, None)
            replace_whole(file, data)
            self._written[file] = data

    def _drop_turns(self) -> None:
        for file in (self._file, *(file for file, _ in self._taken)):
            self._remove_turns(file)

    def _remove_turns(self, file: Path) -> None:
        """Where a file cannot be removed it is emptied, which nobody believes either."""
        turns = _turns(file)
        self._written.pop(turns, None)
        try:
            turns.unlink(missing_ok=True)
        except OSError:
            with suppress(OSError):
                os.truncate(turns, 0)

    def _take_over(self) -> KeptReview:
        found = KeptReview()
        for file in sorted(self._directory.glob("*.json")):
            lock = None if file == self._file else lock_now(file.with_suffix(".lock"))
            if lock is None:
                continue
            left = _read(file)
            if left is None:
                os.close(lock)
                continue
            open_turns = _read(_turns(file)) or KeptReview()
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


def _read(file: Path) -> KeptReview | None:
    """None when there is no such file, or none that this version has written to its end."""
    try:
        return stored.decode(file.read_bytes(), KeptReview)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        log.warning("%s is not what this version writes, and is not believed: %s", file, error)
        return None
