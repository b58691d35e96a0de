"""Takes what the user wants to know of the sessions that agents keep."""

from __future__ import annotations

import os
from datetime import datetime

import anyio.abc
import msgspec

from acp_nvim.editor import Editor
from acp_nvim.errors import FailureError
from acp_nvim.handlers.method import Methods, guarded
from acp_nvim.protocol.answers import Abilities, SessionInfo, SessionPage
from acp_nvim.session.asked_agents import AskedAgents
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.peers import Peers
from acp_nvim.session_events import AgentSessions, AgentsKnown, KnownAgent, ListedSession, Offer


class AsksAgents(msgspec.Struct):
    """`agents_known`: which agents run; `id` is the question's."""

    id: int


class AsksSessions(msgspec.Struct):
    """`agent_sessions`: a page of the sessions that an agent keeps of the directory `cwd`, or of all (`everywhere`).

    Who does not run is started.
    """

    id: int
    agent: str
    cwd: str
    cursor: str | None = None
    everywhere: bool = False


class SessionsListing:
    """The messages about them."""

    def __init__(self, asked: AskedAgents, peers: Peers, editor: Editor, tasks: anyio.abc.TaskGroup) -> None:
        self._asked = asked
        self._peers = peers
        self._editor = editor
        self._tasks = tasks
        self.methods: Methods = {
            "agents_known": (AsksAgents, self._tell_agents),
            "agent_sessions": (AsksSessions, self._ask),
        }

    def __repr__(self) -> str:
        return f"<SessionsListing {self._peers!r}>"

    def _tell_agents(self, wanted: AsksAgents) -> None:
        known: dict[str, KnownAgent] = {}
        for peer in self._peers.known():
            before = known.get(peer.name)
            if before is None or not before.running:
                known[peer.name] = KnownAgent(peer.name, peer.alive, offers(peer.abilities))
        self._editor.publish(AgentsKnown(id=wanted.id, agents=list(known.values())))

    def _ask(self, wanted: AsksSessions) -> None:
        self._tasks.start_soon(guarded, self._list, wanted)

    async def _list(self, wanted: AsksSessions) -> None:
        try:
            peer = await self._asked.peer(wanted.agent, wanted.cwd)
            page = await peer.calls.list_sessions(None if wanted.everywhere else wanted.cwd, wanted.cursor)
        except FailureError as error:
            self._editor.publish(_nothing(wanted, str(error.failure)))
        else:
            self._editor.publish(_told(wanted, peer, page))


def offers(abilities: Abilities) -> list[Offer]:
    """What the agent can do with its sessions."""
    able: dict[Offer, bool] = {
        "list": abilities.list_sessions,
        "load": abilities.load,
        "resume": abilities.resume,
        "fork": abilities.fork,
        "close": abilities.close,
        "delete": abilities.delete,
    }
    return [offer for offer, is_able in able.items() if is_able]


def _nothing(wanted: AsksSessions, problem: str) -> AgentSessions:
    return AgentSessions(id=wanted.id, agent=wanted.agent, cwd=wanted.cwd, sessions=[], offers=[], problem=problem)


def _told(wanted: AsksSessions, peer: AgentPeer, page: SessionPage) -> AgentSessions:
    real = os.path.realpath(wanted.cwd)
    there = [one for one in page.sessions if wanted.everywhere or os.path.realpath(one.cwd) == real]
    return AgentSessions(
        id=wanted.id,
        agent=wanted.agent,
        cwd=wanted.cwd,
        sessions=[_listed(one) for one in there],
        offers=offers(peer.abilities),
        next_cursor=page.next_cursor,
    )


def _listed(one: SessionInfo) -> ListedSession:
    return ListedSession(session_id=one.session_id, cwd=one.cwd, title=one.title, updated=_seconds(one.updated_at))


def _seconds(written: str | None) -> float | None:
    """A time of ISO 8601, as seconds since 1970; None for what is none."""
    try:
        return datetime.fromisoformat(written).timestamp() if written else None
    except (ValueError, OverflowError):
        return None
