"""All that is to be reviewed and can be gone back to, in all workspaces: what the user asks for is done here."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from acp_nvim.review.checkpoints import Checkpoint, views
from acp_nvim.review.decisions import Action, Decisions
from acp_nvim.review.evidence import Evidence
from acp_nvim.review.ledger import NOBODY, Ledger, TurnLog
from acp_nvim.review.left_behind import LeftBehind
from acp_nvim.review.restoring import Restoring
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.work_journal import WorkJournal
from acp_nvim.review.workspace import Workspace
from acp_nvim.review.workspaces import Workspaces
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.ui import events
from acp_nvim.ui.events import Event
from acp_nvim.ui.review_events import Checkpoints, ReviewLoaded
from acp_nvim.workspace.open_files import OpenFiles

KEEP_SECONDS: Final = 0.5
"""Time in which what is left to review changes more than once before it is written down."""

log = logging.getLogger(__name__)


class Reviews:
    """All review of one host. `state` is the directory that outlives it."""

    def __init__(self, files: OpenFiles, publish: Callable[[Event], None], tasks: Tasks) -> None:
        self.state = Path(os.devnull)
        self.workspaces = workspaces = Workspaces(self._make_workspace)
        self.ledger = Ledger(workspaces.contents, publish)
        self.evidence = Evidence(workspaces.made_by_git, files.saves)
        self.journal = WorkJournal(tasks.spawn)
        self.tracker = ChangeTracker(self.ledger, files, workspaces.known, self.evidence, workspaces.since)
        self._tasks = tasks
        self.files = files
        self._left_behind = LeftBehind(self.tracker, self.evidence, self.journal, self.conclude)
        self._publish = publish
        self.on_trouble: list[Callable[[str, str], bool]] = []
        """Are told of trouble in the workspace at a directory, in words; True: the user was told."""
        look_at = self.tracker.look_at
        self.decisions = Decisions(self.ledger, files, look_at, workspaces.of, publish, self._tell)
        self._restoring = Restoring(self.ledger, files, look_at, workspaces.of)
        self._opening = anyio.Lock()
        self._opened: set[str] = set()
        self._to_keep: anyio.Event | None = None  # set when that has failed

    def __repr__(self) -> str:
        return f"<Reviews {self.ledger!r}>"

    def _make_workspace(self, directory: str) -> Workspace:
        return Workspace(self.state, directory, self.tracker, partial(self._tell, directory))

    def begin(self, state: Path) -> None:
        """What is kept is below that directory. Blocks; what cannot be made there is missing, which the log says."""
        self.state = state
        try:
            self.files.saves.open(state / "saves")
            self.journal.open(state)
        except OSError as error:
            log.warning("what shows who changed a file cannot be kept in %s: %s", state, error)

    async def open(self, directory: str) -> None:
        """Take up what was left there to review, once."""
        async with self._opening:
            if directory in self._opened:
                return
            workspace = self.workspaces.at(directory)
            kept = await workspace.take_over()
            await self._left_behind.take_over(workspace, kept)
            await self.ledger.count_lines(
                [one for one in self.ledger.entries.values() if self.workspaces.of(one.path) is workspace]
            )
            for one in kept.entries:
                self.ledger.tell(one.path)
            await self.keep()
            self._opened.add(directory)
            self._tasks.spawn(workspace.clean, self.workspaces.max_bytes)

    async def load(self, root: str, cwd: str) -> None:
        """`open`, and tell the editor when that is over, also when it has failed; `root` is the real path of `cwd`."""
        try:
            await self.open(root)
        finally:
            self._publish(ReviewLoaded(cwd=cwd))

    async def conclude(self, turn: TurnLog, workspace: Workspace) -> Checkpoint | None:
        """The checkpoint of a turn that is over, and kept; None when it has changed nothing."""
        await self.ledger.count_lines(list(turn.changes.values()))
        done = turn.take(self.workspaces.contents)
        if not done:
            return None
        session = turn.session if turn.session > NOBODY else None
        made = Checkpoint(kind="turn", agent=turn.agent, prompt=turn.prompt, changes=done, session=session)
        await workspace.add(made)
        self._tasks.spawn(self._clean_when_idle, workspace)
        return made

    async def _clean_when_idle(self, workspace: Workspace) -> None:
        """After a turn, when no agent works: then all that is needed is held. The next snapshot stops it."""
        await anyio.sleep(KEEP_SECONDS)
        if not any(turn.active for turn in self.ledger.logs):
            await workspace.clean(self.workspaces.max_bytes)

    async def judge(
        self, action: Action, path: str | None, ids: Collection[int] | None, session: int | None, force: bool = False
    ) -> None:
        """As `Decisions.judge`, and write down what is left to review."""
        await self.decisions.judge(action, path, ids, session, force)
        await self.keep()

    async def list(self, root: str, cwd: str) -> None:
        """Tell the editor what can be gone back to, the newest first; `root` is the real path of `cwd`."""
        await self.open(root)  # who takes over the turn of a dead host makes its checkpoint
        self._publish(Checkpoints(cwd=cwd, checkpoints=views(await self.workspaces.at(root).all_checkpoints())))

    async def plan(self, root: str, checkpoint_id: str, force: bool = False) -> None:
        """Tell the editor what a restore would do; `force`: also to what nobody knows who did it."""
        self._publish(await self._restoring.plan(self.workspaces.at(root), checkpoint_id, force))

    async def restore(self, root: str, checkpoint_id: str, force: bool = False) -> None:
        """Do it, tell the editor what was done, and write down what is left to review."""
        self._publish(await self._restoring.restore(self.workspaces.at(root), checkpoint_id, force))
        await self.keep()

    async def keep(self) -> None:
        """Write down what is left to review."""
        await self.workspaces.keep(self.ledger, self.journal.name)

    def keep_soon(self) -> None:
        """Keep the ledger in `KEEP_SECONDS`, once for all changes until then."""
        if not is_running(self._to_keep):
            self._to_keep = self._tasks.spawn(self._keep_later)

    async def _keep_later(self) -> None:
        await anyio.sleep(KEEP_SECONDS)
        self._to_keep = None
        await self.keep()

    def close(self) -> None:
        """The process ends: others may have what it held."""
        self.journal.close()
        self.workspaces.close()

    def _tell(self, directory: str, words: str) -> None:
        """In the chats of those who work there; else wherever the user is."""
        if not any([tell(directory, words) for tell in self.on_trouble]):
            self._publish(events.Error(text=words, code="review"))
