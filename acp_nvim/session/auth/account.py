"""Finds out which account an agent uses, for display."""

from __future__ import annotations

from typing import Final

import anyio

from acp_nvim.connection.calls import send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.errors import FailureError

ACCOUNT_SECONDS: Final = 2.0
"""Time for an agent to report its account, before the user is asked how to sign in: nobody wants to wait longer."""


async def account(peer: AgentPeer) -> str | None:
    """Ask an agent that can be asked, within `ACCOUNT_SECONDS`; otherwise return what it has reported last, if ever."""
    if peer.abilities.auth_status:
        with anyio.move_on_after(ACCOUNT_SECONDS):
            try:
                peer.router.others.account = await send(peer, peer.dialect.auth_status())
            except FailureError as error:
                peer.router.odd(f"its account is not known: {error.failure}")
    return peer.router.others.account
