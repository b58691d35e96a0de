"""What the agent last saw of each file: a write never overrules an edit that it does not know of, and can be merged."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import sys
import time
from collections import deque
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.process.group import is_alive
from acp_nvim.workspace.private_file import make_directory, write_new

SPILL_LEFT_SECONDS: Final = 14 * 24 * 3600.0
"""Age at which texts on disk are removed although something runs as their process: pids come again."""

log = logging.getLogger(__name__)

_OWN_NAME = re.compile(r"(\d+)-[0-9a-f]{16}")

SEEN_TEXT_BYTES: Final = 4 * 1024 * 1024
"""Memory for one text that an agent has seen: sources of 1 MB, at 4 bytes a character; larger texts go to disk."""

SEEN_MEMORY_BYTES: Final = 32 * 1024 * 1024
"""Memory for all such texts of a session: a thousand ordinary files, far more than a turn touches."""

SEEN_DISK_BYTES: Final = 512 * 1024 * 1024
"""Room on disk for those of a session that are not in memory: 16 of the largest files that are served."""

SEEN_FILES: Final = 20_000
"""Files of a session of which anything is known: 8 MB for their digests and names."""


class _File(msgspec.Struct, frozen=True):
    path: Path
    size: int
    digest: bytes


class Spill:
    """A directory `<pid>-<random>` of its own below `directory`, which others may share; up to `max_bytes` of files.

    The files need no safe replacing: each is written once, is known only when it is whole, and is compared with its
    digest when it is read.
    """

    def __init__(self, directory: Path | None, max_bytes: int) -> None:
        self._parent = directory
        self._own = None if directory is None else directory / f"{os.getpid()}-{os.urandom(8).hex()}"
        self._max_bytes = max_bytes
        self._bytes = 0
        self._copies: dict[int, _File] = {}  # the oldest first
        self._dropped: deque[Path] = deque()  # to be removed before the next one is written
        self._keys = count(1)
        self._complained = False

    def __repr__(self) -> str:
        return f"<Spill {len(self._copies)} texts, {self._bytes} bytes>"

    async def remove_left_overs(self) -> None:
        """Remove the directories of processes that are gone."""
        if self._parent is not None:
            await anyio.to_thread.run_sync(_remove_left_overs, self._parent)

    async def put(self, data: bytes, digest: bytes) -> int | None:
        """Keep an encoded text; returns its key, or None when it cannot be kept. One at a time.

        The oldest texts make room.
        """
        own = self._own
        if own is None or len(data) > self._max_bytes:
            return None
        while self._bytes + len(data) > self._max_bytes:
            self.drop(next(iter(self._copies)))
        key = next(self._keys)
        try:
            await anyio.to_thread.run_sync(_store, own / str(key), data, self._dropped)
        except OSError as error:
            self._complain(error)
            return None
        if self._own is None:  # closed meanwhile
            shutil.rmtree(own, ignore_errors=True)
            return None
        self._copies[key] = _File(own / str(key), len(data), digest)
        self._bytes += len(data)
        return key

    async def get(self, key: int | None) -> str | None:
        """The text; None when it is not kept any more, or somebody damaged it."""
        copy = None if key is None else self._copies.get(key)
        if copy is None:
            return None
        text = await anyio.to_thread.run_sync(_load, copy)
        if text is None:
            self.drop(key)
        return text

    def touch(self, key: int | None) -> bool:
        """Count the text as a new one; False when it is not kept any more."""
        copy = None if key is None else self._copies.pop(key, None)
        if key is None or copy is None:
            return False
        self._copies[key] = copy
        return True

    def drop(self, key: int | None) -> None:
        """The text is not needed any more."""
        copy = None if key is None else self._copies.pop(key, None)
        if copy is not None:
            self._bytes -= copy.size
            self._dropped.append(copy.path)

    def close(self) -> None:
        """Remove all files; nothing is kept from now on."""
        own, self._own = self._own, None
        self._copies.clear()
        self._bytes = 0
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)

    def _complain(self, error: OSError) -> None:
        if not self._complained:
            log.warning("large texts that agents have seen are not kept, merges with them will fail: %s", error)
        self._complained = True


def encode(text: str) -> bytes:
    """UTF-8, and as much for half characters, so that each text has bytes of its own."""
    return text.encode("utf-8", "surrogatepass")


def digest(data: bytes) -> bytes:
    """Return the BLAKE2b digest of `data`, 16 bytes long."""
    return hashlib.blake2b(data, digest_size=16).digest()


def _store(path: Path, data: bytes, dropped: deque[Path]) -> None:
    while dropped:
        with suppress(OSError):
            dropped.popleft().unlink()
    make_directory(path.parent.parent)
    make_directory(path.parent)
    write_new(path, data)


def _load(copy: _File) -> str | None:
    try:
        if copy.path.stat().st_size != copy.size:
            return None
        data = copy.path.read_bytes()
    except OSError:
        return None
    return data.decode("utf-8", "surrogatepass") if digest(data) == copy.digest else None


def _remove_left_overs(parent: Path) -> None:
    try:
        found = list(parent.iterdir())
    except OSError:
        return
    for path in found:
        match = _OWN_NAME.fullmatch(path.name)
        if match is not None and _left_over(path, int(match[1])):
            shutil.rmtree(path, ignore_errors=True)  # which leaves files and links alone


def _left_over(path: Path, pid: int) -> bool:
    """Whether the process that made the directory is gone. Another may have its pid by now, hence the age."""
    try:
        is_old = time.time() - path.lstat().st_mtime > SPILL_LEFT_SECONDS
    except OSError:
        return False
    return is_old or not is_alive(pid)


class _Copy(msgspec.Struct, frozen=True):
    """A text outside of memory: `key` is the spill's, None when it is not kept at all."""

    digest: bytes
    key: int | None


class _Sight(msgspec.Struct, eq=False):
    """A text that the agent saw, in memory or as `copy`.

    With a text in memory, `copy` is what was spilled for this file before: a text of the same length, perhaps the same.
    """

    text: str | None
    length: int
    size: int
    copy: _Copy | None
    dropped: bool = False

    def in_memory(self) -> bool:
        """Whether it is still wanted, and takes memory. May change at each `await`."""
        return self.text is not None and not self.dropped


class LastSeen:
    """The texts of one session, by real path.

    `memory_bytes` of them are in memory, none above `text_bytes`; `disk_bytes` more in `directory`, if there is one;
    of the rest only the digest is known, of more than `files` files nothing. Who was used last stays longest.
    """

    def __init__(
        self,
        directory: Path | None,
        *,
        text_bytes: int = SEEN_TEXT_BYTES,
        memory_bytes: int = SEEN_MEMORY_BYTES,
        disk_bytes: int = SEEN_DISK_BYTES,
        files: int = SEEN_FILES,
    ) -> None:
        self._text_bytes = text_bytes
        self._memory_bytes = memory_bytes
        self._files = files
        self._sights: dict[str, _Sight] = {}  # the least recently used first
        self._in_memory = 0
        self._spill = Spill(directory, disk_bytes)
        self._spilling = anyio.Lock()
        self._swept = False

    def __repr__(self) -> str:
        return f"<LastSeen {len(self._sights)} files, {self._in_memory} bytes in memory, {self._spill!r}>"

    async def remember(self, path: str, text: str) -> None:
        """The agent has read `text` in `path`, put it there, or will be told that it is there.

        It counts at once; what is awaited is room in memory. Of two calls the one that began later counts.
        """
        old = self._sights.pop(path, None)
        if old is not None and old.text == text:
            self._sights[path] = old
            return
        sight = _Sight(text, len(text), sys.getsizeof(text), self._inherited(old, len(text)))
        self._sights[path] = sight
        self._in_memory += sight.size
        while len(self._sights) > self._files:
            self.forget(next(iter(self._sights)))
        if not self._swept:
            self._swept = True
            await self._spill.remove_left_overs()
        await self._make_room(sight)

    def knows(self, path: str, text: str) -> bool:
        """Whether `text` is what the agent last saw there."""
        sight = self._sights.get(path)
        if sight is None or sight.length != len(text):
            return False
        if sight.text is not None:
            return sight.text == text
        return sight.copy is not None and sight.copy.digest == digest(encode(text))

    def has(self, path: str) -> bool:
        """Whether the agent saw anything of that file, even if the text is no longer kept."""
        return path in self._sights

    async def text(self, path: str) -> str | None:
        """The text of that file that the agent last saw; None when it saw nothing, or the text is no longer kept."""
        while (sight := self._sights.pop(path, None)) is not None:
            self._sights[path] = sight
            if sight.text is not None or sight.copy is None:
                return sight.text
            text = await self._spill.get(sight.copy.key)
            if self._sights.get(path) is sight:  # else it has seen another one meanwhile
                return text
        return None

    def forget(self, path: str) -> None:
        """As if the agent had never seen the file."""
        sight = self._sights.pop(path, None)
        if sight is not None:
            self._drop(sight)

    def moved(self, old: str, new: str) -> None:
        """The file `old` is now `new`; what was there is gone."""
        sight = self._sights.pop(old, None)
        self.forget(new)
        if sight is not None:
            self._sights[new] = sight

    def clear(self) -> None:
        """Forget all: the agent has seen nothing."""
        for path in list(self._sights):
            self.forget(path)

    def close(self) -> None:
        """Forget all, and remove what is on disk; nothing is kept there from now on."""
        self.clear()
        self._spill.close()

    def _inherited(self, old: _Sight | None, length: int) -> _Copy | None:
        """The spilled copy of the file's text, if a text of `length` characters may be the same."""
        if old is None:
            return None
        copy = None
        if old.length == length:
            copy, old.copy = old.copy, None
        self._drop(old)
        return copy

    def _drop(self, sight: _Sight) -> None:
        sight.dropped = True
        if sight.text is not None:
            self._in_memory -= sight.size
        if sight.copy is not None:
            self._spill.drop(sight.copy.key)

    async def _make_room(self, newest: _Sight) -> None:
        if newest.size <= self._text_bytes and self._in_memory <= self._memory_bytes:
            return
        async with self._spilling:
            if newest.size > self._text_bytes:
                await self._put_away(newest)
            while self._in_memory > self._memory_bytes:
                await self._put_away(next(sight for sight in self._sights.values() if sight.text is not None))

    async def _put_away(self, sight: _Sight) -> None:
        """Take a text out of memory, unless another has taken its place."""
        text = sight.text
        if text is None or not sight.in_memory():
            return
        data, its_digest = await anyio.to_thread.run_sync(_digested, text)
        if not sight.in_memory():
            return
        copy, sight.copy = sight.copy, None
        if copy is None or copy.digest != its_digest or not self._spill.touch(copy.key):
            if copy is not None:
                self._spill.drop(copy.key)
            copy = _Copy(its_digest, await self._spill.put(data, its_digest))
        if not sight.in_memory():
            self._spill.drop(copy.key)
            return
        sight.text, sight.copy = None, copy
        self._in_memory -= sight.size


def _digested(text: str) -> tuple[bytes, bytes]:
    data = encode(text)
    return data, digest(data)
