"""Keeps on disk what sessions would lose if this host died: unsent prompts, and options that were set."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from acp_nvim import decoders
from acp_nvim.lazy import pattern
from acp_nvim.process.group import is_alive
from acp_nvim.prompt.items import ContextItem, TextItem
from acp_nvim.state.private_file import make_directory, remove_directory, write_new
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.traffic.masking import masked

JOURNAL_BYTES: Final = 16 * 1024 * 1024
"""Limit of one session's journal, with room for two of the largest images. Prompts beyond it stay with Lua."""
WRITE_SECONDS: Final = 1.0
"""Longest time that a prompt waits for a slow disk before it is sent all the same."""
ELSEWHERE_SECONDS: Final = 30 * 24 * 3600.0
"""Age at which a journal of another machine, whose processes we cannot see, is removed."""

_INSTANCE = pattern(r"(\w+)-(\d+)-(\d*)")

log = logging.getLogger(__name__)


class KeptPrompt(msgspec.Struct, frozen=True):
    """An unsent prompt with its context items."""

    id: int
    text: str
    context: list[ContextItem] = []


class JournalEntry(msgspec.Struct, omit_defaults=True):
    """The content of a session's journal: its prompts in order, and the options set by the user, by id."""

    prompts: list[KeptPrompt] = []
    options: dict[str, str | bool] = {}


class SessionJournal:
    """The journal of one session in the file `path`; None: nothing is kept.

    `before` is the entry of the previous host. `on_kept` is called after each write.
    """

    def __init__(self, path: Path | None, before: JournalEntry, tasks: Tasks) -> None:
        self.before = before
        self.on_kept: Callable[[], None] = lambda: None
        self.on_disk: Mapping[int, KeptPrompt] = {one.id: one for one in before.prompts}
        self._path = path
        self._tasks = tasks
        self._entry = before
        self._encoded: dict[int, tuple[KeptPrompt, str | None]] = {}  # None: it may hold a secret
        self._changed = False
        self._is_reported = False
        self._writing: anyio.Event | None = None

    def keep_prompts(self, prompts: Sequence[KeptPrompt]) -> None:
        """Replace the prompts in the journal; they are written soon."""
        if list(prompts) != self._entry.prompts:
            self._keep(msgspec.structs.replace(self._entry, prompts=list(prompts)))

    def keep_options(self, options: Mapping[str, str | bool]) -> None:
        """Replace the options in the journal; they are written soon."""
        if dict(options) != self._entry.options:
            self._keep(msgspec.structs.replace(self._entry, options=dict(options)))

    def rewrite(self) -> None:
        """Write the entry again, because the file differs from it."""
        self._keep(self._entry)

    async def written(self) -> None:
        """Wait until the entry is on disk, at most `WRITE_SECONDS`."""
        with anyio.move_on_after(WRITE_SECONDS):
            while self._writing is not None and is_running(self._writing):
                await self._writing.wait()

    def _keep(self, entry: JournalEntry) -> None:
        self._entry = entry
        self._changed = True
        if self._path is not None and not is_running(self._writing):
            self._writing = self._tasks.spawn(self._write, self._path)

    async def _write(self, path: Path) -> None:
        while self._changed:
            self._changed = False
            try:
                on_disk = await anyio.to_thread.run_sync(self._put, path, self._entry)
            except OSError as error:
                on_disk = {}
                if not self._is_reported:
                    log.warning("what waits to be sent is not kept: %s: %s", path, error.strerror)
                self._is_reported = True
            self.on_disk = on_disk
            self.on_kept()

    def _put(self, path: Path, entry: JournalEntry) -> dict[int, KeptPrompt]:
        """Write the file and return the prompts in it, by their ids. Blocks. Raises `OSError`."""
        known, self._encoded, room = self._encoded, {}, JOURNAL_BYTES
        written: dict[int, str] = {}
        for prompt in entry.prompts:
            before, text = known.get(prompt.id, (None, None))
            text = text if before == prompt else _encoded(prompt)
            self._encoded[prompt.id] = (prompt, text)
            if text is not None and len(text) <= room:
                room -= len(text)
                written[prompt.id] = text
        if not written and not entry.options:
            path.unlink(missing_ok=True)
            return {}
        options = json.dumps(entry.options)
        _replace(path, f'{{"options":{options},"prompts":[{",".join(written.values())}]}}'.encode("ascii"))
        return {one.id: one for one in entry.prompts if one.id in written}


class Journal:
    """The journals of all sessions of the Neovim `instance`, one file each, in a directory below `parent`.

    An instance is named by its machine, pid and time of start; for one that is not, nothing is kept. `then` is called
    when the journals of the previous host are read; without any it is not.
    """

    def __init__(self, tasks: Tasks, parent: Path, instance: str, then: Callable[[], None]) -> None:
        self._tasks = tasks
        self._directory = parent / instance if _INSTANCE.fullmatch(instance) else None
        self._left: dict[int, JournalEntry] = {}
        self._reading: anyio.Event | None = None
        if self._directory is not None:

            def cannot_be_read(error: Exception) -> None:
                self._reading = None
                then()
                tasks.on_failure(error)

            self._reading = tasks.owned_by(cannot_be_read).spawn(self._begin, self._directory, then)

    @property
    def is_reading(self) -> bool:
        """Whether the journals of the previous host are being read; no session may begin until they are."""
        return is_running(self._reading)

    def of(self, key: int, returned: Sequence[int] = ()) -> SessionJournal:
        """Return the journal of the session `key`, without prompts `returned` to the user, given by their ids."""
        left = self._left.pop(key, JournalEntry())
        before = JournalEntry([one for one in left.prompts if one.id not in returned], left.options)
        path = self._directory / f"{key}.json" if self._directory is not None else None
        journal = SessionJournal(path, before, self._tasks)
        if before != left:
            journal.rewrite()
        return journal

    async def forget(self, key: int) -> None:
        """Remove the journal of the session `key`, which was closed."""
        self._left.pop(key, None)
        if self._directory is not None:
            path = self._directory / f"{key}.json"
            await anyio.to_thread.run_sync(lambda: path.unlink(missing_ok=True))

    def close(self) -> None:
        """Remove the directory if it is empty; files are left for the next host."""
        if self._directory is not None:
            with suppress(OSError):
                self._directory.rmdir()

    async def _begin(self, directory: Path, then: Callable[[], None]) -> None:
        self._left = await anyio.to_thread.run_sync(_read, directory)
        self._reading = None
        then()
        await anyio.to_thread.run_sync(_remove_orphans, directory)


def _encoded(prompt: KeptPrompt) -> str | None:
    """Return the prompt as JSON in ASCII, which preserves surrogates; None if it may hold a secret."""
    for item in prompt.context:
        words = (item.name, item.uri or "", item.text if isinstance(item, TextItem) else "")
        if any(masked(one) != one for one in words):
            return None
    return json.dumps(msgspec.to_builtins(prompt))


def _replace(path: Path, data: bytes) -> None:
    """Replace the file, atomically unless the machine crashes."""
    make_directory(path.parent)
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    try:
        write_new(temporary, data)
        temporary.replace(path)
    except OSError:  # sent prompts must not stay there: on a full disk less data still fits into the old file
        if not path.is_file() or len(data) > path.stat().st_size:
            raise
        with path.open("r+b") as file:
            file.write(data)
            file.truncate()


def _read(directory: Path) -> dict[int, JournalEntry]:
    found: dict[int, JournalEntry] = {}
    for path in directory.glob("*.json"):
        try:
            if path.stat().st_size <= 2 * JOURNAL_BYTES:
                found[int(path.stem)] = decoders.convert(json.loads(path.read_bytes()), JournalEntry)
        except (OSError, ValueError) as error:  # `ValueError`: also errors of msgspec and json
            log.warning("the journal %s cannot be read: %s", path, error)
    return found


def _remove_orphans(ours: Path) -> None:
    """Remove journals of Neovims that have ended, and those of other machines older than `ELSEWHERE_SECONDS`."""
    machine = ours.name.partition("-")[0]
    for directory in ours.parent.iterdir() if ours.parent.is_dir() else ():
        named = _INSTANCE.fullmatch(directory.name)
        if named is None or directory == ours:
            continue
        with suppress(FileNotFoundError):
            is_old = time.time() - directory.stat().st_mtime > ELSEWHERE_SECONDS
            if is_old if named[1] != machine else not _still_runs(int(named[2]), named[3]):
                remove_directory(directory)


def _still_runs(pid: int, start: str) -> bool:
    """Whether that process runs; `start` is its start time in `/proc/<pid>/stat`, empty if unknown."""
    if not start or not is_alive(pid):
        return is_alive(pid)
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19] == start.encode()
    return False
