"""Handles messages that close and delete sessions, and that inspect and remove work trees."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from contextlib import suppress

from acp_nvim.connection.calls import send
from acp_nvim.connection.peers import AgentLeases
from acp_nvim.contract import messages
from acp_nvim.contract.agent_messages import SessionArchive, SessionRename
from acp_nvim.contract.editor import Editor
from acp_nvim.contract.messages import Handlers
from acp_nvim.contract.session_events import SessionDone, WorktreeSeen
from acp_nvim.errors import FailureError
from acp_nvim.history.store import TranscriptStore
from acp_nvim.session.journal import Journal
from acp_nvim.session.session import Session
from acp_nvim.worktrees.worktree import WorktreeError, inspect, remove


class SessionHandlers:
    """Closes and deletes `sessions`, also at their `agents`.

    `worktree_at` returns the root of the acp_nvim work tree that contains a path, or None.
    """

    def __init__(
        self,
        sessions: MutableMapping[int, Session],
        store: TranscriptStore,
        journal: Journal,
        agents: AgentLeases,
        worktree_at: Callable[[str], str | None],
        editor: Editor,
    ) -> None:
        self._sessions = sessions
        self._store = store
        self._journal = journal
        self._agents = agents
        self._worktree_at = worktree_at
        self._editor = editor
        self.handlers: Handlers = {
            messages.SessionClose: self._close,
            messages.SessionDelete: self._delete,
            SessionRename: self._rename,
            SessionArchive: self._archive,
            messages.WorktreeLook: self._look,
            messages.WorktreeRemove: self._remove,
        }

    async def _close(self, wanted: messages.SessionClose) -> None:
        await self._end(wanted.session)
        self._editor.publish(SessionDone(id=wanted.id))

    async def _end(self, key: int | None) -> None:
        session = self._sessions.pop(key, None) if key is not None else None
        if session is not None:
            await session.close()
            await self._store.end(session.key)
        if key is not None:
            await self._journal.forget(key)

    async def _delete(self, wanted: messages.SessionDelete) -> None:
        """Delete a session at its agent, and then its transcripts here; stop at the first failure."""
        places = []
        try:
            await self._end(wanted.session)
            if wanted.session_id is not None:
                peer = await self._agents.peer(wanted.agent, wanted.cwd)
                await send(peer, peer.dialect.delete_session(wanted.session_id))
                places.append(f"at {wanted.agent}")
            for transcript_id in wanted.transcripts:
                with suppress(FileNotFoundError):
                    await self._store.delete(transcript_id)
            if wanted.transcripts:
                places.append("here")
        except FailureError as error:
            self._fails(wanted.id, f"nothing was deleted: {error.failure}")
        except OSError as error:
            self._fails(wanted.id, f"what is kept here is not deleted: {error.strerror or error}")
        else:
            self._editor.publish(SessionDone(id=wanted.id, words=f"deleted {' and '.join(places)}"))

    async def _rename(self, wanted: SessionRename) -> None:
        try:
            peer = await self._agents.peer(wanted.agent, wanted.cwd)
            title = await send(peer, peer.dialect.set_title(wanted.session_id, wanted.title))
        except FailureError as error:
            self._fails(wanted.id, f"it is not renamed: {error.failure}")
            return
        session = self._sessions.get(wanted.session or 0)
        if session is not None and session.session_id == wanted.session_id:
            session.presenter.metadata.title = title
            session.presenter.publish_status()
        self._editor.publish(SessionDone(id=wanted.id, words=f"renamed to {title!r}"))

    async def _archive(self, wanted: SessionArchive) -> None:
        """Archive a session, which its agent closes, or undo that."""
        try:
            peer = await self._agents.peer(wanted.agent, wanted.cwd)
            if wanted.archived and peer.abilities.archive:
                await self._end(wanted.session)
            await send(peer, peer.dialect.archive_session(wanted.session_id, wanted.archived))
        except FailureError as error:
            problem = "it is not archived" if wanted.archived else "it stays archived"
            self._fails(wanted.id, f"{problem}: {error.failure}")
        else:
            words = "archived; :AcpSessions ++archived lists it" if wanted.archived else "not archived any more"
            self._editor.publish(SessionDone(id=wanted.id, words=words))

    def _fails(self, question: int, problem: str) -> None:
        self._editor.publish(SessionDone(id=question, problem=problem))

    async def _look(self, wanted: messages.WorktreeLook) -> None:
        path = self._worktree_at(wanted.path)
        if path is None:
            self._editor.publish(WorktreeSeen(id=wanted.id, path=""))
            return
        try:
            seen = await inspect(path)
        except WorktreeError as error:
            event = WorktreeSeen(id=wanted.id, path=path, problem=str(error))
        else:
            event = WorktreeSeen(
                id=wanted.id, path=seen.path, branch=seen.branch, changed=seen.changed, commits=seen.commits
            )
        self._editor.publish(event)

    async def _remove(self, wanted: messages.WorktreeRemove) -> None:
        path = self._worktree_at(wanted.path)
        if path is None:
            self._fails(wanted.id, f"{wanted.path} is no worktree of ours")
            return
        try:
            words = await remove(path, wanted.force)
        except WorktreeError as error:
            self._fails(wanted.id, f"the worktree is not removed: {error}")
        else:
            self._editor.publish(SessionDone(id=wanted.id, words=words))
