"""What the chat says of snapshots: the same words once in each turn."""

from __future__ import annotations

from acp_nvim.errors import Severity
from acp_nvim.session.narrator import Narrator


class SnapshotNotices:
    """Those of one session."""

    def __init__(self, narrator: Narrator) -> None:
        self._narrator = narrator
        self._said: set[str] = set()
        self._had_turn = False

    def __repr__(self) -> str:
        return f"<SnapshotNotices {sorted(self._said)}>"

    def begin_turn(self) -> None:
        """Say again in this turn what still holds. What was said when the chat was opened counts to the first one."""
        if self._had_turn:
            self._said.clear()
        self._had_turn = True

    def say(self, words: str, level: Severity = "info") -> None:
        """Show a notice, unless this turn has it already."""
        if words not in self._said:
            self._said.add(words)
            self._narrator.notice(level, words)

    def missing(self, why: str) -> None:
        """There is no snapshot, or none that has anything of the workspace."""
        self.say(
            f"There is no snapshot of the workspace: {why}. What the agent writes through Neovim and what its tool "
            "calls name can be reviewed all the same; what else its commands change cannot be seen.",
            "warn",
        )
