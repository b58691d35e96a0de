"""Files that go by another name."""

from __future__ import annotations

from acp_nvim.review.accounting import Accounting
from acp_nvim.review.contents import ABSENT, Content
from acp_nvim.review.disk import Disk
from acp_nvim.review.entering import Entering
from acp_nvim.review.entry import Entry
from acp_nvim.review.evidence import Evidence
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.turn_log import NOBODY


class Renames:
    """Enters them into the ledger; its method is called in `OpenFiles.alone` of the new name."""

    def __init__(
        self, ledger: Ledger, disk: Disk, evidence: Evidence, entering: Entering, accounting: Accounting
    ) -> None:
        self._ledger = ledger
        self._disk = disk
        self._evidence = evidence
        self._entering = entering
        self._accounting = accounting

    def __repr__(self) -> str:
        return f"<Renames in {self._ledger!r}>"

    async def moved(self, path: str, new: str, before: Content | None = None) -> None:
        """The file goes by another name; it was `before` then, if it has changed as well."""
        entry = self._ledger.entries.get(path)
        if self._ledger.is_taken(new, path):
            await self._accounting.account(path, ABSENT)
            await self._accounting.account(new, await self._disk.content(new))
            return
        now = await self._ledger.with_text(new, Content(await self._disk.blob(new)), None)
        seen = await self._entering.seen(new, ABSENT, now)
        verdict = await self._evidence.judge(seen)
        turns = [] if verdict.by == "user" else self._ledger.of(verdict.sessions)
        if entry is None and not turns:
            return
        before = now if before is None else await self._ledger.with_text(path, before, None)
        for turn in turns:
            turn.move(path, new, before, now, verdict)
        if entry is None:
            entry = Entry(new, before, path)
        elif turns and entry.operation != "add":
            entry.old_path = entry.old_path or path
        self._ledger.forget(path, goes_on=True)
        self._ledger.accounted[path] = None
        self._ledger.entries[new] = entry
        entry.path, entry.on_disk = new, now.blob
        entry.old_path = None if entry.old_path == new else entry.old_path
        entry.sessions |= {turn.session for turn in turns if turn.session > NOBODY}
        await self._ledger.look(new, entry)
        if turns:
            entry.blame(verdict, seen)
            entry.agent(now)
        else:
            entry.user(now)
        self._entering.told(new, verdict)
