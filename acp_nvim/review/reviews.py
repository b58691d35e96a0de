"""All that is to be reviewed and can be gone back to, in all workspaces: what the user asks for is done here."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from acp_nvim.limits import ENDS_SECONDS, MEGABYTES
from acp_nvim.process.end_times import ended_at, forget_old
from acp_nvim.review.change import Entry
from acp_nvim.review.checkpoints import Checkpoint, views
from acp_nvim.review.contents import Contents
from acp_nvim.review.decisions import Action, Decisions
from acp_nvim.review.evidence import Evidence, Seen
from acp_nvim.review.kept_ledger import OpenTurn
from acp_nvim.review.ledger import NOBODY, Ledger, TurnLog
from acp_nvim.review.left_behind import LeftBehind
from acp_nvim.review.restoring import Restoring
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.work import Work, WorkJournal
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.ui import events
from acp_nvim.ui.events import Event
from acp_nvim.ui.review_events import Checkpoints, ReviewLoaded
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.private_file import make_directory
from acp_nvim.workspace.roots import Roots

KEEP_SECONDS: Final = 0.5
"""Time in which what is left to review changes more than once before it is written down."""

log = logging.getLogger(__name__)


class Reviews:
    """All review of one host. `state` is the directory that outlives it, and may have `max_bytes`."""

    def __init__(self, files: OpenFiles, publish: Callable[[Event], None], tasks: Tasks) -> None:
        self.state = Path(os.devnull)
        self.max_bytes = int(MEGABYTES * 1e6)
        self.ledger = Ledger(self.contents, publish)
        self.evidence = Evidence(self._ask_git, files.saves)
        self.journal = WorkJournal(tasks.spawn)
        self.tracker = ChangeTracker(self.ledger, files, self.known, self.evidence, self._since)
        self._tasks = tasks
        self.files = files
        self._left_behind = LeftBehind(self.tracker, self.evidence, self.journal, self._ended_at, self.conclude)
        self._publish = publish
        self.on_trouble: list[Callable[[str, str], bool]] = []
        """Are told of trouble in the workspace at a directory, in words; True: the user was told."""
        look_at = self.tracker.look_at
        self.decisions = Decisions(self.ledger, files, look_at, self._of, publish, self._tell)
        self._restoring = Restoring(self.ledger, files, look_at, self._of)
        self._workspaces: dict[str, Workspace] = {}
        self._opening = anyio.Lock()
        self._opened: set[str] = set()
        self._to_keep: anyio.Event | None = None  # set when that has failed

    def __repr__(self) -> str:
        return f"<Reviews {self.ledger!r}>"

    def workspace(self, directory: str) -> Workspace:
        """Return the workspace at a directory, a real path; it is made if there is none."""
        if directory not in self._workspaces:
            tell = partial(self._tell, directory)
            self._workspaces[directory] = Workspace(self.state, directory, self.tracker, tell)
        return self._workspaces[directory]

    def begin(self, state: Path) -> None:
        """What is kept is below that directory. Blocks; what cannot be made there is missing, which the log says."""
        self.state = state
        try:
            self.files.saves.open(state / "saves")
            self.journal.open(state / "work")
            make_directory(Path(self.ends))
        except OSError as error:
            log.warning("what shows who changed a file cannot be kept in %s: %s", state, error)
        forget_old(self.ends, ENDS_SECONDS)

    @property
    def ends(self) -> str:
        """The directory where it is written down when agents ended."""
        return str(self.state / "ended")

    def work(self, session: int, agent: str, roots: Roots) -> Work:
        """Make the record of a session's work; the evidence knows it from now on."""
        made = Work(session, agent, roots, self._ended_at)
        made.write = self.journal.add
        self.evidence.works.append(made)
        return made

    def _ended_at(self, mark: str) -> int | None:
        return ended_at(self.ends, mark)

    def _since(self, path: str) -> int:
        """The time of the last look at the directory that the file is in."""
        return self._of(path).scanner.since

    async def _ask_git(self, seen: Seen, is_first: bool) -> str | None:
        return await self._of(seen.path).git.made(seen, is_first)

    def contents(self, path: str) -> Contents:
        """Those of the workspace that the file is in; outside of all of them, of any."""
        return self._of(path).scanner.contents

    async def known(self, path: str) -> Blob | None:
        """What the last snapshot has of a file. Raises `SnapshotError` when it has nothing of it."""
        return await self._of(path).scanner.known(path)

    async def open(self, directory: str) -> None:
        """Take up what was left there to review, once."""
        async with self._opening:
            if directory in self._opened:
                return
            workspace = self.workspace(directory)
            kept = await workspace.take_over()
            await self._left_behind.take_over(workspace, kept)
            await self.ledger.count_lines(
                [one for one in self.ledger.entries.values() if self._of(one.path) is workspace]
            )
            for one in kept.entries:
                self.ledger.tell(one.path)
            await self.keep()
            self._opened.add(directory)
            self._tasks.spawn(workspace.clean, self.max_bytes)

    async def load(self, root: str, cwd: str) -> None:
        """`open`, and tell the editor when that is over, also when it has failed; `root` is the real path of `cwd`."""
        try:
            await self.open(root)
        finally:
            self._publish(ReviewLoaded(cwd=cwd))

    async def conclude(self, turn: TurnLog, workspace: Workspace) -> Checkpoint | None:
        """The checkpoint of a turn that is over, and kept; None when it has changed nothing."""
        await self.ledger.count_lines(list(turn.changes.values()))
        done = turn.take(self.contents)
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
            await workspace.clean(self.max_bytes)

    async def judge(
        self, action: Action, path: str | None, ids: Collection[int] | None, session: int | None, force: bool = False
    ) -> None:
        """As `Decisions.judge`, and write down what is left to review."""
        await self.decisions.judge(action, path, ids, session, force)
        await self.keep()

    async def list(self, root: str, cwd: str) -> None:
        """Tell the editor what can be gone back to, the newest first; `root` is the real path of `cwd`."""
        await self.open(root)  # who takes over the turn of a dead host makes its checkpoint
        self._publish(Checkpoints(cwd=cwd, checkpoints=views(await self.workspace(root).all_checkpoints())))

    async def plan(self, root: str, checkpoint_id: str, force: bool = False) -> None:
        """Tell the editor what a restore would do; `force`: also to what nobody knows who did it."""
        self._publish(await self._restoring.plan(self.workspace(root), checkpoint_id, force))

    async def restore(self, root: str, checkpoint_id: str, force: bool = False) -> None:
        """Do it, tell the editor what was done, and write down what is left to review."""
        self._publish(await self._restoring.restore(self.workspace(root), checkpoint_id, force))
        await self.keep()

    async def keep(self) -> None:
        """Write down what is left to review."""
        for workspace in list(self._workspaces.values()):
            await workspace.keep(partial(self._entries, workspace), partial(self._turns, workspace.root))

    def _entries(self, workspace: Workspace) -> Sequence[Entry]:
        return [one for one in self.ledger.open() if self._of(one.path) is workspace]

    def _turns(self, root: str) -> Sequence[OpenTurn]:
        running = [turn for turn in self.ledger.logs if turn.active and root in turn.began]
        return [OpenTurn(one.agent, one.prompt, one.began[root], one.session, self.journal.name) for one in running]

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
        for workspace in self._workspaces.values():
            workspace.close()

    def _of(self, path: str) -> Workspace:
        inside = [root for root in self._workspaces if path.startswith(root.rstrip(os.sep) + os.sep)]
        return self._workspaces[max(inside, key=len) if inside else next(iter(self._workspaces))]

    def _tell(self, directory: str, words: str) -> None:
        """In the chats of those who work there; else wherever the user is."""
        if not any([tell(directory, words) for tell in self.on_trouble]):
            self._publish(events.Error(text=words, code="review"))
