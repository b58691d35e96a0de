"""What a session's status says beside what the session knows itself: of its agent, its turn, and the facts."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim import events
from acp_nvim.session.facts import Facts
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.turn import Turn
from acp_nvim.status_view import Takes

State = Literal["starting", "idle", "running", "background", "waiting", "stopped", "failed"]


def added_to(view: events.StatusView, peer: AgentPeer | None, turn: Turn, facts: Facts) -> events.StatusView:
    """The status with all of that; without a `peer` there is no agent now."""
    info = peer.info if peer else None
    title = (info.title or info.name or view.agent) if info else view.agent
    takes = Takes(peer.abilities.image, peer.abilities.audio, peer.abilities.embedded_context) if peer else None
    with_agent = msgspec.structs.replace(view, agent_title=title, stop_reason=turn.stop_reason, takes=takes)
    return facts.added_to(with_agent)
