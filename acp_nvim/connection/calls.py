"""Requests to an agent other than prompts, also for its account; those that it does not offer are not sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import anyio
import msgspec

from acp_nvim.acp.answers import Abilities
from acp_nvim.acp.dialect import Call
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract.messages import ResumeWay
from acp_nvim.errors import FailureError
from acp_nvim.failures import failures
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.jsonrpc.requests import Answer

T = TypeVar("T")

ACCOUNT_SECONDS: Final = 2.0
"""Time for an agent to report its account, before the user is asked how to sign in: nobody wants to wait longer."""


async def send(peer: AgentPeer, call: Call[T], then: Callable[[T], None] | None = None) -> T:
    """Send the request if the agent offers it, and return the decoded result.

    `then` gets the result before the agent's next message is handled, and may raise `FailureError`. Raises
    `FailureError` if the request is not offered or refused, the result is malformed, or the agent is gone.
    """
    read: list[T | FailureError] = []

    def on_answer(answer: Answer) -> None:
        if isinstance(answer, Exception):
            return
        try:
            value = call.read(answer)
            if then is not None:
                then(value)
            read.append(value)
        except msgspec.DecodeError as error:
            wrong = FailureError(failures.malformed_answer(peer.name, call.method, error))
            wrong.__cause__ = error
            read.append(wrong)
        except FailureError as error:
            read.append(error)

    if not offers(peer.abilities, call.needs):
        raise FailureError(failures.not_offered(peer.name, call.method))
    try:
        await peer.request(call.method, call.params, on_answer)
    except RpcError as error:
        raise FailureError(failures.refused(peer.name, call.method, error)) from error
    if isinstance(read[0], FailureError):
        raise read[0]
    return read[0]


def offers(abilities: Abilities, ability: str) -> bool:
    """Whether the agent has the ability of that name; "" stands for no ability."""
    return not ability or bool(getattr(abilities, ability))


class KeptSession(msgspec.Struct, frozen=True):
    """A session that the agent keeps, and the way to reopen it."""

    session_id: str
    how: ResumeWay


async def account(peer: AgentPeer) -> str | None:
    """Ask an agent that can be asked, within `ACCOUNT_SECONDS`; otherwise return what it has reported last, if ever."""
    if peer.abilities.auth_status:
        with anyio.move_on_after(ACCOUNT_SECONDS):
            try:
                peer.router.others.account = await send(peer, peer.dialect.auth_status())
            except FailureError as error:
                peer.router.odd(f"its account is not known: {error.failure}")
    return peer.router.others.account
