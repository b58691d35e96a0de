"""Takes what begins a session with something before it: a conversation to go on with, a work tree to be made."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.lowlevel
import msgspec

from acp_nvim.editor import Editor
from acp_nvim.errors import Failure
from acp_nvim.events import Reset
from acp_nvim.handlers.method import Methods
from acp_nvim.history.keeper import Keeper
from acp_nvim.history.recalled import Recalled
from acp_nvim.history.records import About
from acp_nvim.limits.sessions import COPIED_BLOCKS
from acp_nvim.messages import Open
from acp_nvim.session import failures
from acp_nvim.session.kept_views import in_order, kept_of, shown
from acp_nvim.session.opening import How
from acp_nvim.session.session import Session
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.worktrees.git import WorktreeError
from acp_nvim.worktrees.worktree import Worktree, Worktrees

NEW_SESSION = "The agent begins a new session: it does not know what is above."


class TakeUp(Open, kw_only=True):
    """`take_up`: like `open`, with what was said before: in a kept `transcript`, or in the open session `source`.

    `session_id`: what the agent knows of it, `how` says in which way; without it the agent begins a new session.
    `worktree`: the session works in a work tree of that name. `shown`: the editor shows already what was said.
    """

    session_id: str | None = None
    how: How = "go_on"
    transcript: str | None = None
    source: int | None = None
    worktree: str | None = None
    shown: bool = False


class _Prepared:
    """What a session begins with."""

    def __init__(self) -> None:
        self.worktree: Worktree | None = None
        self.recalled: Recalled | None = None
        self.remarks: list[str] = []
        self.problems: list[str] = []
        self.refusal: Failure | None = None


class SessionsTakingUp:
    """The message about it; `make` makes a session. What Lua says of one that is not there yet waits, in order."""

    def __init__(
        self,
        keeper: Keeper,
        sessions: Mapping[int, Session],
        make: Callable[[Open, Recalled | None], Session],
        receive: Callable[[str, Any], None],
        editor: Editor,
        tasks: Tasks,
    ) -> None:
        self.worktrees: Worktrees | None = None
        self._keeper = keeper
        self._sessions = sessions
        self._make = make
        self._receive = receive
        self._editor = editor
        self._tasks = tasks
        self._waiting: dict[int, list[tuple[str, Any]]] = {}
        self._preparing: dict[int, anyio.Event] = {}
        self.methods: Methods = {"take_up": (TakeUp, self._take_up)}

    def __repr__(self) -> str:
        return f"<SessionsTakingUp {list(self._waiting)}>"

    def defers(self, method: str, params: Any) -> bool:
        """Whether that is for a session which is not there yet; then it is said again when it is."""
        key = params.get("session", 0) if isinstance(params, dict) else 0
        if not is_running(self._preparing.get(key)):
            return False
        self._waiting[key].append((method, params))
        return True

    def worktree_at(self, cwd: str) -> str | None:
        """The directory of the work tree of ours in which that is."""
        return self.worktrees.root_of(_real(cwd)) if self.worktrees is not None else None

    def _take_up(self, wanted: TakeUp) -> None:
        session = self._sessions.get(wanted.session)
        if session is not None:
            _begin(session, wanted)
        else:
            self._waiting[wanted.session] = []
            self._preparing[wanted.session] = self._tasks.spawn(self._prepare, wanted)

    async def _prepare(self, wanted: TakeUp) -> None:
        ready = _Prepared()
        try:
            await self._make_worktree(wanted, ready)
            await self._recall(wanted, ready)
            await self._go_on(wanted, ready)
        finally:
            del self._preparing[wanted.session]
            for method, params in self._waiting.pop(wanted.session):
                self._receive(method, params)

    async def _make_worktree(self, wanted: TakeUp, ready: _Prepared) -> None:
        if wanted.worktree is None or self.worktrees is None:
            return
        try:
            ready.worktree = await self.worktrees.make(wanted.cwd, wanted.worktree)
        except WorktreeError as error:
            ready.refusal = failures.no_worktree(wanted.agent or "", str(error))
        else:
            ready.remarks.append(
                f"This session works in the worktree {ready.worktree.path}, on {ready.worktree.branch}."
            )
            ready.remarks += ready.worktree.remarks

    async def _recall(self, wanted: TakeUp, ready: _Prepared) -> None:
        """What was said before. What cannot be read is told, and the agent may know it all the same."""
        source = self._sessions.get(wanted.source) if wanted.source is not None else None
        if source is not None:
            ready.recalled = await _copy(source)
            return
        transcript_id = wanted.transcript
        if transcript_id is None and wanted.session_id is not None and wanted.agent is not None:
            transcript_id = await self._keeper.newest(wanted.agent, wanted.session_id, _real(wanted.cwd))
        if transcript_id is None:
            return
        copied = wanted.how == "fork" or wanted.session_id is None
        try:
            ready.recalled = await self._keeper.recall(transcript_id, copied)
        except OSError as error:
            ready.problems.append(f"What was said before cannot be read: {error.strerror or error}.")
        else:
            if copied:
                ready.recalled.about = About(title=ready.recalled.about.title)

    async def _go_on(self, wanted: TakeUp, ready: _Prepared) -> None:
        if ready.recalled is not None and not wanted.shown:
            await self._show(wanted.session, ready.recalled)
        worktree = ready.worktree
        place = msgspec.structs.replace(wanted, cwd=worktree.cwd) if worktree is not None else wanted
        session = self._make(place, ready.recalled)
        session.connecting.refusal = ready.refusal
        if wanted.shown:
            session.narrator.transcript.told_before = len(session.narrator.transcript)
        for words in ready.problems:
            session.narrator.notice("warn", words)
        for words in ready.remarks:
            session.narrator.notice("info", words)
        if wanted.how == "fork":
            session.narrator.notice(
                "info", "This is a fork: the session that it comes from goes on without what follows."
            )
        elif ready.recalled is not None and wanted.session_id is None:
            session.narrator.notice("warn", NEW_SESSION)
        _begin(session, wanted)

    async def _show(self, key: int, recalled: Recalled) -> None:
        """All that was said before, a few blocks at a time; the session, which may say more, is made afterwards."""
        self._editor.publish(Reset(session=key))
        for number, block in enumerate(in_order(recalled.blocks)):
            for event in shown(key, block):
                self._editor.publish(event)
            if number % COPIED_BLOCKS == 0:
                await anyio.lowlevel.checkpoint()


def _begin(session: Session, wanted: TakeUp) -> None:
    if wanted.session_id is not None:
        session.restore(wanted.session_id, wanted.how)
    else:
        session.open()


def _real(path: str) -> str:
    return os.path.realpath(path)


async def _copy(source: Session) -> Recalled:
    """What was said in an open session until now."""
    transcript = source.narrator.transcript
    recalled = Recalled(about=About(title=source.narrator.facts.title))
    for number in range(1, len(transcript) + 1):
        recalled.blocks.append(list(kept_of(transcript.shown(number))))
        if number % COPIED_BLOCKS == 0:
            await anyio.lowlevel.checkpoint()
    return recalled
