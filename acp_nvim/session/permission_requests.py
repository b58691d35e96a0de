"""The permission requests of one session: each is shown in the transcript, answered once, and closed there."""

from __future__ import annotations

from collections.abc import Callable

from acp_nvim import events
from acp_nvim.limits.fair_shares import TURN_REQUESTS, WAITING_PERMISSIONS
from acp_nvim.permissions.pending import PendingPermission, PendingPermissions
from acp_nvim.permissions.rule_book import Answer
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.refusals import Refusals


class PermissionRequests:
    """Those of the agent, and ours on its behalf; `on_change` is called whenever the number of waiting ones changes.

    `agent_gone` says why nobody waits for an answer any more. While `refusing`, what is asked is cancelled at once: the
    user has given up what it would be about.
    """

    def __init__(
        self, narrator: Narrator, permissions: PendingPermissions, on_change: Callable[[], None], refusals: Refusals
    ) -> None:
        self.refusing = False
        self.agent_gone: Callable[[], bool] = lambda: False
        self._narrator = narrator
        self._transcript = narrator.transcript
        self._permissions = permissions
        self._on_change = on_change
        self._refusals = refusals

    def __repr__(self) -> str:
        return f"<PermissionRequests of {self._transcript.session} refusing={self.refusing}>"

    def require_room(self) -> None:
        """Raises `RpcError` when `WAITING_PERMISSIONS` wait already, or the turn has had `TURN_REQUESTS`."""
        if self._transcript.new_requests >= TURN_REQUESTS:
            raise self._refusals.refuse("requests of one turn", TURN_REQUESTS, "end the turn")
        if self._permissions.count(self._transcript.session) >= WAITING_PERMISSIONS:
            raise self._refusals.refuse("permission requests", WAITING_PERMISSIONS)

    def ask(
        self, tool_call_id: str, options: list[events.Option], view: Callable[[int], events.RequestView]
    ) -> PendingPermission:
        """Show it, now; `view` makes what is shown of the request's id.

        Raises `RpcError` as `require_room` does.
        """
        self.require_room()
        pending = self._permissions.add(self._transcript.session, tool_call_id, options)
        shown = self._transcript.request(view(pending.id))
        pending.block = shown.block
        self._narrator.publish(shown)
        if self.refusing:
            pending.cancel()
        self._on_change()
        return pending

    def answered(self, answer: Answer, option: events.Option, view: Callable[[int], events.RequestView]) -> None:
        """A rule has answered with that option: it is shown as such if the turn has room, and nobody is asked."""
        if self._transcript.is_full:
            return
        request = view(self._permissions.new_id())
        self._narrator.publish(self._transcript.answered(request, option, answer.rule or "", answer.source))

    async def answer(self, pending: PendingPermission) -> events.Option | None:
        """The chosen option; None when it was cancelled. The request is closed then, and when nobody waits any more."""
        try:
            return await pending.wait()
        finally:
            pending.cancel("agent_gone" if self.agent_gone() else "withdrawn")  # unless it is answered
            self._permissions.remove(pending)
            self._close(pending)

    def _close(self, pending: PendingPermission) -> None:
        chosen = pending.chosen
        done = events.PermissionDone(
            session=pending.session,
            block=pending.block,
            id=pending.id,
            outcome="selected" if chosen else "cancelled",
            option_id=chosen.option_id if chosen else None,
            name=chosen.name if chosen else None,
            why=pending.why,
        )
        self._narrator.publish(self._transcript.request_done(done))
        self._on_change()
