"""The end of a session: its agent may forget what it holds of it, and nothing more happens in it."""

from __future__ import annotations

import logging

import anyio

from acp_nvim.errors import FailureError
from acp_nvim.limits.sessions import CLOSE_SECONDS
from acp_nvim.session.session import Session

log = logging.getLogger(__name__)


async def close(session: Session) -> None:
    """Ask the agent to close it, if it can (ACP "Session Setup"), and leave it; one that is slow, too."""
    at_work = session.at_work()
    if at_work is not None and at_work[0].abilities.close:
        peer, session_id = at_work
        session.queue.hold()
        try:
            with anyio.move_on_after(CLOSE_SECONDS):
                await peer.calls.close_session(session_id)
        except FailureError as error:
            log.warning("%r could not be closed: %s", session, error.failure)
    session.end()
