"""What nobody knew who did it, judged again: some evidence comes late."""

from __future__ import annotations

from acp_nvim.limits.evidence import DOUBTS_AGAIN
from acp_nvim.review.contents import Content
from acp_nvim.review.entering import Entering
from acp_nvim.review.entry import Entry
from acp_nvim.review.evidence import Evidence
from acp_nvim.review.ledger import Ledger
from acp_nvim.workspace.open_files import OpenFiles


class Doubts:
    """An agent may tell of an edit after it made it; other Neovims, and git, note what they did a little later."""

    def __init__(self, ledger: Ledger, files: OpenFiles, evidence: Evidence, entering: Entering) -> None:
        self._ledger = ledger
        self._files = files
        self._evidence = evidence
        self._entering = entering

    def __repr__(self) -> str:
        return f"<Doubts of {self._ledger!r}>"

    async def judge_again(self) -> None:
        """With the evidence that there is now."""
        found = [(path, entry) for path, entry in self._ledger.entries.items() if entry.doubts]
        for path, entry in found[-DOUBTS_AGAIN:]:
            async with self._files.alone(path):
                if self._ledger.entries.get(path) is entry:
                    await self._judge_again(path, entry)

    def leave(self, root: str) -> None:
        """What is in doubt below that directory stays so: what could show who did it is not known any more."""
        for path in self._ledger.known_below(root):
            if path in self._ledger.entries:
                self._ledger.entries[path].doubts = []

    async def _judge_again(self, path: str, entry: Entry) -> None:
        verdicts = [await self._evidence.judge(seen) for seen in entry.doubts]
        if {verdict.by for verdict in verdicts} == {"agent"}:
            for change in self._ledger.changes(path):
                change.verdict, change.doubts = verdicts[-1], []
            self._entering.told(path, verdicts[-1])
        elif entry.is_all_doubt and {verdict.by for verdict in verdicts} == {"user"}:
            await self._ledger.look(path, entry)
            now = Content(entry.current, None if entry.text is None else entry.text.current, entry.encoding)
            for change in self._ledger.changes(path):
                change.rebase(now)
            self._ledger.tell(path)
