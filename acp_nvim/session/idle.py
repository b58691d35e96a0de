"""Stops an agent's process for which nobody has had any use for a while; its sessions go on with their next prompts."""

from __future__ import annotations

import logging
from collections.abc import Callable

import anyio

from acp_nvim.limits.lives import IDLE_LOOK_SECONDS
from acp_nvim.session.peer import AgentPeer
from acp_nvim.tasks import contained

log = logging.getLogger(__name__)


async def stop_when_idle(peer: AgentPeer, seconds: Callable[[], float]) -> None:
    """Look after it until it is gone. `seconds` without a word, as they are set now; 0: it is left alone."""
    while peer.alive:
        limit = seconds()
        left = peer.last_word + limit - anyio.current_time() if limit else IDLE_LOOK_SECONDS
        if left <= 0 and _is_dispensable(peer):
            log.info("%s: is stopped, nothing happened for %g s", peer.name, limit)
            for session in list(peer.inbox.sessions.values()):
                with contained("stopping an idle agent", session.on_bug):
                    session.on_idle()
            peer.leave(None)
            return
        await _gone_within(peer, min(left, IDLE_LOOK_SECONDS) if left > 0 else min(limit, IDLE_LOOK_SECONDS))


def _is_dispensable(peer: AgentPeer) -> bool:
    """Whether nothing goes on, and everything can be taken up again."""
    return (
        not peer.held
        and (peer.abilities.resume or peer.abilities.load)
        and not any(session.is_busy for session in peer.inbox.sessions.values())
    )


async def _gone_within(peer: AgentPeer, seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await peer.gone.wait()
