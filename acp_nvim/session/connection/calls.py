"""Requests to an agent other than prompts; only what its capabilities offer is sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from acp_nvim.acp.answers import Abilities, Opened
from acp_nvim.acp.dialect import Call, Place, Way
from acp_nvim.errors import FailureError
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.jsonrpc.requests import Answer
from acp_nvim.session import failures
from acp_nvim.session.connection.peer import AgentPeer

T = TypeVar("T")


async def send(peer: AgentPeer, call: Call[T], then: Callable[[T], None] | None = None) -> T:
    """Send the request if the agent offers it, and return what it answered.

    `then` gets the answer before anything that the agent says next is looked at, and may raise `FailureError`. Raises
    `FailureError`: not offered, refused, answered with nonsense, or the agent is gone.
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
    """Whether the agent has the ability of that name; "" is none, which all have."""
    return not ability or bool(getattr(abilities, ability))


ResumeWay = Way | Literal["go_on"]
"""`go_on`: whatever is best; the chat has the conversation, the agent's process is another one."""


class KeptSession(msgspec.Struct, frozen=True):
    """A session that the agent keeps, and how it is wanted."""

    session_id: str
    how: ResumeWay


def opening(peer: AgentPeer, place: Place, session_id: str | None, way: Way | None) -> Call[Opened]:
    """The call that opens that session, or a new one. Raises `FailureError`: the agent cannot, or the user's MCP
    servers are malformed."""
    if not peer.abilities.additional_directories:
        place = msgspec.structs.replace(place, additional_directories=())
    try:
        call = peer.dialect.open_session(place, way, session_id or "")
    except msgspec.ValidationError as error:
        raise FailureError(failures.bad_mcp_servers(peer.name, str(error))) from error
    if not offers(peer.abilities, call.needs):
        raise FailureError(failures.not_offered(peer.name, call.method))
    return call


def usable_servers(
    servers: Sequence[dict[str, Any]], abilities: Abilities
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The MCP servers that the agent can reach, and those that it cannot."""
    reachable = {"stdio": abilities.mcp_stdio, "http": abilities.mcp_http, "sse": abilities.mcp_sse}
    usable = [one for one in servers if reachable.get(one.get("type", "stdio"))]
    return usable, [one for one in servers if one not in usable]
