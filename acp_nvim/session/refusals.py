"""Requests that are refused because too many of a kind wait: an error for the agent, one notice for the user."""

from __future__ import annotations

from acp_nvim.jsonrpc.messages import INTERNAL_ERROR, RpcError
from acp_nvim.session.narrator import Narrator


class Refusals:
    """Of one session. Each kind of request has one notice in a turn, which says how many were refused."""

    def __init__(self, agent: str, narrator: Narrator) -> None:
        self._agent = agent
        self._narrator = narrator
        self._kinds: dict[str, _Kind] = {}

    def __repr__(self) -> str:
        return f"<Refusals { {what: kind.count for what, kind in self._kinds.items()} }>"

    def refuse(self, what: str, most: int, todo: str = "ask again when some are answered") -> RpcError:
        """The error for one more request of a kind (`what`, in the plural), of which `most` are open already."""
        kind = self._kinds.setdefault(what, _Kind(most))
        kind.count += 1
        if kind.block is None:
            self._tell(what, kind)
        return RpcError(INTERNAL_ERROR, f"{most:,} {what} are open already, and no more are taken: {todo}")

    def begin_turn(self) -> None:
        """What is refused from now on has a new notice."""
        self.caught_up()
        self._kinds.clear()

    def caught_up(self) -> None:
        """Bring the notices up to date."""
        for what, kind in self._kinds.items():
            if kind.told != kind.count:
                self._tell(what, kind)

    def _tell(self, what: str, kind: _Kind) -> None:
        kind.told = kind.count
        refused = "1 more was refused" if kind.count == 1 else f"{kind.count:,} more were refused"
        words = f"{self._agent} asks for too much at once: {kind.most:,} {what} are open, and {refused}."
        kind.block = self._narrator.notice_again(kind.block, "warn", words)


class _Kind:
    """How many were refused, and how many the notice in the transcript's `block` says."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = self.told = 0
        self.block: int | None = None
