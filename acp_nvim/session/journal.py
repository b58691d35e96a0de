"""Keeps on disk what sessions would lose if this host died: prompts that were not sent, and options that were set."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.session.prompt import ContextItem, TextItem
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.traffic.masking import masked
from acp_nvim.workspace.private_file import make_directory, write_new

JOURNAL_BYTES: Final = 16 * 1024 * 1024
"""Of one session's journal: room for two images as large as agents take them. What is more stays with Lua."""
WRITE_SECONDS: Final = 1.0
"""A prompt waits for a disk that does not answer; then it is sent all the same."""
ELSEWHERE_SECONDS: Final = 30 * 24 * 3600.0
"""Age at which a journal of another machine is taken for one that nobody needs: its Neovim cannot be asked for."""

OptionValues: TypeAlias = dict[str, str | bool]
"""What options were set to, by their ids."""

_INSTANCE = re.compile(r"(\w+)-(\d+)-(\d*)")

log = logging.getLogger(__name__)


class KeptPrompt(msgspec.Struct, frozen=True):
    """A prompt that was not sent, with what comes along."""

    id: int
    text: str
    context: list[ContextItem] = []


class JournalEntry(msgspec.Struct, omit_defaults=True):
    """What is kept of a session: its prompts in their order, and the options that the user has set."""

    prompts: list[KeptPrompt] = []
    options: OptionValues = {}


class SessionJournal:
    """The journal of one session, the file `path`; None: nothing is kept.

    `before` is what the host before this one has left. `on_kept` is called when other prompts are on disk than before.
    """

    def __init__(self, path: Path | None, before: JournalEntry, tasks: Tasks) -> None:
        self.before = before
        self.on_kept: Callable[[], None] = lambda: None
        self.on_disk: Mapping[int, KeptPrompt] = {one.id: one for one in before.prompts}
        self._path = path
        self._tasks = tasks
        self._entry = before
        self._encoded: dict[int, tuple[KeptPrompt, str | None]] = {}  # None: it must not be on disk
        self._changed = False
        self._is_reported = False
        self._writing: anyio.Event | None = None

    def __repr__(self) -> str:
        return f"<SessionJournal {len(self._entry.prompts)} prompts{' to be written' if self._changed else ''}>"

    def keep_prompts(self, prompts: Sequence[KeptPrompt]) -> None:
        """Make these the prompts that are kept; they are written soon."""
        if list(prompts) != self._entry.prompts:
            self._keep(msgspec.structs.replace(self._entry, prompts=list(prompts)))

    def keep_options(self, options: Mapping[str, str | bool]) -> None:
        """Make these the options that are kept; they are written soon."""
        if dict(options) != self._entry.options:
            self._keep(msgspec.structs.replace(self._entry, options=dict(options)))

    def rewrite(self) -> None:
        """Write everything again: the file has other prompts."""
        self._keep(self._entry)

    async def written(self) -> None:
        """Wait until everything is on disk, at most `WRITE_SECONDS`."""
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
        """Write the file; return the prompts that are in it, by their ids. Blocks. Raises `OSError`."""
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
    """The journals of all sessions of this Neovim: one directory, with a file for each session that has one.

    Until `begin` nothing is kept.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._directory: Path | None = None
        self._left: dict[int, JournalEntry] = {}
        self._reading: anyio.Event | None = None

    def __repr__(self) -> str:
        return f"<Journal in {self._directory}>"

    @property
    def is_reading(self) -> bool:
        """Whether what the host before has left is not known yet: no session may begin until it is."""
        return is_running(self._reading)

    def begin(self, parent: Path, instance: str, then: Callable[[], None]) -> None:
        """Keep journals below `parent`, for the Neovim `instance`: its machine, pid and time of start.

        `then` is called when the journals that an earlier host of this Neovim has left are known.
        """
        if self._directory is None and _INSTANCE.fullmatch(instance):
            self._directory = parent / instance

            def cannot_be_read(error: Exception) -> None:
                self._reading = None
                then()
                self._tasks.on_failure(error)

            self._reading = self._tasks.owned_by(cannot_be_read).spawn(self._begin, self._directory, then)

    def of(self, key: int, returned: Sequence[int] = ()) -> SessionJournal:
        """The journal of the session `key`; `returned` are the ids of prompts that the user has got back already."""
        left = self._left.pop(key, JournalEntry())
        before = JournalEntry([one for one in left.prompts if one.id not in returned], left.options)
        path = self._directory / f"{key}.json" if self._directory is not None else None
        journal = SessionJournal(path, before, self._tasks)
        if before != left:
            journal.rewrite()
        return journal

    async def forget(self, key: int) -> None:
        """Remove the journal of a session that is closed for good."""
        self._left.pop(key, None)
        if self._directory is not None:
            path = self._directory / f"{key}.json"
            await anyio.to_thread.run_sync(lambda: path.unlink(missing_ok=True))

    def close(self) -> None:
        """This host ends. What is left is for the next one, or nobody's when Neovim ends, too: it has its drafts."""
        if self._directory is not None:
            with suppress(OSError):
                self._directory.rmdir()

    async def _begin(self, directory: Path, then: Callable[[], None]) -> None:
        self._left = await anyio.to_thread.run_sync(_read, directory)
        self._reading = None
        then()
        await anyio.to_thread.run_sync(_remove_orphans, directory)


def _encoded(prompt: KeptPrompt) -> str | None:
    """As JSON in ASCII, which also keeps bytes that are no text; None if it may hold a secret."""
    for item in prompt.context:
        words = (item.name, item.uri or "", item.text if isinstance(item, TextItem) else "")
        if any(masked(one) != one for one in words):
            return None
    return json.dumps(msgspec.to_builtins(prompt))


def _replace(path: Path, data: bytes) -> None:
    """The death of this process leaves the old content or the new one; that of the machine may leave none."""
    make_directory(path.parent)
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    try:
        write_new(temporary, data)
        temporary.replace(path)
    except OSError:  # what was sent must not stay there: less than there is fits also on a full disk
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
                found[int(path.stem)] = msgspec.convert(json.loads(path.read_bytes()), JournalEntry)
        except (OSError, ValueError) as error:  # msgspec's and json's errors are values, too
            log.warning("the journal %s cannot be read: %s", path, error)
    return found


def _remove_orphans(ours: Path) -> None:
    """Remove the journals of Neovims that are gone; on other machines, those that are `ELSEWHERE_SECONDS` old."""
    machine = ours.name.partition("-")[0]
    for directory in ours.parent.iterdir() if ours.parent.is_dir() else ():
        named = _INSTANCE.fullmatch(directory.name)
        if named is None or directory == ours:
            continue
        with suppress(FileNotFoundError):
            is_old = time.time() - directory.stat().st_mtime > ELSEWHERE_SECONDS
            if is_old if named[1] != machine else not _is_alive(int(named[2]), named[3]):
                shutil.rmtree(directory, ignore_errors=True)


def _is_alive(pid: int, start: str) -> bool:
    """Whether that process runs; `start` is its time of start as Linux has it, empty where nobody knows."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    if not start:
        return True
    with suppress(OSError, IndexError):
        fields: list[Any] = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return bool(fields[19] == start.encode())
    return False
