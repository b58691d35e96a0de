"""How a session comes to be at the agent's: a new one, or one that it kept."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.errors import FailureError
from acp_nvim.protocol.answers import Opened
from acp_nvim.protocol.dialect import Call, Place
from acp_nvim.session import failures
from acp_nvim.session.peer import AgentPeer


class Kept(msgspec.Struct, frozen=True):
    """A session that the agent keeps. `load`: with all that was said, `resume`: without, `fork`: a copy of it."""

    session_id: str
    how: Literal["load", "resume", "fork"]


def opening(peer: AgentPeer, place: Place, kept: Kept | None) -> Call[Opened]:
    """The call that opens it. Raises `FailureError` where the agent cannot."""
    if not peer.abilities.additional_directories:
        place = msgspec.structs.replace(place, additional_directories=())
    if kept is None:
        return peer.dialect.new_session(place)
    if kept.how == "load":
        offered, call = peer.abilities.load, peer.dialect.load_session(kept.session_id, place)
    elif kept.how == "resume":
        offered, call = peer.abilities.resume, peer.dialect.resume_session(kept.session_id, place)
    else:
        offered, call = peer.abilities.fork, peer.dialect.fork_session(kept.session_id, place)
    if not offered:
        raise FailureError(failures.not_offered(peer.name, call.method))
    return call
