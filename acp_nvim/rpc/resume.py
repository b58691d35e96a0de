"""Handles `resume`: creates a session that continues a conversation, or that works in a new work tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

import anyio
import anyio.lowlevel
import msgspec

from acp_nvim.contract.editor import Editor
from acp_nvim.contract.events import Reset
from acp_nvim.contract.messages import Handlers, Open, Resume
from acp_nvim.errors import Failure
from acp_nvim.history.records import About, KeptEvent, Recalled
from acp_nvim.history.store import TranscriptStore
from acp_nvim.session.services import FIRST_CHILD_KEY
from acp_nvim.session.session import Session
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.transcript.kept_views import in_order, shown
from acp_nvim.worktrees.worktree import Worktree, WorktreeError, Worktrees

COPIED_BLOCKS: Final = 5
"""Blocks of a session that are copied or published at once, so that a long session does not block the event loop."""

NOT_STARTED: Final = "Nothing was started, and prompts of this chat are not sent: :AcpChat! begins another chat."
NEW_SESSION = "The agent begins a new session: it does not know what is above."


class _Prepared(msgspec.Struct):
    """The initial state of a session."""

    worktree: Worktree | None = None
    recalled: Recalled | None = None
    remarks: list[str] = msgspec.field(default_factory=list)
    problems: list[str] = msgspec.field(default_factory=list)
    refusal: Failure | None = None


class ResumeHandlers:
    """Handles `resume`; `make` creates a session. Messages for a session that is being prepared wait, in order."""

    def __init__(
        self,
        store: TranscriptStore,
        sessions: Mapping[int, Session],
        make: Callable[[Open, Recalled | None], Session],
        receive: Callable[[str, Any], None],
        editor: Editor,
        tasks: Tasks,
        worktrees: Worktrees,
    ) -> None:
        self.worktrees = worktrees
        self._store = store
        self._sessions = sessions
        self._make = make
        self._receive = receive
        self._editor = editor
        self._tasks = tasks
        self._waiting: dict[int, list[tuple[str, Any]]] = {}
        self._preparing: dict[int, anyio.Event] = {}
        self.handlers: Handlers = {Resume: self._resume}

    def defers(self, method: str, params: Any) -> bool:
        """Return whether a message is for a session that is being prepared; it is received again afterwards."""
        key = params.get("session", 0) if isinstance(params, dict) else 0
        if not is_running(self._preparing.get(key)):
            return False
        self._waiting[key].append((method, params))
        return True

    def worktree_at(self, cwd: str) -> str | None:
        """Return the directory of the acp_nvim work tree that contains `cwd`, if there is one."""
        return self.worktrees.root_of(_real(cwd))

    def _resume(self, wanted: Resume) -> None:
        session = self._sessions.get(wanted.session)
        if session is not None:
            _begin(session, wanted)
        elif wanted.session <= FIRST_CHILD_KEY:  # the others are opened by agents
            self._waiting[wanted.session] = []
            self._preparing[wanted.session] = self._tasks.spawn(self._prepare, wanted)

    async def _prepare(self, wanted: Resume) -> None:
        ready = _Prepared()
        try:
            await self._make_worktree(wanted, ready)
            await self._recall(wanted, ready)
            await self._create(wanted, ready)
        finally:
            del self._preparing[wanted.session]
            for method, params in self._waiting.pop(wanted.session):
                self._receive(method, params)

    async def _make_worktree(self, wanted: Resume, ready: _Prepared) -> None:
        if wanted.worktree is None:
            return
        try:
            ready.worktree = await self.worktrees.make(wanted.cwd, wanted.worktree)
        except WorktreeError as error:
            what, agent = f"No worktree could be made: {error}.", wanted.agent or ""
            ready.refusal = Failure("no_worktree", what, NOT_STARTED, agent)
        else:
            ready.remarks.append(
                f"This session works in the worktree {ready.worktree.path}, on {ready.worktree.branch}."
            )
            ready.remarks += ready.worktree.remarks

    async def _recall(self, wanted: Resume, ready: _Prepared) -> None:
        """Read the conversation. If that fails the user is told, but the agent may still know the conversation."""
        source = self._sessions.get(wanted.source) if wanted.source is not None else None
        if source is not None:
            ready.recalled = await _copy(source)
            return
        transcript_id = wanted.transcript
        if transcript_id is None and wanted.session_id is not None and wanted.agent is not None:
            transcript_id = await self._store.newest(wanted.agent, wanted.session_id, _real(wanted.cwd))
        if transcript_id is None:
            return
        copied = wanted.how == "fork" or wanted.session_id is None
        try:
            ready.recalled = await self._store.recall(transcript_id, copied)
        except OSError as error:
            ready.problems.append(f"What was said before cannot be read: {error.strerror or error}.")
        else:
            if copied:
                ready.recalled.about = About(title=ready.recalled.about.title)

    async def _create(self, wanted: Resume, ready: _Prepared) -> None:
        if ready.recalled is not None and not wanted.shown:
            await self._show(wanted.session, ready.recalled)
        worktree = ready.worktree
        place = msgspec.structs.replace(wanted, cwd=worktree.cwd) if worktree is not None else wanted
        session = self._make(place, ready.recalled)
        session.connecting.refusal = ready.refusal
        if wanted.shown:
            session.presenter.transcript.told_before = len(session.presenter.transcript)
        for words in ready.problems:
            session.presenter.notice("warn", words)
        for words in ready.remarks:
            session.presenter.notice("info", words)
        if wanted.how == "fork":
            session.presenter.notice(
                "info", "This is a fork: the session that it comes from goes on without what follows."
            )
        elif ready.recalled is not None and wanted.session_id is None:
            session.presenter.notice("warn", NEW_SESSION)
        _begin(session, wanted)

    async def _show(self, key: int, recalled: Recalled) -> None:
        """Publish the conversation, a few blocks at a time."""
        self._editor.publish(Reset(session=key))
        for number, block in enumerate(in_order(recalled.blocks)):
            for event in shown(key, block):
                self._editor.publish(event)
            if number % COPIED_BLOCKS == 0:
                await anyio.lowlevel.checkpoint()


def _begin(session: Session, wanted: Resume) -> None:
    if wanted.session_id is not None:
        session.restore(wanted.session_id, wanted.how)
    else:
        session.open()


def _real(path: str) -> str:
    return os.path.realpath(path)


async def _copy(source: Session) -> Recalled:
    """Return the conversation of an open session until now."""
    transcript = source.presenter.transcript
    recalled = Recalled(about=About(title=source.presenter.metadata.title))
    for number in range(1, len(transcript) + 1):
        recalled.blocks.append([one for one in transcript.shown(number) if isinstance(one, KeptEvent)])
        if number % COPIED_BLOCKS == 0:
            await anyio.lowlevel.checkpoint()
    return recalled
