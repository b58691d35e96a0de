"""The questions of one session's agent to the user: each is shown in the transcript, and answered once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from msgspec import UNSET

from acp_nvim.elicitation.open_urls import OpenUrls
from acp_nvim.elicitation.pending import PendingElicitation, PendingElicitations
from acp_nvim.elicitation_events import ElicitationComplete, ElicitationDone
from acp_nvim.limits.fair_shares import TURN_REQUESTS, WAITING_QUESTIONS
from acp_nvim.protocol.elicitation import Address, ElicitationAsked
from acp_nvim.session import elicitation_views as views
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.refusals import Refusals
from acp_nvim.wire.elicitation import CreateElicitationResponse


@dataclass(frozen=True)
class Asker:
    """The process that asks: `silent` says that nobody waits for an answer any more."""

    urls: OpenUrls = field(default_factory=OpenUrls)
    silent: Callable[[], bool] = lambda: False


class Elicitations:
    """`on_change` is called whenever the number of waiting ones changes; while `refuses`, all are cancelled at once."""

    def __init__(
        self,
        agent: str,
        narrator: Narrator,
        pending: PendingElicitations,
        on_change: Callable[[], None],
        refusals: Refusals,
    ) -> None:
        self.asker = Asker()
        self.refuses: Callable[[], bool] = lambda: False
        self._agent = agent
        self._narrator = narrator
        self._transcript = narrator.transcript
        self._pending = pending
        self._on_change = on_change
        self._refusals = refusals

    def __repr__(self) -> str:
        return f"<Elicitations {self.waiting}>"

    @property
    def count(self) -> int:
        """How many nobody has answered."""
        return self._pending.count(self._transcript.session)

    @property
    def waiting(self) -> list[PendingElicitation]:
        """Those that nobody has answered, oldest first."""
        return self._pending.of_session(self._transcript.session)

    def cancel(self, overrule: bool = False, of_session: bool = False) -> None:
        """Nobody will answer them; with `of_session` those stay that are about a request of ours (signing in)."""
        for one in self._pending.all_of_session(self._transcript.session):
            if not (of_session and one.asked.session_id is None):
                one.cancel(overrule=overrule)

    def ask(self, asked: ElicitationAsked, asker: Asker | None = None) -> Awaitable[CreateElicitationResponse]:
        """The answer to come; the question is shown now. Without an `asker` it is the session's agent.

        Raises `RpcError` when `WAITING_QUESTIONS` wait already, or the turn has had `TURN_REQUESTS`.
        """
        if self._transcript.new_requests >= TURN_REQUESTS:
            raise self._refusals.refuse("requests of one turn", TURN_REQUESTS, "end the turn")
        if self.count >= WAITING_QUESTIONS:
            raise self._refusals.refuse("questions", WAITING_QUESTIONS)
        asker = asker or self.asker
        pending = self._pending.add(self._transcript.session, asked)
        call = self._transcript.find_call(asked.tool_call_id) if asked.tool_call_id else None
        pending.view = views.view(pending.id, self._agent, asked, call.title if call else None)
        self._show(pending)
        if self.refuses() and asked.session_id is not None:
            pending.cancel()
        if isinstance(asked.what, Address):
            asker.urls.wait(asked.what.elicitation_id, lambda: self._complete(pending))
        self._on_change()
        return self._answer(pending, asker)

    def _show(self, pending: PendingElicitation) -> None:
        """Unless it is to be seen already."""
        if pending.view is not None and not self._transcript.asks(pending.block, pending.id):
            shown = self._transcript.elicitation(pending.view)
            pending.block = shown.block
            self._narrator.publish(shown)

    async def _answer(self, pending: PendingElicitation, asker: Asker) -> CreateElicitationResponse:
        try:
            await pending.wait()
        finally:
            pending.cancel("agent_gone" if asker.silent() else "withdrawn")  # unless it is answered
            self._pending.remove(pending)
            self._close(pending, asker)
        content = UNSET if pending.content is None else pending.content
        return CreateElicitationResponse(action=pending.action or "cancel", content=content)

    def _close(self, pending: PendingElicitation, asker: Asker) -> None:
        if isinstance(pending.asked.what, Address) and pending.action != "accept":
            asker.urls.forget(pending.asked.what.elicitation_id)
        self._show(pending)
        done = ElicitationDone(
            session=pending.session,
            block=pending.block,
            id=pending.id,
            action=pending.action or "cancel",
            answers=views.answers(pending.answers),
            why=pending.why,
        )
        self._narrator.publish(self._transcript.elicitation_news(done))
        self._on_change()

    def _complete(self, pending: PendingElicitation) -> None:
        self._show(pending)
        complete = ElicitationComplete(session=pending.session, block=pending.block, id=pending.id)
        self._narrator.publish(self._transcript.elicitation_news(complete))
