"""Remembers the text of each file that the agent last saw, so that its writes can be merged with unseen edits."""

from __future__ import annotations

import hashlib
import logging
import os
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

from acp_nvim.lazy import pattern
from acp_nvim.process.group import is_alive
from acp_nvim.state.private_file import make_directory, remove_directory, write_new

SPILL_LEFT_SECONDS: Final = 14 * 24 * 3600.0
"""Age at which texts on disk are removed even if their process id is in use: ids are reused."""

log = logging.getLogger(__name__)

_OWN_NAME = pattern(r"(\d+)-[0-9a-f]{16}")

SEEN_TEXT_BYTES: Final = 4 * 1024 * 1024
"""Maximum memory for one text: sources of 1 MB, at 4 bytes a character; larger texts go to disk."""

SEEN_MEMORY_BYTES: Final = 32 * 1024 * 1024
"""Maximum memory for all texts of a session: a thousand ordinary files, far more than a turn touches."""

SEEN_DISK_BYTES: Final = 512 * 1024 * 1024
"""Maximum bytes on disk for the other texts of a session: 16 of the largest files that are served."""

SEEN_FILES: Final = 20_000
"""Maximum number of files that are remembered in a session: 8 MB for their digests and names."""


class _File(msgspec.Struct, frozen=True):
    path: Path
    size: int
    digest: bytes


class Spill:
    """Stores texts as files in a new directory `<pid>-<random>` below `directory`, up to `max_bytes`.

    A file is registered only when it is complete, and compared with its digest when it is read. So it need not be
    replaced atomically.
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
        """Remove the directories of processes that have ended."""
        if self._parent is not None:
            await anyio.to_thread.run_sync(_remove_left_overs, self._parent)

    async def put(self, data: bytes, digest: bytes) -> int | None:
        """Store an encoded text and return its key; None when it cannot be stored. Not concurrently.

        Drops the oldest texts to make room.
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
            if not self._complained:
                log.warning("large texts that agents have seen are not kept, merges with them will fail: %s", error)
            self._complained = True
            return None
        if self._own is None:  # closed meanwhile
            remove_directory(own)
            return None
        self._copies[key] = _File(own / str(key), len(data), digest)
        self._bytes += len(data)
        return key

    async def get(self, key: int | None) -> str | None:
        """Return a text; None when it is not stored any more, or was damaged."""
        copy = None if key is None else self._copies.get(key)
        if copy is None:
            return None
        text = await anyio.to_thread.run_sync(_load, copy)
        if text is None:
            self.drop(key)
        return text

    def touch(self, key: int | None) -> bool:
        """Make the text the newest one; False when it is not stored any more."""
        copy = None if key is None else self._copies.pop(key, None)
        if key is None or copy is None:
            return False
        self._copies[key] = copy
        return True

    def drop(self, key: int | None) -> None:
        """Forget a text that is not needed any more."""
        copy = None if key is None else self._copies.pop(key, None)
        if copy is not None:
            self._bytes -= copy.size
            self._dropped.append(copy.path)

    def close(self) -> None:
        """Remove all files; store nothing from now on."""
        own, self._own = self._own, None
        self._copies.clear()
        self._bytes = 0
        if own is not None:
            remove_directory(own)


def encode(text: str) -> bytes:
    """Encode as UTF-8 with lone surrogates, so that different texts have different bytes."""
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
            remove_directory(path)  # does not remove files or links


def _left_over(path: Path, pid: int) -> bool:
    """Whether the directory's process has ended. Its pid may be reused, hence the age."""
    try:
        is_old = time.time() - path.lstat().st_mtime > SPILL_LEFT_SECONDS
    except OSError:
        return False
    return is_old or not is_alive(pid)


class _Copy(msgspec.Struct, frozen=True):
    """A text outside of memory: `key` is the spill's, or None when it is not stored."""

    digest: bytes
    key: int | None


class _SeenText(msgspec.Struct, eq=False):
    """A text that the agent saw, in memory or as `copy`.

    With a text in memory, `copy` is an earlier text of the same length that was spilled for this file.
    """

    text: str | None
    length: int
    size: int
    copy: _Copy | None
    dropped: bool = False

    def in_memory(self) -> bool:
        """Whether the text is still needed, and in memory. May change at each `await`."""
        return self.text is not None and not self.dropped


class LastSeen:
    """The texts of one session, by real path.

    Keeps up to `memory_bytes` in memory, none above `text_bytes`, and `disk_bytes` in `directory`, if there is one; of
    other texts only the digest, and nothing beyond `files` files. The least recently used are dropped first.
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
        self._texts: dict[str, _SeenText] = {}  # the least recently used first
        self._in_memory = 0
        self._spill = Spill(directory, disk_bytes)
        self._spilling = anyio.Lock()
        self._swept = False

    def __repr__(self) -> str:
        return f"<LastSeen {len(self._texts)} files, {self._in_memory} bytes in memory, {self._spill!r}>"

    async def remember(self, path: str, text: str) -> None:
        """Record that the agent knows `text` to be in `path`: it read or wrote it.

        Takes effect at once; only making room in memory is awaited. Of two calls, the one that began later wins.
        """
        old = self._texts.pop(path, None)
        if old is not None and old.text == text:
            self._texts[path] = old
            return
        seen = _SeenText(text, len(text), sys.getsizeof(text), self._inherited(old, len(text)))
        self._texts[path] = seen
        self._in_memory += seen.size
        while len(self._texts) > self._files:
            self.forget(next(iter(self._texts)))
        if not self._swept:
            self._swept = True
            await self._spill.remove_left_overs()
        await self._make_room(seen)

    def knows(self, path: str, text: str) -> bool:
        """Whether `text` is what the agent last saw there."""
        seen = self._texts.get(path)
        if seen is None or seen.length != len(text):
            return False
        if seen.text is not None:
            return seen.text == text
        return seen.copy is not None and seen.copy.digest == digest(encode(text))

    def has(self, path: str) -> bool:
        """Whether the agent saw anything of that file, even if the text is no longer kept."""
        return path in self._texts

    async def text(self, path: str) -> str | None:
        """Return the text that the agent last saw; None when it saw none, or the text is no longer kept."""
        while (seen := self._texts.pop(path, None)) is not None:
            self._texts[path] = seen
            if seen.text is not None or seen.copy is None:
                return seen.text
            text = await self._spill.get(seen.copy.key)
            if self._texts.get(path) is seen:  # else it was replaced meanwhile
                return text
        return None

    def forget(self, path: str) -> None:
        """Forget the file, as if the agent had never seen it."""
        seen = self._texts.pop(path, None)
        if seen is not None:
            self._drop(seen)

    def moved(self, old: str, new: str) -> None:
        """Record that the file `old` was renamed to `new`, and replaced what was there."""
        seen = self._texts.pop(old, None)
        self.forget(new)
        if seen is not None:
            self._texts[new] = seen

    def clear(self) -> None:
        """Forget all files, as if the agent had seen none."""
        for path in list(self._texts):
            self.forget(path)

    def close(self) -> None:
        """Forget all files and remove them from disk; store nothing there from now on."""
        self.clear()
        self._spill.close()

    def _inherited(self, old: _SeenText | None, length: int) -> _Copy | None:
        """Return the spilled copy of the old text, if a text of `length` characters may equal it."""
        if old is None:
            return None
        copy = None
        if old.length == length:
            copy, old.copy = old.copy, None
        self._drop(old)
        return copy

    def _drop(self, seen: _SeenText) -> None:
        seen.dropped = True
        if seen.text is not None:
            self._in_memory -= seen.size
        if seen.copy is not None:
            self._spill.drop(seen.copy.key)

    async def _make_room(self, newest: _SeenText) -> None:
        if newest.size <= self._text_bytes and self._in_memory <= self._memory_bytes:
            return
        async with self._spilling:
            if newest.size > self._text_bytes:
                await self._put_away(newest)
            while self._in_memory > self._memory_bytes:
                await self._put_away(next(seen for seen in self._texts.values() if seen.text is not None))

    async def _put_away(self, seen: _SeenText) -> None:
        """Move a text out of memory, unless it has been replaced."""
        text = seen.text
        if text is None or not seen.in_memory():
            return
        data, its_digest = await anyio.to_thread.run_sync(_digested, text)
        if not seen.in_memory():
            return
        copy, seen.copy = seen.copy, None
        if copy is None or copy.digest != its_digest or not self._spill.touch(copy.key):
            if copy is not None:
                self._spill.drop(copy.key)
            copy = _Copy(its_digest, await self._spill.put(data, its_digest))
        if not seen.in_memory():
            self._spill.drop(copy.key)
            return
        seen.text, seen.copy = None, copy
        self._in_memory -= seen.size


def _digested(text: str) -> tuple[bytes, bytes]:
    data = encode(text)
    return data, digest(data)
