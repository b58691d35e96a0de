"""How a session comes to be at the agent's: a new one, or one that it kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from acp_nvim.errors import FailureError
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.jsonrpc.pending import Answer
from acp_nvim.protocol.answers import Abilities, Opened
from acp_nvim.protocol.dialect import Call, Place
from acp_nvim.session import failures
from acp_nvim.session.peer import AgentPeer

Way = Literal["load", "resume", "fork"]
"""`load`: with all that was said, `resume`: without, `fork`: a copy of it."""

How = Way | Literal["go_on"]
"""`go_on`: whatever is best; the chat has the conversation, the agent's process is another one."""


class Kept(msgspec.Struct, frozen=True):
    """A session that the agent keeps, and how it is wanted."""

    session_id: str
    how: How


def opening(peer: AgentPeer, place: Place, session_id: str | None, way: Way | None) -> Call[Opened]:
    """The call that opens that session, or a new one. Raises `FailureError`: the agent cannot, or the user's MCP
    servers are malformed."""
    if not peer.abilities.additional_directories:
        place = msgspec.structs.replace(place, additional_directories=())
    try:
        call = _call(peer, place, session_id or "", way)
    except msgspec.ValidationError as error:
        raise FailureError(failures.bad_mcp_servers(peer.name, str(error))) from error
    if way is not None and not offers(peer.abilities, way):
        raise FailureError(failures.not_offered(peer.name, call.method))
    return call


def offers(abilities: Abilities, way: Way) -> bool:
    """Whether the agent can open a session in that way."""
    return {"load": abilities.load, "resume": abilities.resume, "fork": abilities.fork}[way]


def _call(peer: AgentPeer, place: Place, session_id: str, way: Way | None) -> Call[Opened]:
    match way:
        case None:
            return peer.dialect.new_session(place)
        case "load":
            return peer.dialect.load_session(session_id, place)
        case "resume":
            return peer.dialect.resume_session(session_id, place)
        case "fork":
            return peer.dialect.fork_session(session_id, place)


async def open_session(peer: AgentPeer, call: Call[Opened], begin: Callable[[Opened], None]) -> None:
    """Open a session; `begin` is called when the answer is read, before anything that follows it is looked at.

    Raises `FailureError`, as `begin` may.
    """
    wrong: list[FailureError] = []

    def on_answer(answer: Answer) -> None:
        if not isinstance(answer, Exception):
            try:
                begin(call.read(answer))
            except msgspec.DecodeError as error:
                wrong.append(FailureError(failures.malformed_answer(peer.name, call.method, error)))
            except FailureError as error:
                wrong.append(error)

    try:
        await peer.request(call.method, call.params, on_answer)
    except RpcError as error:
        raise FailureError(failures.refused(peer.name, call.method, error)) from error
    if wrong:
        raise wrong[0]


def usable_servers(
    servers: Sequence[dict[str, Any]], abilities: Abilities
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The MCP servers that the agent can reach, and those that it cannot."""
    reachable = {"stdio": abilities.mcp_stdio, "http": abilities.mcp_http, "sse": abilities.mcp_sse}
    usable = [one for one in servers if reachable.get(one.get("type", "stdio"))]
    return usable, [one for one in servers if one not in usable]
