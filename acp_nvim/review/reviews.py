"""The review of all workspaces of one host: entry points for the user's commands, and recovery after a dead host."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.contract import events
from acp_nvim.contract.events import Event
from acp_nvim.contract.review_events import CheckpointsListed, ReviewCollecting, ReviewLoaded
from acp_nvim.evidence.evidence import Evidence
from acp_nvim.review.decisions import Action, Decisions
from acp_nvim.review.ledger import Ledger, TurnLog
from acp_nvim.review.outside_files import OutsideFiles
from acp_nvim.review.progress import Progress
from acp_nvim.review.restore import Restoring
from acp_nvim.review.storage import Checkpoint, SavedReview
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.work_journal import WorkJournal
from acp_nvim.review.workspace import Workspace, Workspaces
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.workspace.open_files import OpenFiles

KEEP_SECONDS: Final = 0.5
"""Delay before the review is saved: several changes within it are one write."""

COLLECTING_SECONDS: Final = 20.0
"""Time that a list of checkpoints waits for the last turn: Neovim may be blocked by a prompt of its own."""

log = logging.getLogger(__name__)

_dead_sessions = count(-1, -1)
"""Keys of the sessions of dead hosts."""


class Reviews:
    """All review of one host. `state` is the directory that outlives it."""

    def __init__(self, state: Path, files: OpenFiles, publish: Callable[[Event], None], tasks: Tasks) -> None:
        self.state = state
        self.workspaces = workspaces = Workspaces(self._make_workspace)
        self.ledger = Ledger(workspaces.contents, publish)
        self.evidence = Evidence(lambda seen, is_first: workspaces.git(seen.path).made(seen, is_first), files.saves)
        self.journal = WorkJournal(state, tasks.spawn)
        self.tracker = ChangeTracker(self.ledger, files, workspaces, self.evidence)
        self.outside = OutsideFiles(self.tracker, workspaces)
        self._tasks = tasks
        self.files = files
        self._publish = publish
        self.on_trouble: list[Callable[[str, str], bool]] = []
        """Called with a workspace's directory and a problem in words; True: the user was notified."""
        self._progress = Progress(publish, tasks.spawn, self.tracker.scans)
        self.decisions = Decisions(
            self.tracker, files, workspaces.of, publish, self._notify, self._find_missing, self._progress
        )
        self.tracker.on_missing = lambda path: self._find_missing_soon()
        self._restoring = Restoring(self.tracker, files, workspaces.of, self._progress)
        self._decision_lock = anyio.Lock()  # what the user decides is carried out in that order
        self._opening = anyio.Lock()
        self._opened: set[str] = set()
        self._save_task: anyio.Event | None = None  # set if the task failed
        self._missing_task: anyio.Event | None = None
        self._collecting: list[tuple[TurnLog, anyio.Event]] = []
        self._open_journals()

    def _make_workspace(self, directory: str) -> Workspace:
        return Workspace(self.state, directory, self.tracker, partial(self._notify, directory))

    def _open_journals(self) -> None:
        try:
            self.files.saves.open()
            self.journal.open()
        except OSError as error:
            log.warning("evidence of who changed files cannot be stored in %s: %s", self.state, error)

    async def open(self, directory: str) -> None:
        """Take over what dead hosts left to review in the workspace at `directory`, once."""
        async with self._opening:
            if directory in self._opened:
                return
            workspace = self.workspaces.at(directory)
            saved = await workspace.take_over()
            await self._recover(workspace, saved)
            entries = [one for one in self.ledger.entries.values() if self.workspaces.of(one.path) is workspace]
            await self.ledger.count_lines(entries)
            for one in saved.entries:
                self.ledger.publish(one.path)
            await self.keep()
            self._opened.add(directory)
            self._tasks.spawn(workspace.clean, self.workspaces.max_bytes)

    def collects(self, turn: TurnLog, ended: anyio.Event) -> None:
        """Note that the changes of a turn that is over are being collected until `ended` is set."""
        self._collecting = [*((one, event) for one, event in self._collecting if is_running(event)), (turn, ended)]
        self._progress.collects(turn.session, ended)

    async def decided(self) -> None:
        """Wait until what the user has decided so far is carried out."""
        async with self._decision_lock:
            pass

    async def _collected(self, cwd: str | None, concerns: Callable[[TurnLog], bool]) -> None:
        """Wait until the changes of the turns that are over are known; tell the editor first if that takes time."""
        waiting = [ended for turn, ended in self._collecting if is_running(ended) and concerns(turn)]
        if waiting:
            self._publish(ReviewCollecting(cwd=cwd))
        for ended in waiting:
            await ended.wait()

    async def load(self, root: str, cwd: str) -> None:
        """`open`, and tell the editor when that has ended or failed; `root` is the real path of `cwd`.

        Waits for the changes of turns that are over.
        """
        try:
            await self.open(root)
            await self._collected(cwd, lambda turn: turn.roots.contains(root))
            await self._find_missing()
        finally:
            self._publish(ReviewLoaded(cwd=cwd))

    async def _recover(self, workspace: Workspace, saved: SavedReview) -> None:
        """Put what dead hosts left back under review, and judge what has changed since by their evidence."""
        logs = [TurnLog.left(next(_dead_sessions), turn.agent, workspace.root) for turn in saved.turns]
        works = []
        for turn, left in zip(logs, saved.turns, strict=True):
            turn.prompt = left.prompt
            works.append(await self.journal.read_work(left.evidence, left.session, turn))
        self.ledger.logs += logs
        self.evidence.works += works
        outside = self.outside.take_over(workspace, saved, works)
        if saved.turns:  # buffers that followed the disk meanwhile were judged without this evidence
            await self.files.wait_until_free(workspace.root)
            for path in (*self.ledger.known_below(workspace.root), *self.workspaces.adopted(workspace.root)):
                self.ledger.accounted.pop(path, None)
                self.evidence.forget_accounted(path)
        try:
            # of a file that two dead hosts have left, the first
            for one in {one.path: one for one in reversed(saved.entries)}.values():
                await self.tracker.take_over(one)
            await self.tracker.scanned(outside, are_in_snapshot=False)
            if saved.turns:
                first = min(saved.turns, key=lambda one: one.snapshot.time)
                await workspace.scanner.shadow.take_directories(first.snapshot, first.directories)
                await workspace.scanner.scan_since(first.snapshot)
        except SnapshotError as error:
            log.warning("the changes of unfinished turns in %s are unknown: %s", workspace.root, error)
        finally:
            for turn, work in zip(logs, works, strict=True):
                self.ledger.logs.remove(turn)
                self.evidence.works.remove(work)
            self.tracker.disk.settle(lambda path, _: self.workspaces.of(path) is workspace)
        for turn in logs:
            await self.conclude(turn, workspace)
        for left in saved.turns:
            await anyio.to_thread.run_sync(self.journal.forget, left.evidence)

    async def conclude(self, turn: TurnLog, workspace: Workspace) -> Checkpoint | None:
        """Store and return the checkpoint of a turn that has ended; None if it changed nothing."""
        await self.ledger.count_lines(list(turn.changes.values()))
        done = turn.take(self.workspaces.contents)
        if not done:
            return None
        session = turn.session if turn.session > 0 else None
        made = Checkpoint(kind="turn", agent=turn.agent, prompt=turn.prompt, changes=done, session=session)
        turn.recording = {one.path for one in done}
        try:
            await workspace.add(made)
        finally:
            turn.recording = ()
        self._tasks.spawn(self._clean_after_turn, workspace)
        return made

    async def _clean_after_turn(self, workspace: Workspace) -> None:
        """Clean up after a turn unless an agent works: then refs hold all that is needed.

        Turns may follow each other for hours: then only memory is given back.
        """
        await anyio.sleep(KEEP_SECONDS)
        if not workspace.is_clean and not any(turn.active for turn in self.ledger.logs):
            await workspace.clean(self.workspaces.max_bytes)
        else:
            await self.workspaces.clean_memory()

    async def judge(
        self, action: Action, path: str | None, ids: Collection[int] | None, session: int | None, force: bool = False
    ) -> None:
        """Carry out a decision of the user (see `Decisions.judge`), and save the review.

        One about all files waits for the changes of turns that are over.
        """
        async with self._decision_lock:
            if path is None:
                await self._collected(None, lambda turn: session in (None, turn.session))
            await self.decisions.judge(action, path, ids, session, force)
            await self.keep()

    def _find_missing_soon(self) -> None:
        """Do it outside of the locks of files."""
        if not is_running(self._missing_task):
            self._missing_task = self._tasks.spawn(self._find_missing)

    async def _find_missing(self) -> None:
        """Find out what has become of files under review that are gone: renamed by the user, or deleted."""
        tracker, entries = self.tracker, list(self.ledger.entries)
        missing = await anyio.to_thread.run_sync(lambda: [path for path in entries if tracker.is_missing(path)])
        for workspace in {self.workspaces.of(path) for path in missing}:
            try:
                await workspace.scanner.scan()
            except SnapshotError as error:
                log.warning("it is not known where files of %s are: %s", workspace.root, error)
                await tracker.directories.prune(await tracker.directories.missing(workspace.root))
        for path in missing:
            await tracker.gone(path)

    async def list(self, root: str, cwd: str) -> None:
        """Send the checkpoints to the editor, the newest first; `root` is the real path of `cwd`.

        Waits for those of turns that are over: `COLLECTING_SECONDS` if there are others, else as long as it takes.
        """
        with anyio.move_on_after(COLLECTING_SECONDS) as waited:
            await self._collected(cwd, lambda turn: turn.roots.contains(root))
        if waited.cancelled_caught:
            known = self.workspaces.at(root).newest_checkpoints()
            if await anyio.to_thread.run_sync(next, known, None) is None:
                await self._collected(cwd, lambda turn: turn.roots.contains(root))
        async with self._decision_lock:
            await self.open(root)  # this makes the checkpoints of dead hosts' turns
            checkpoints = await self._restoring.listed(self.workspaces.at(root))
            self._publish(CheckpointsListed(cwd=cwd, checkpoints=checkpoints))

    async def plan(self, root: str, checkpoint_id: str, force: bool = False) -> None:
        """Send the editor what a restore would do; `force` includes changes of unknown origin."""
        async with self._decision_lock:
            self._publish(await self._restoring.plan(self.workspaces.at(root), checkpoint_id, force))

    async def restore(self, root: str, checkpoint_id: str, force: bool = False) -> None:
        """Restore a checkpoint, send the editor what was done, and save the review."""
        async with self._decision_lock:
            self._publish(await self._restoring.restore(self.workspaces.at(root), checkpoint_id, force))
            await self.keep()

    async def keep(self) -> None:
        """Save what is left to review, for the next host."""
        await self.workspaces.save(self.ledger, self.journal.name)

    def keep_soon(self) -> None:
        """Save the review in `KEEP_SECONDS`, once for all changes until then."""
        if not is_running(self._save_task):
            self._save_task = self._tasks.spawn(self._keep_later)

    async def _keep_later(self) -> None:
        await anyio.sleep(KEEP_SECONDS)
        self._save_task = None
        await self.keep()

    def close(self) -> None:
        """Write what is still waiting, and release all locks, when the process ends."""
        self.journal.close()
        self.workspaces.close()

    def _notify(self, directory: str, words: str) -> None:
        """Report a problem in the chats of the sessions that work there; if there is none, wherever the user is."""
        if not any([notify(directory, words) for notify in self.on_trouble]):
            self._publish(events.Error(text=words, code="review"))
