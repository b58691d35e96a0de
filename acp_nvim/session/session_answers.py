"""Questions of ours to the user whose answers may count for the rest of the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence

from acp_nvim import events
from acp_nvim.permissions.pending import PendingPermission
from acp_nvim.permissions.rule_book import Answer
from acp_nvim.session.automatic import Automatic
from acp_nvim.session.permission_requests import PermissionRequests


class SessionAnswers:
    """What the user has said to such questions; `which` says what one is about: equal ones have one answer."""

    def __init__(self, requests: PermissionRequests, automatic: Automatic) -> None:
        self.automatic = automatic
        self._requests = requests
        self._waiting: list[tuple[Hashable, PendingPermission]] = []
        self._remembered: dict[Hashable, bool] = {}

    def __repr__(self) -> str:
        return f"<SessionAnswers {len(self._waiting)} waiting, {len(self._remembered)} remembered>"

    def ask(
        self,
        which: Hashable,
        options: Sequence[events.Option],
        view: Callable[[int], events.RequestView],
        answer: Answer,
    ) -> Awaitable[bool]:
        """Whether the rules or the user allow it, to come. If there is no `answer` yet, the question is shown now."""
        by_rule = self.automatic.choose(answer, options, view)
        if by_rule is not None:
            return _settled(by_rule.kind.startswith("allow"))
        remembered = self._remembered.get(which)
        if remembered is not None:
            return _settled(remembered)
        pending = self._requests.ask("", list(options), view)
        self._waiting.append((which, pending))
        return self._decide(which, pending)

    async def _decide(self, which: Hashable, pending: PendingPermission) -> bool:
        try:
            chosen = await self._requests.answer(pending)
        finally:
            self._waiting.remove((which, pending))
        if chosen is not None and chosen.kind.endswith("always"):
            self._remember(which, chosen)
        return chosen is not None and chosen.kind.startswith("allow")

    def _remember(self, which: Hashable, chosen: events.Option) -> None:
        """For the session; who waits for the same is answered, too."""
        self._remembered[which] = chosen.kind == "allow_always"
        for other, pending in self._waiting:
            if other == which:
                pending.choose(chosen.option_id)


async def _settled(answer: bool) -> bool:
    return answer
