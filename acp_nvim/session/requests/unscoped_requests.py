"""Questions of agents that are about no session, but a request of ours: the chat that waits for it shows them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from acp_nvim.acp.elicitation import ElicitationAsked
from acp_nvim.acp.schema_common import CreateElicitationResponse
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.connection.peers import nobody
from acp_nvim.session.session import Session

ORDER: Final = ("failed", "starting")
"""States of sessions that wait for an answer of their agent: to be opened, or signed in."""


def ask_unscoped(
    sessions: Callable[[], Iterable[Session]], peer: AgentPeer, asked: ElicitationAsked
) -> Awaitable[CreateElicitationResponse]:
    """The answer to come; `cancel` when nobody sees what this agent asks.

    Of all `sessions` one that works with the agent shows it: rather one that waits for it, and the youngest of these.
    """
    homes = [one for one in sessions() if one.agent == peer.name and one.place.cwd == peer.cwd]
    if not homes:
        return nobody(peer, asked)
    home = max(homes, key=lambda one: (ORDER.index(one.state) if one.state in ORDER else -1, one.key))
    return home.requests.elicitations.ask(asked, peer)
