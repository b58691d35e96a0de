"""What the agent of one session changes in a turn: the record from which a checkpoint is made."""

from __future__ import annotations

from acp_nvim.review.change import Change
from acp_nvim.review.contents import ABSENT, Content
from acp_nvim.workspace.roots import Roots


class TurnLog:
    """Of one session; while it is `active`, what happens on disk below `roots` is its agent's doing."""

    def __init__(self, session: int, agent: str, roots: Roots) -> None:
        self.session = session
        self.agent = agent
        self.roots = roots
        self.active = False
        self.changes: dict[str, Change] = {}

    def __repr__(self) -> str:
        return f"<TurnLog of {self.session}: {len(self.changes)} files{', active' if self.active else ''}>"

    def change(self, path: str, before: Content) -> Change:
        """That of a file, which begins with `before` when it is the first."""
        return self.changes.setdefault(path, Change(path, before))

    def move(self, path: str, new: str, before: Content, now: Content) -> None:
        """The file got another name: to go back, there is one to be made and one to be removed."""
        made = self.changes.get(path)
        if made is not None and made.base is None:
            made.path = new
            self.changes[new] = self.changes.pop(path)
        else:
            self.change(path, before).agent(ABSENT)
            self.change(new, ABSENT).old_path = path
        self.changes[new].agent(now)

    def take(self) -> list[Change]:
        """All changes, in the order of their paths; the next turn begins without any."""
        taken, self.changes = self.changes, {}
        return [taken[path] for path in sorted(taken)]
