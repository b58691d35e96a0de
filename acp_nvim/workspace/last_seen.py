"""What the agent last saw of each file: a write never overrules an edit that it does not know of, and can be merged."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.limits import SEEN_DISK_BYTES, SEEN_FILES, SEEN_MEMORY_BYTES, SEEN_TEXT_BYTES
from acp_nvim.workspace.spill import Spill, digest, encode


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
        """Whether it saw anything there, even if the text is no longer kept."""
        return path in self._sights

    async def text(self, path: str) -> str | None:
        """What the agent last saw there; None when it saw nothing, or that is no longer kept."""
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
        """What is spilled of the file, if a text of `length` may be the same."""
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
