"""What is to be done to one file so that what agents did to it is undone, and nothing that the user did."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio.to_thread
import msgspec

from acp_nvim.review.change import InReview, KeptChange
from acp_nvim.review.contents import ABSENT, NOT_STORED, Content, is_stored, look_at
from acp_nvim.review.ledger import Ledger
from acp_nvim.workspace.conflicts import Conflict
from acp_nvim.workspace.merge import merge
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError


class Step(msgspec.Struct, frozen=True):
    """What is to be done to one file: `was` becomes `wanted`, unless there is a `conflict`, and why in words.

    `review` says whose review of it begins again, where a rejection has ended that.
    """

    path: str
    was: Content
    wanted: Content
    conflict: Conflict | None = None
    why: str | None = None
    review: InReview | None = None


class Undoing:
    """Finds it out; `look_at` brings what is known of a file up to what it is."""

    def __init__(self, ledger: Ledger, files: OpenFiles, look_at: Callable[[str], Awaitable[None]]) -> None:
        self._ledger = ledger
        self._files = files
        self._look_at = look_at

    def __repr__(self) -> str:
        return f"<Undoing {self._ledger!r}>"

    async def step(self, path: str, records: Sequence[KeptChange]) -> Step | None:
        """What is to be done to the file as it is now, records the newest first; None: nothing."""
        await self._look_at(path)
        was = await self._now(path)
        now, review = was, None
        for record in records:
            before = await self._ledger.contents(path).look(path, record.before, was.encoding)
            after = await self._ledger.contents(path).look(path, record.after, was.encoding)
            if _same(now, after):
                _check_stored(path, before)
                now, review = before, record.review
            elif not _same(now, before):
                _check_stored(path, before)
                merged = await self._merged(path, now, before, after)
                if isinstance(merged, Step):
                    return msgspec.structs.replace(merged, was=was)
                now, review = merged, record.review
        return None if _same(was, now) and _mode(was) == _mode(now) else Step(path, was, now, review=review)

    async def _merged(self, path: str, now: Content, before: Content, after: Content) -> Content | Step:
        """The file without what the agent did to it; or a conflict."""
        conflict = Conflict(path, after.words, before.words, by="restore")
        if now.blob is None:
            return Step(path, now, before, conflict, "deleted since")
        if before.blob is None or after.blob is None:
            return Step(
                path, now, before, conflict, "made anew, and changed since" if before.blob is None else "there again"
            )
        if now.text is None or before.text is None or after.text is None:
            return Step(path, now, before, conflict, "no text, and changed since")
        merged = await merge(after.text, now.text, before.text)
        if merged.text is None:
            return Step(path, now, before, conflict, merged.why)
        mode = before.blob.mode if now.blob.mode == after.blob.mode else now.blob.mode
        return self._ledger.contents(path).put_text(path, merged.text, now.encoding, mode)

    async def _now(self, path: str) -> Content:
        """The file as its buffer has it, else as it is on disk."""
        try:
            buffer = await self._files.read(path)
        except FileRefusedError:
            buffer = None
        found = await anyio.to_thread.run_sync(look_at, path)
        if found is None:
            return ABSENT
        contents = self._ledger.contents(path)
        if buffer is not None:
            return contents.put_text(path, buffer.text, buffer.encoding, found.blob.mode)
        if found.data is not None:
            contents.put(path, found.data, found.blob.mode)
        return await self._ledger.with_text(path, Content(found.blob), None)


def _check_stored(path: str, before: Content) -> None:
    if before.blob is not None and not is_stored(before.blob):
        raise FileRefusedError(f"{path} was left as it is: what it had before was {NOT_STORED}.")


def _same(one: Content, other: Content) -> bool:
    if one.blob is None or other.blob is None:
        return one.blob is other.blob
    if one.text is not None and other.text is not None:
        return one.text == other.text
    return one.blob.oid == other.blob.oid


def _mode(content: Content) -> int | None:
    return None if content.blob is None else content.blob.mode
