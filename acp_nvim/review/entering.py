"""Enters into the ledger what became of files on disk, as the evidence says by whom."""

from __future__ import annotations

from collections.abc import Callable

import anyio.to_thread
import msgspec

from acp_nvim.events import Operation
from acp_nvim.review.contents import Content
from acp_nvim.review.evidence import Evidence, Seen, Verdict, looked_at
from acp_nvim.review.file_on_disk import look_at
from acp_nvim.review.ledger import Ledger
from acp_nvim.workspace.disk import DiskText


class Entering:
    """`since` gives the time of the last look at the directory that a path is in (nanoseconds since 1970)."""

    def __init__(self, ledger: Ledger, evidence: Evidence, since: Callable[[str], int]) -> None:
        self._ledger = ledger
        self._evidence = evidence
        self._since = since

    def __repr__(self) -> str:
        return f"<Entering {self._ledger!r}>"

    async def became(self, path: str, before: Content, after: Content, on_disk: Content | None = None) -> None:
        """It is entered, and told."""
        self.told(path, await self.enter(path, before, after, on_disk))

    async def enter(
        self,
        path: str,
        before: Content,
        after: Content,
        on_disk: Content | None = None,
        replaced: DiskText | None = None,
    ) -> Verdict:
        """It is entered; returns who did it, to be told.

        `on_disk` is what the file is, where that is not `after`: a buffer has the user's own changes, too. `replaced`:
        `after` is not on the disk any more, and was that file there.
        """
        seen = await self.seen(path, before, on_disk or after)
        if replaced is not None:
            seen = msgspec.structs.replace(seen, changed=replaced.changed, size=replaced.size, is_past=False)
        verdict = await self._evidence.judge(seen)
        if verdict.by == "user":
            await self._ledger.user(path, after)
            self._ledger.announce_user(path, verdict.why, _operation(before, after))
        else:
            await self._ledger.agent(verdict, path, before, after, seen)
        if not seen.is_past:
            self._evidence.accounted(path, seen.changed)
        return verdict

    async def seen(self, path: str, before: Content, after: Content) -> Seen:
        """What there is to be judged: the file as it is now, which is `after`."""
        changed, size = await anyio.to_thread.run_sync(looked_at, path)
        text = after.text
        if text is None and self._evidence.shows(path):
            text = (await self._ledger.with_text(path, after, None)).text
        return Seen(
            path,
            changed,
            size,
            None if before.blob is None else before.blob.oid,
            None if after.blob is None else after.blob.oid,
            self._since(path),
            text,
            self._evidence.heard(path),
            await self.is_past(path, after),
        )

    async def is_past(self, path: str, content: Content) -> bool:
        """Whether that is not what the file is, or not any more."""
        return await anyio.to_thread.run_sync(_is_other, path, content)

    def told(self, path: str, verdict: Verdict) -> None:
        """The editor hears of it."""
        self._ledger.tell(path)
        self._ledger.announce(path, self._ledger.of(verdict.sessions))


def _is_other(path: str, content: Content) -> bool:
    """Blocks."""
    found = look_at(path)
    if found is None or content.blob is None:
        return (found is None) != (content.blob is None)
    return found.blob.oid != content.blob.oid


def _operation(before: Content, after: Content) -> Operation:
    if before.blob is None or after.blob is None:
        return "add" if before.blob is None else "delete"
    return "modify"
