"""What the agent of one session changes in a turn: the record from which a checkpoint is made."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from acp_nvim.review.change import Change, KeptChange
from acp_nvim.review.contents import ABSENT, Content, Contents
from acp_nvim.review.evidence import Verdict
from acp_nvim.review.keeping import kept
from acp_nvim.review.reviewed_text import ReviewedText
from acp_nvim.snapshots.snapshot import Snapshot
from acp_nvim.workspace.roots import Roots

NOBODY = 0
"""Sessions of turns whose host is gone have this number, or one below it."""


class TurnLog:
    """Of one session; while it is `active`, what happens on disk below `roots` is its agent's doing."""

    def __init__(self, session: int, agent: str, roots: Roots) -> None:
        self.session = session
        self.agent = agent
        self.roots = roots
        self.active = False
        self.prompt = ""
        self.began: dict[str, Snapshot] = {}
        """What there was when the turn began, by directory."""
        self.changes: dict[str, Change] = {}

    def __repr__(self) -> str:
        return f"<TurnLog of {self.session}: {len(self.changes)} files{', active' if self.active else ''}>"

    def change(self, path: str, before: Content) -> Change:
        """That of a file, which begins with `before` when it is the first."""
        return self.changes.setdefault(path, Change(path, before))

    def move(self, path: str, new: str, before: Content, now: Content, verdict: Verdict) -> None:
        """The file got another name: to go back, there is one to be made and one to be removed."""
        made = self.changes.get(path)
        if made is not None and made.base is None:
            made.path = new
            self.changes[new] = self.changes.pop(path)
        else:
            away = self.change(path, before)
            away.blame(verdict)
            away.agent(ABSENT)
            self.change(new, ABSENT)
        self.changes[new].blame(verdict)
        if made is None or made.base is not None:
            self.changes[new].old_path = path
        self.changes[new].agent(now)

    def counts(self, change: Change) -> tuple[int, int]:
        """Lines added and removed; a renamed file is compared with what it was under its old name."""
        old = None if change.old_path is None else self.changes.get(change.old_path)
        if old is None or old.text is None or change.text is None:
            return change.added, change.removed
        text = ReviewedText(old.text.base, change.text.current)
        return text.added, text.removed

    def take(self, contents: Callable[[str], Contents]) -> list[KeptChange]:
        """All changes, in the order of their paths; the next turn begins without any."""
        done = [self.changes[path] for path in sorted(self.changes)]
        taken = [self._kept(change, contents(change.path)) for change in done if change.operation is not None]
        self.changes = {}
        return taken

    def _kept(self, change: Change, contents: Contents) -> KeptChange:
        added, removed = self.counts(change)
        return msgspec.structs.replace(kept(change, contents), added=added, removed=removed)
