"""Texts on disk that do not fit into memory, for as long as this process lives."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import time
from collections import deque
from contextlib import suppress
from itertools import count
from pathlib import Path

import anyio.to_thread
import msgspec

from acp_nvim.limits import SPILL_LEFT_SECONDS
from acp_nvim.workspace.private_file import make_directory, write_new

log = logging.getLogger(__name__)

_OWN_NAME = re.compile(r"(\d+)-[0-9a-f]{16}")


class _Copy(msgspec.Struct, frozen=True):
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
        self._copies: dict[int, _Copy] = {}  # the oldest first
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
        self._copies[key] = _Copy(own / str(key), len(data), digest)
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
        """Remove all; nothing is kept from now on."""
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
    """16 bytes."""
    return hashlib.blake2b(data, digest_size=16).digest()


def _store(path: Path, data: bytes, dropped: deque[Path]) -> None:
    while dropped:
        with suppress(OSError):
            dropped.popleft().unlink()
    make_directory(path.parent.parent)
    make_directory(path.parent)
    write_new(path, data)


def _load(copy: _Copy) -> str | None:
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
        if time.time() - path.lstat().st_mtime > SPILL_LEFT_SECONDS:
            return True
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False
