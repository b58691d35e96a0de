"""Handles messages about lists of sessions: open ones, those that agents keep, and conversations kept here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

import anyio

from acp_nvim.acp.answers import Abilities, SessionInfo, SessionPage
from acp_nvim.errors import FailureError
from acp_nvim.history.store import TranscriptStore
from acp_nvim.rpc.messages import Handlers
from acp_nvim.rpc.session_messages import AgentsKnown, OpenSession, SessionsList, SessionsMore
from acp_nvim.session.connection.calls import send
from acp_nvim.session.connection.peers import AgentLeases, Peers
from acp_nvim.tasks import Tasks
from acp_nvim.ui import session_events
from acp_nvim.ui.editor import Editor
from acp_nvim.ui.session_events import FoundSession, KnownAgent, ListedSession, Offer, SessionEntry, SessionsListed

AGENTS_WAIT_SECONDS: Final = 0.4
"""A list of sessions waits for agents that run: most answer within a tenth of that."""
LISTS: Final = 8
"""Lists that are remembered for `sessions_more`: a user looks at one, other code may have some."""


class _List:
    """One list, as far as it is known. `news` is set, and replaced, when an agent has answered."""

    def __init__(self, wanted: SessionsList) -> None:
        self.wanted = wanted
        self.found: list[FoundSession] = []
        self.listed: dict[str, list[ListedSession]] = {}
        self.cursors: dict[str, str] = {}
        self.waits: set[str] = set()
        self.problems: dict[str, str] = {}
        self.is_ready = False
        self.news = anyio.Event()

    def event(self) -> SessionsListed:
        """As the editor gets it."""
        return SessionsListed(
            id=self.wanted.id,
            entries=merged(self.wanted.open, self.found, self.listed, self.wanted.query),
            asked=sorted(self.listed),
            more=sorted(self.cursors),
            waits=sorted(self.waits),
            problems=self.problems,
        )


class SessionListHandlers:
    """Makes the lists: `store` has the conversations that are kept here, `agents` are asked for theirs.

    A list is sent when everything kept here is known and all agents have answered, or `AGENTS_WAIT_SECONDS` have
    passed; and again after each later answer.
    """

    def __init__(self, store: TranscriptStore, agents: AgentLeases, peers: Peers, editor: Editor, tasks: Tasks) -> None:
        self._store = store
        self._agents = agents
        self._peers = peers
        self._editor = editor
        self._tasks = tasks
        self._lists: dict[int, _List] = {}
        self.handlers: Handlers = {
            AgentsKnown: self._tell_agents,
            SessionsList: self._list,
            SessionsMore: self._more,
        }

    def __repr__(self) -> str:
        return f"<SessionListHandlers of {len(self._lists)} lists>"

    def _tell_agents(self, wanted: AgentsKnown) -> None:
        self._editor.publish(session_events.AgentsKnown(id=wanted.id, agents=list(self._known().values())))

    def _known(self) -> dict[str, KnownAgent]:
        known: dict[str, KnownAgent] = {}
        for peer in self._peers.known():
            before = known.get(peer.name)
            if before is None or not before.running:
                known[peer.name] = KnownAgent(peer.name, peer.alive, offers(peer.abilities))
        return known

    async def _list(self, wanted: SessionsList) -> None:
        one = self._lists[wanted.id] = _List(wanted)
        if len(self._lists) > LISTS:
            del self._lists[next(iter(self._lists))]
        running = [name for name, agent in self._known().items() if agent.running and "list" in agent.offers]
        deadline = anyio.current_time() + AGENTS_WAIT_SECONDS
        for name in running if wanted.agents is None else wanted.agents:
            self._ask(one, name)
        async for found in self._store.find(wanted.query, None):
            one.found += found
        with anyio.CancelScope(deadline=deadline):
            while one.waits:
                await one.news.wait()
        one.is_ready = True
        self._editor.publish(one.event())

    def _more(self, wanted: SessionsMore) -> None:
        if wanted.id in self._lists:
            self._ask(self._lists[wanted.id], wanted.agent)

    def _ask(self, one: _List, agent: str) -> None:
        one.waits.add(agent)
        self._tasks.spawn(self._ask_agent, one, agent, one.cursors.pop(agent, None))

    async def _ask_agent(self, one: _List, agent: str, cursor: str | None) -> None:
        one.problems.pop(agent, None)
        listed = one.listed.get(agent, [])
        try:
            peer = await self._agents.peer(agent, one.wanted.cwd)
            cwd = None if one.wanted.everywhere else one.wanted.cwd
            page = await send(peer, peer.dialect.list_sessions(cwd, cursor))
        except FailureError as error:
            one.problems[agent] = str(error.failure)
        else:
            listed = [*listed, *_those_wanted(page, one.wanted)]
            if page.next_cursor is not None:
                one.cursors[agent] = page.next_cursor
        finally:
            one.listed[agent] = listed
            one.waits.discard(agent)
            one.news.set()
            one.news = anyio.Event()
        if one.is_ready:
            self._editor.publish(one.event())


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


def merged(
    opened: Sequence[OpenSession],
    found: Iterable[FoundSession],
    listed: Mapping[str, Iterable[ListedSession]],
    query: str,
) -> list[SessionEntry]:
    """One entry for each conversation, wherever it is: those that are open in their order, then the newest.

    `found` is in the order of time, the newest first; `listed` is by the names of agents. What is kept here has `query`
    somewhere; of the others title, agent or session id must have it.
    """
    entries: list[SessionEntry] = []
    by_key: dict[int, SessionEntry] = {}
    by_name: dict[tuple[str, str], SessionEntry] = {}

    def added(agent: str, cwd: str, session_id: str | None) -> SessionEntry:
        entry = SessionEntry(agent, cwd, session_id)
        entries.append(entry)
        if session_id is not None:  # an agent may give an id again after it was restarted: the first has the name
            by_name.setdefault((agent, session_id), entry)
        return entry

    for one in opened:
        entry = by_key[one.session] = added(one.agent, one.cwd, one.session_id)
        entry.session, entry.title = one.session, one.title
    _add_kept(found, by_key, added)
    for agent, sessions in sorted(listed.items()):
        for session in sessions:
            entry = by_name.get((agent, session.session_id)) or added(agent, session.cwd, session.session_id)
            entry.listed = True
            entry.title = (entry.title if entry.session is not None else session.title) or entry.title or session.title
            entry.updated = max(entry.updated, session.updated or 0.0)
    there = [one for one in entries if one.session is not None and _has(one, query)]
    return there + sorted(
        (one for one in entries if one.session is None and _has(one, query)), key=lambda one: -one.updated
    )


def _add_kept(
    found: Iterable[FoundSession],
    by_key: Mapping[int, SessionEntry],
    added: Callable[[str, str, str | None], SessionEntry],
) -> None:
    superseding: dict[str, SessionEntry] = {}  # by the transcript that was kept before
    for one in found:
        entry = superseding.get(one.id) or by_key.get(one.session or 0) or added(one.agent, one.cwd, one.session_id)
        entry.kept.append(one)
        entry.title = entry.title or one.title or one.prompt
        entry.updated = max(entry.updated, one.updated)
        entry.snippet = entry.snippet or one.snippet
        if one.supersedes is not None:
            superseding[one.supersedes] = entry


def _has(entry: SessionEntry, query: str) -> bool:
    if not query or entry.snippet or entry.kept:
        return True  # the store has looked into what is kept
    return any(query.lower() in text.lower() for text in (entry.title or "", entry.agent, entry.session_id or ""))


def _those_wanted(page: SessionPage, wanted: SessionsList) -> list[ListedSession]:
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
