"""What a session's status says: of the session, its agent, its turn, and the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from acp_nvim import events
from acp_nvim.session.facts import Facts
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.turn import Turn
from acp_nvim.status_view import Takes

if TYPE_CHECKING:
    from acp_nvim.session.life import Life

State = Literal["starting", "idle", "running", "waiting", "stopped", "failed"]


def view(session: Life, peer: AgentPeer | None, wanted: bool) -> events.StatusView:
    """All of it. `wanted`: the session works in its directories, or is about to."""
    told = events.StatusView(
        agent=session.agent,
        agent_title=session.agent,
        state=session.state,
        cwd=session.place.cwd,
        pending_permissions=len(session.pending_permissions),
        queue=len(session.queue),
        pending_elicitations=len(session.requests.elicitations.waiting),
        session_id=session.session_id,
        sign_in=session.sign_in.state,
        review=session.changes.counts,
        worktree=session.worktree,
        directories=session.roots.directories if wanted else [],
        asleep=session.asleep,
    )
    return added_to(told, peer, session.turns.turn, session.narrator.facts)


def added_to(view: events.StatusView, peer: AgentPeer | None, turn: Turn, facts: Facts) -> events.StatusView:
    """The status with all of that; without a `peer` there is no agent now."""
    info = peer.info if peer else None
    title = (info.title or info.name or view.agent) if info else view.agent
    takes = Takes(peer.abilities.image, peer.abilities.audio, peer.abilities.embedded_context) if peer else None
    with_agent = msgspec.structs.replace(view, agent_title=title, stop_reason=turn.stop_reason, takes=takes)
    return facts.added_to(with_agent)
