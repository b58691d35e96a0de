"""Handles messages about lists of sessions: open ones, those that agents store, and conversations stored here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, get_args

import anyio
import msgspec

from acp_nvim.acp.answers import Abilities, SessionPage
from acp_nvim.connection.calls import send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.connection.peers import AgentLeases, Peers
from acp_nvim.contract import session_events
from acp_nvim.contract.editor import Editor
from acp_nvim.contract.messages import AgentsKnown, Handlers, OpenSession, Prewarm, SessionsList, SessionsMore
from acp_nvim.contract.session_events import (
    FoundSession,
    KnownAgent,
    ListedSession,
    Offer,
    SessionEntry,
    SessionsListed,
)
from acp_nvim.errors import FailureError
from acp_nvim.history.store import TranscriptStore
from acp_nvim.tasks import Tasks

AGENTS_WAIT_SECONDS: Final = 0.4
"""Time that a list of sessions waits for running agents: most answer within a tenth of that."""
LISTS: Final = 8
"""Lists that are remembered for `sessions_more`: a user looks at one, other code may have more."""
EMPTY_PAGES: Final = 20
"""Pages without a session to list that are asked for one after the other; then the user may ask for more."""


class _List(msgspec.Struct, eq=False):
    """One list, as far as known. `answered` is set, and replaced, when an agent has answered."""

    wanted: SessionsList
    found: list[FoundSession] = msgspec.field(default_factory=list)
    listed: dict[str, list[ListedSession]] = msgspec.field(default_factory=dict)
    cursors: dict[str, str] = msgspec.field(default_factory=dict)
    used: dict[str, set[str]] = msgspec.field(default_factory=dict)
    """The cursors that each agent was sent: one that comes again ends its list."""
    waits: set[str] = msgspec.field(default_factory=set)
    problems: dict[str, str] = msgspec.field(default_factory=dict)
    is_ready: bool = False
    answered: anyio.Event = msgspec.field(default_factory=anyio.Event)

    def event(self) -> SessionsListed:
        """Return the event that sends the list to the editor."""
        return SessionsListed(
            id=self.wanted.id,
            entries=[one for one in self._entries() if one.archived == self.wanted.archived],
            asked=sorted(self.listed),
            more=sorted(self.cursors),
            waits=sorted(self.waits),
            problems=self.problems,
        )

    def _entries(self) -> list[SessionEntry]:
        return merged(self.wanted.open, self.found, self.listed, self.wanted.query)


class SessionListHandlers:
    """Makes lists of the conversations in `store`, and of the sessions that agents list.

    A list is sent when the store was searched and all agents have answered, or after `AGENTS_WAIT_SECONDS`; and again
    after each later answer.
    """

    def __init__(self, store: TranscriptStore, agents: AgentLeases, peers: Peers, editor: Editor, tasks: Tasks) -> None:
        self._store = store
        self._agents = agents
        self._peers = peers
        self._editor = editor
        self._tasks = tasks
        self._lists: dict[int, _List] = {}
        self.handlers: Handlers = {
            AgentsKnown: lambda wanted: editor.publish(
                session_events.AgentsListed(id=wanted.id, agents=list(self._known().values()))
            ),
            Prewarm: lambda wanted: agents.prewarm(wanted.agent, wanted.cwd),
            SessionsList: self._list,
            SessionsMore: self._more,
        }

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
                await one.answered.wait()
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
        listed = list(one.listed.get(agent, ()))
        try:
            peer = await self._agents.peer(agent, one.wanted.cwd)
            for _ in range(EMPTY_PAGES):
                found, cursor = await self._page(one, peer, agent, cursor)
                listed += found
                if found or cursor is None:
                    break
        except FailureError as error:
            one.problems[agent] = str(error.failure)
        else:
            if cursor is not None:
                one.cursors[agent] = cursor
        finally:
            one.listed[agent] = listed
            one.waits.discard(agent)
            one.answered.set()
            one.answered = anyio.Event()
        if one.is_ready:
            self._editor.publish(one.event())

    @staticmethod
    async def _page(
        one: _List, peer: AgentPeer, agent: str, cursor: str | None
    ) -> tuple[list[ListedSession], str | None]:
        """Return the sessions of one page, and the cursor of the next one. Raises `FailureError`."""
        used = one.used.setdefault(agent, set())
        if cursor is not None:
            used.add(cursor)
        cwd = None if one.wanted.everywhere else one.wanted.cwd
        page = await send(peer, peer.dialect.list_sessions(cwd, cursor, peer.abilities.archive))
        return _wanted(page, one.wanted), None if page.next_cursor in used else page.next_cursor


def offers(abilities: Abilities) -> list[Offer]:
    """Return the operations that the agent supports for its sessions."""
    return [one for one in get_args(Offer) if getattr(abilities, "list_sessions" if one == "list" else one)]


def merged(
    opened: Sequence[OpenSession],
    found: Iterable[FoundSession],
    listed: Mapping[str, Iterable[ListedSession]],
    query: str,
) -> list[SessionEntry]:
    """Return one entry for each conversation: the open ones in their order, then the newest.

    `found` are stored conversations that match `query`, the newest first. `opened` and `listed` sessions, the latter by
    agent, must contain `query` in their title, agent name or session id.
    """
    entries: list[SessionEntry] = []
    by_key: dict[int, SessionEntry] = {}
    by_name: dict[tuple[str, str], SessionEntry] = {}

    def added(agent: str, cwd: str, session_id: str | None) -> SessionEntry:
        entry = SessionEntry(agent, cwd, session_id)
        entries.append(entry)
        if session_id is not None:  # a restarted agent may reuse an id: the first entry keeps it
            by_name.setdefault((agent, session_id), entry)
        return entry

    for one in opened:
        entry = by_key[one.session] = added(one.agent, one.cwd, one.session_id)
        entry.session, entry.title = one.session, one.title
    _add_kept(found, by_key, added)
    for agent, sessions in sorted(listed.items()):
        for session in sessions:
            entry = by_name.get((agent, session.session_id)) or added(agent, session.cwd, session.session_id)
            entry.listed, entry.archived = True, session.archived and entry.session is None
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
    superseding: dict[str, SessionEntry] = {}  # by the id of the older transcript
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
        return True  # the store has searched the transcripts
    return any(query.lower() in text.lower() for text in (entry.title or "", entry.agent, entry.session_id or ""))


def _wanted(page: SessionPage, wanted: SessionsList) -> list[ListedSession]:
    """Return the sessions in the wanted directory: not every agent filters by directory."""
    real = os.path.realpath(wanted.cwd)
    sessions = [one for one in page.sessions if wanted.everywhere or os.path.realpath(one.cwd) == real]
    return [
        ListedSession(one.session_id, one.cwd, one.title, _seconds(one.updated_at), one.archived) for one in sessions
    ]


def _seconds(written: str | None) -> float | None:
    """Convert a time of ISO 8601 to seconds since 1970; None if it is malformed."""
    try:
        return datetime.fromisoformat(written).timestamp() if written else None
    except (ValueError, OverflowError):
        return None
