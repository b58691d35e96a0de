"""Takes what the user wants to know of the sessions that agents keep."""

from __future__ import annotations

import os
from datetime import datetime

import msgspec

from acp_nvim.editor import Editor
from acp_nvim.errors import FailureError
from acp_nvim.handlers.method import Methods
from acp_nvim.protocol.answers import Abilities, SessionInfo, SessionPage
from acp_nvim.session.asked_agents import AskedAgents
from acp_nvim.session.peers import Peers
from acp_nvim.session_events import AgentSessions, AgentsKnown, KnownAgent, ListedSession, Offer
from acp_nvim.tasks import Tasks


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
    """Handles Neovim's messages about the sessions that agents list."""

    def __init__(self, asked: AskedAgents, peers: Peers, editor: Editor, tasks: Tasks) -> None:
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
        self._tasks.spawn(self._list, wanted)

    async def _list(self, wanted: AsksSessions) -> None:
        able = Abilities()
        try:
            peer = await self._asked.peer(wanted.agent, wanted.cwd)
            able = peer.abilities
            page = await peer.calls.list_sessions(None if wanted.everywhere else wanted.cwd, wanted.cursor)
        except FailureError as error:
            self._tell(wanted, able, [], problem=str(error.failure))
        else:
            self._tell(wanted, able, _those_wanted(page, wanted), next_cursor=page.next_cursor)

    def _tell(self, wanted: AsksSessions, able: Abilities, sessions: list[ListedSession], **more: str | None) -> None:
        told = AgentSessions(
            id=wanted.id, agent=wanted.agent, cwd=wanted.cwd, sessions=sessions, offers=offers(able), **more
        )
        self._editor.publish(told)


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


def _those_wanted(page: SessionPage, wanted: AsksSessions) -> list[ListedSession]:
    """Not every agent looks at the directory that it is asked about."""
    real = os.path.realpath(wanted.cwd)
    return [_listed(one) for one in page.sessions if wanted.everywhere or os.path.realpath(one.cwd) == real]


def _listed(one: SessionInfo) -> ListedSession:
    return ListedSession(session_id=one.session_id, cwd=one.cwd, title=one.title, updated=_seconds(one.updated_at))


def _seconds(written: str | None) -> float | None:
    """A time of ISO 8601, as seconds since 1970; None for what is none."""
    try:
        return datetime.fromisoformat(written).timestamp() if written else None
    except (ValueError, OverflowError):
        return None
