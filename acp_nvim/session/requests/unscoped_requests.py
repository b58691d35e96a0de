"""Shows questions of agents that belong to no session in the chat that waits for the agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.acp.schema_common import CreateElicitationResponse
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.connection.peers import nobody
from acp_nvim.session.session import Session

ORDER: Final = ("failed", "starting")
"""States of sessions that wait for their agent to open them, or for a sign-in."""


def ask_unscoped(
    sessions: Callable[[], Iterable[Session]], peer: AgentPeer, asked: ElicitationAsked
) -> Awaitable[CreateElicitationResponse]:
    """Return an awaitable of the answer, which is `cancel` if no session can show the question.

    Of all `sessions` of the agent, prefer one that waits for it, and then the newest.
    """
    homes = [one for one in sessions() if one.agent == peer.name and one.place.cwd == peer.cwd]
    if not homes:
        return nobody(peer, asked)
    home = max(homes, key=lambda one: (ORDER.index(one.state) if one.state in ORDER else -1, one.key))
    return home.requests.elicitations.ask(asked, peer)
