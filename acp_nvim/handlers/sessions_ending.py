"""Takes that the user wants to be done with a session: it is closed, or deleted, and with it a work tree, perhaps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress

import msgspec

from acp_nvim.editor import Editor
from acp_nvim.errors import FailureError
from acp_nvim.handlers.method import Methods
from acp_nvim.history.keeper import Keeper
from acp_nvim.session.asked_agents import AskedAgents
from acp_nvim.session.closing import close
from acp_nvim.session.session import Session
from acp_nvim.session_events import SessionDone, WorktreeSeen
from acp_nvim.tasks import Tasks
from acp_nvim.worktrees.git import WorktreeError
from acp_nvim.worktrees.worktree import look, remove


class CloseSession(msgspec.Struct):
    """`session_close`: that chat is closed for good; the agent may forget what it holds of the session in memory."""

    id: int
    session: int


class DeleteSession(msgspec.Struct):
    """`session_delete`: at the agent, when there is a `session_id`; then `transcripts` that were kept.

    `session`: it is open here, and closed first.
    """

    id: int
    agent: str
    cwd: str
    session_id: str | None = None
    transcripts: list[str] = []
    session: int | None = None


class LookAtWorktree(msgspec.Struct):
    """`worktree_look`: what would be lost with the work tree in which that path is."""

    id: int
    path: str


class RemoveWorktree(LookAtWorktree, kw_only=True):
    """`worktree_remove`; `force`: what is changed there and not committed is lost."""

    force: bool = False


class SessionsEnding:
    """The messages about it; `worktree_at` says in which work tree of ours a path is."""

    def __init__(
        self,
        sessions: MutableMapping[int, Session],
        keeper: Keeper,
        asked: AskedAgents,
        worktree_at: Callable[[str], str | None],
        editor: Editor,
        tasks: Tasks,
    ) -> None:
        self._sessions = sessions
        self._keeper = keeper
        self._asked = asked
        self._worktree_at = worktree_at
        self._editor = editor
        self._tasks = tasks
        self.methods: Methods = {
            "session_close": (CloseSession, self._starts(self._close)),
            "session_delete": (DeleteSession, self._starts(self._delete)),
            "worktree_look": (LookAtWorktree, self._starts(self._look)),
            "worktree_remove": (RemoveWorktree, self._starts(self._remove)),
        }

    def __repr__(self) -> str:
        return f"<SessionsEnding {len(self._sessions)}>"

    def _starts(self, act: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        def start(wanted: object) -> None:
            self._tasks.spawn(act, wanted)

        return start

    async def _close(self, wanted: CloseSession) -> None:
        await self._end(wanted.session)
        self._editor.publish(SessionDone(id=wanted.id))

    async def _end(self, key: int | None) -> None:
        session = self._sessions.pop(key, None) if key is not None else None
        if session is not None:
            await close(session)
            await self._keeper.end(session.key)

    async def _delete(self, wanted: DeleteSession) -> None:
        """What fails keeps what comes after it."""
        places = []
        try:
            await self._end(wanted.session)
            if wanted.session_id is not None:
                peer = await self._asked.peer(wanted.agent, wanted.cwd)
                await peer.calls.delete_session(wanted.session_id)
                places.append(f"at {wanted.agent}")
            for transcript_id in wanted.transcripts:
                with suppress(FileNotFoundError):
                    await self._keeper.delete(transcript_id)
            if wanted.transcripts:
                places.append("here")
        except FailureError as error:
            self._fails(wanted.id, f"nothing was deleted: {error.failure}")
        except OSError as error:
            self._fails(wanted.id, f"what is kept here is not deleted: {error.strerror or error}")
        else:
            self._editor.publish(SessionDone(id=wanted.id, words=f"deleted {' and '.join(places)}"))

    def _fails(self, question: int, problem: str) -> None:
        self._editor.publish(SessionDone(id=question, problem=problem))

    async def _look(self, wanted: LookAtWorktree) -> None:
        path = self._worktree_at(wanted.path)
        if path is None:
            self._editor.publish(WorktreeSeen(id=wanted.id, path=""))
            return
        try:
            seen = await look(path)
        except WorktreeError as error:
            self._editor.publish(WorktreeSeen(id=wanted.id, path=path, problem=str(error)))
        else:
            self._editor.publish(
                WorktreeSeen(
                    id=wanted.id, path=seen.path, branch=seen.branch, changed=seen.changed, commits=seen.commits
                )
            )

    async def _remove(self, wanted: RemoveWorktree) -> None:
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
