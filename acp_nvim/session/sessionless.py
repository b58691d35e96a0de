"""Questions of agents that are about no session, but a request of ours: the chat that waits for it shows them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from acp_nvim.protocol.elicitation import ElicitationAsked
from acp_nvim.session.elicitations import Asker
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.session import Session
from acp_nvim.wire.elicitation import CreateElicitationResponse

ORDER: Final = ("failed", "starting")
"""States of sessions that wait for an answer of their agent: to be opened, or signed in."""


class Sessionless:
    """`sessions` are all that there are; one shows what an agent asks that works for it."""

    def __init__(self, sessions: Callable[[], Iterable[Session]]) -> None:
        self._sessions = sessions

    def ask(self, peer: AgentPeer, asked: ElicitationAsked) -> Awaitable[CreateElicitationResponse]:
        """The answer to come; `cancel` when nobody sees what this agent asks."""
        home = self._home(peer)
        if home is None:
            return _nobody()
        asker = Asker(peer.inbox.open_urls, lambda: peer.silent)
        return home.requests.elicitations.ask(asked, asker)

    def _home(self, peer: AgentPeer) -> Session | None:
        """Of several the one that waits for the agent, and of these the youngest."""
        homes = [one for one in self._sessions() if one.agent == peer.name and one.place.cwd == peer.cwd]
        return max(homes, key=lambda one: (ORDER.index(one.state) if one.state in ORDER else -1, one.key), default=None)


async def _nobody() -> CreateElicitationResponse:
    return CreateElicitationResponse(action="cancel")
