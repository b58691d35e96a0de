"""The questions of one session's agent to the user. Each is shown in the transcript, and answered once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import UNSET

from acp_nvim.acp.elicitation import Address, ElicitationAsked
from acp_nvim.acp.schema_common import CreateElicitationResponse
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract.request_events import ElicitationComplete, ElicitationDone
from acp_nvim.elicitation.pending import PendingElicitation, PendingElicitations
from acp_nvim.permissions.request.bounds import Refusals
from acp_nvim.permissions.request.broker import PermissionBroker
from acp_nvim.transcript import views
from acp_nvim.transcript.presenter import Presenter

WAITING_QUESTIONS: Final = 50
"""Questions (forms, URLs) of one session that wait for the user; more are refused. Agents usually ask a few."""


class Elicitations:
    """Shows and answers the questions; `on_change` is called when the number of waiting ones changes.

    While the `broker` refuses requests, questions are cancelled at once.
    """

    def __init__(
        self,
        agent: str,
        presenter: Presenter,
        pending: PendingElicitations,
        on_change: Callable[[], None],
        broker: PermissionBroker,
        refusals: Refusals,
    ) -> None:
        self._agent = agent
        self._presenter = presenter
        self._transcript = presenter.transcript
        self._pending = pending
        self._on_change = on_change
        self._broker = broker
        self._refusals = refusals

    @property
    def count(self) -> int:
        """Number of questions that wait for the user."""
        return self._pending.count(self._transcript.session)

    def cancel(self, overrule: bool = False, of_session: bool = False) -> None:
        """Cancel all questions; with `of_session` keep those that belong to no session (signing in)."""
        for one in self._pending.all_of_session(self._transcript.session):
            if not (of_session and one.asked.session_id is None):
                one.cancel(overrule=overrule)

    def ask(self, asked: ElicitationAsked, peer: AgentPeer) -> Awaitable[CreateElicitationResponse]:
        """Show the question of an agent process, and return an awaitable of the answer.

        Raises `RpcError` if `WAITING_QUESTIONS` wait already, or the turn has had `TURN_REQUESTS`.
        """
        self._refusals.require_room("questions", self.count, WAITING_QUESTIONS)
        pending = self._pending.add(self._transcript.session, asked)
        call = self._transcript.find_call(asked.tool_call_id) if asked.tool_call_id else None
        pending.view = views.elicitation_view(pending.id, self._agent, asked, call.title if call else None)
        self._show(pending)
        if self._broker.refusing and asked.session_id is not None:
            pending.cancel()
        if isinstance(asked.what, Address):
            peer.router.others.open_urls.wait(asked.what.elicitation_id, lambda: self._complete(pending))
        self._on_change()
        return self._answer(pending, peer)

    def _show(self, pending: PendingElicitation) -> None:
        """Show the question, unless the transcript already has it."""
        if pending.view is not None and not self._transcript.asks(pending.block, pending.id):
            shown = self._transcript.elicitation(pending.view)
            pending.block = shown.block
            self._presenter.publish(shown)

    async def _answer(self, pending: PendingElicitation, peer: AgentPeer) -> CreateElicitationResponse:
        try:
            await pending.wait()
        finally:
            pending.cancel("agent_gone" if peer.silent else "withdrawn")  # no-op if answered
            self._pending.remove(pending)
            self._close(pending, peer)
        content = UNSET if pending.content is None else pending.content
        return CreateElicitationResponse(action=pending.action or "cancel", content=content)

    def _close(self, pending: PendingElicitation, peer: AgentPeer) -> None:
        if isinstance(pending.asked.what, Address) and pending.action != "accept":
            peer.router.others.open_urls.forget(pending.asked.what.elicitation_id)
        self._show(pending)
        done = ElicitationDone(
            session=pending.session,
            block=pending.block,
            id=pending.id,
            action=pending.action or "cancel",
            answers=pending.answers,
            why=pending.why,
        )
        self._transcript.question_news(done)
        self._presenter.publish(done)
        self._on_change()

    def _complete(self, pending: PendingElicitation) -> None:
        self._show(pending)
        complete = ElicitationComplete(session=pending.session, block=pending.block, id=pending.id)
        self._transcript.question_news(complete)
        self._presenter.publish(complete)
