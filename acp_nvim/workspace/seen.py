"""What the agent last saw of each file, so that a write never overrules an edit that it does not know of."""

from __future__ import annotations

import hashlib

import msgspec


class Sight(msgspec.Struct, frozen=True):
    """A text, by its digest, and the state of the buffer that it came from."""

    digest: bytes
    tick: int


class SeenTexts:
    """Per real path; a digest is 16 bytes, so nothing here grows with the files."""

    def __init__(self) -> None:
        self._sights: dict[str, Sight] = {}

    def __repr__(self) -> str:
        return f"<SeenTexts {len(self._sights)} files>"

    def remember(self, path: str, text: str, tick: int) -> None:
        """The agent has read `text` in `path`, or put it there."""
        self._sights[path] = Sight(_digest(text), tick)

    def tick(self, path: str) -> int | None:
        """The state of the buffer that the agent knows, if it knows any."""
        sight = self._sights.get(path)
        return None if sight is None else sight.tick

    def knows(self, path: str, text: str) -> bool:
        """Whether `text` is what the agent last saw there."""
        sight = self._sights.get(path)
        return sight is not None and sight.digest == _digest(text)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
