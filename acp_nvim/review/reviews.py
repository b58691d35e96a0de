"""All that is to be reviewed and can be gone back to, in all workspaces: what the user asks for is done here."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import anyio

from acp_nvim import events
from acp_nvim.events import Event
from acp_nvim.limits import KEEP_SECONDS
from acp_nvim.limits.evidence import ENDS_SECONDS
from acp_nvim.limits.state import MEGABYTES
from acp_nvim.process.last_moments import ended_at, forget_old
from acp_nvim.review.checkpoints import Checkpoint, views
from acp_nvim.review.contents import Contents
from acp_nvim.review.counting import count
from acp_nvim.review.entry import Entry
from acp_nvim.review.evidence import Evidence, Seen, is_proven
from acp_nvim.review.judging import Judging
from acp_nvim.review.kept_ledger import OpenTurn
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.left_behind import LeftBehind
from acp_nvim.review.rejecting import Rejected, Rejecting
from acp_nvim.review.restoring import Restoring
from acp_nvim.review.turn_log import NOBODY, TurnLog
from acp_nvim.review.witness import Witness
from acp_nvim.review.work import Work
from acp_nvim.review.work_journal import WorkJournal
from acp_nvim.review.workspace import Workspace
from acp_nvim.review.write_ahead import WriteAhead
from acp_nvim.review_events import Checkpoints, Judged, LeftFile, Restored, RestorePlan
from acp_nvim.snapshots.failures import SnapshotError
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.private_file import make_directory
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.roots import Roots

log = logging.getLogger(__name__)

Action = Literal["keep", "reject", "mine", "theirs", "both"]


class Reviews:
    """Of one host. `state` is the directory that outlives it, and may have `max_bytes`."""

    def __init__(self, files: OpenFiles, publish: Callable[[Event], None], tasks: Tasks) -> None:
        self.state = Path(os.devnull)
        self.max_bytes = int(MEGABYTES * 1e6)
        self.ledger = Ledger(self.contents, publish)
        self.evidence = Evidence(self._ask_git, files.saves)
        self.journal = WorkJournal(tasks.spawn)
        self.witness = Witness(self.ledger, files, self.known, self.evidence, self._since)
        self.judging = Judging(self.ledger, files, self.witness.look_at)
        self._tasks = tasks
        self.files = files
        self._left_behind = LeftBehind(self.witness, self.evidence, self.journal, self._ended_at, self.conclude)
        self._restoring = Restoring(self.ledger, files, self.witness.look_at)
        self._publish = publish
        self.on_trouble: list[Callable[[str, str], bool]] = []
        """Are told of trouble in the workspace at a directory, in words; True: the user was told."""
        self._rejecting = Rejecting(self.judging, self._of, self._tell)
        self._workspaces: dict[str, Workspace] = {}
        self._opening = anyio.Lock()
        self._opened: set[str] = set()
        self._to_keep: anyio.Event | None = None  # set when that has failed

    def __repr__(self) -> str:
        return f"<Reviews {self.ledger!r}>"

    def workspace(self, directory: str) -> Workspace:
        """That at a directory, a real path."""
        if directory not in self._workspaces:
            tell = partial(self._tell, directory)
            self._workspaces[directory] = Workspace(self.state, directory, self.witness, tell)
        return self._workspaces[directory]

    def begin(self, state: Path) -> None:
        """What is kept is below that directory. Blocks; what cannot be made there is missing, which the log says."""
        self.state = state
        try:
            self.evidence.open(state / "saves")
            self.journal.open(state / "work")
            make_directory(Path(self.moments))
        except OSError as error:
            log.warning("what shows who changed a file cannot be kept in %s: %s", state, error)
        forget_old(self.moments, ENDS_SECONDS)

    @property
    def moments(self) -> str:
        """The directory where it is written down when agents ended."""
        return str(self.state / "ended")

    def work(self, session: int, agent: str, roots: Roots) -> Work:
        """That of a session, from now on known to the evidence."""
        made = Work(session, agent, roots, self._ended_at)
        made.write = self.journal.add
        self.evidence.works.append(made)
        return made

    def _ended_at(self, mark: str) -> int | None:
        return ended_at(self.moments, mark)

    def _since(self, path: str) -> int:
        """The time of the last look at the directory that the file is in."""
        return self._of(path).scanner.since

    async def _ask_git(self, seen: Seen, is_first: bool) -> str | None:
        if seen.before == seen.after:
            return None
        git = self._of(seen.path).git
        return await git.made(seen.path, seen.before, seen.after, seen.changed, seen.since, is_first)

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
            await count([one for one in self.ledger.entries.values() if self._of(one.path) is workspace], self.contents)
            for one in kept.entries:
                self.ledger.tell(one.path)
            await self.keep()
            self._opened.add(directory)
            self._tasks.spawn(workspace.clean, self.max_bytes)

    async def conclude(self, turn: TurnLog, workspace: Workspace) -> Checkpoint | None:
        """The checkpoint of a turn that is over, and kept; None when it has changed nothing."""
        await count(list(turn.changes.values()), self.contents)
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
        """What the user decided: of hunks, of a file, or of all that a session (or anybody) has changed.

        All: what is proven to be the agent's; `force`: also what nobody knows who did it.
        """
        if path is None:
            await self._judge_all(action, self.ledger.open(session), force)
        elif action == "reject":
            await self._reject(path, ids, [])
        else:
            await self._judge(action, path, ids)
        await self.keep()

    async def _judge_all(self, action: Action, entries: Sequence[Entry], force: bool) -> None:
        if action == "reject":
            entries = await self._looked_at(entries)
        taken = [one for one in entries if action != "reject" or is_proven(one.verdict.by, force)]
        left = [LeftFile(one.path, one.verdict.by, one.verdict.why) for one in entries if one not in taken]
        files, undo_id = [one.path for one in taken], ""
        if action == "reject":
            done = await self._reject(None, None, taken)
            files, undo_id = done.files, done.undo_id
        else:
            for entry in taken:
                await self._judge(action, entry.path, None)
        if action in ("keep", "reject"):
            self._publish(Judged(action=action, files=files, left=left, undo_id=undo_id))

    async def _looked_at(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Those that are left, once it is known what the files are now, and who made them so."""
        for entry in entries:
            async with self.files.alone(entry.path):
                await self.witness.look_at(entry.path)
        return [one for one in entries if self.ledger.entries.get(one.path) is one]

    async def list(self, root: str, cwd: str) -> None:
        """Tell the editor what can be gone back to, the newest first; `root` is the real path of `cwd`."""
        await self.open(root)  # who takes over the turn of a dead host makes its checkpoint
        self._publish(Checkpoints(cwd=cwd, list=views(await self.workspace(root).moments())))

    async def plan(self, root: str, checkpoint_id: str, force: bool = False) -> None:
        """Tell the editor what a restore would do; `force`: also to what nobody knows who did it."""
        try:
            found, later = await self._find(root, checkpoint_id)
            self._publish(await self._restoring.plan(found, later, root, force))
        except (LookupError, SnapshotError) as error:
            self._publish(RestorePlan(id=checkpoint_id, files=[], patch="", problem=_lost(error)))

    async def restore(self, root: str, checkpoint_id: str, force: bool = False) -> None:
        """Do it, and tell the editor what was done; `force`: also to what nobody knows who did it."""
        try:
            found, later = await self._find(root, checkpoint_id)
        except LookupError as error:
            self._publish(Restored(id=checkpoint_id, undo_id="", files=[], conflicts=[], problem=_lost(error)))
            return
        undoes = found.id if found.kind != "turn" else None
        ahead = WriteAhead("restore", self._of, found.prompt, undoes)
        outcome = await self._restoring.restore(found, later, force, ahead.secure)
        if not outcome.problems:
            await ahead.mark(self.workspace(root))
        self._publish(
            Restored(
                id=checkpoint_id,
                undo_id=ahead.id(root) if outcome.paths else "",
                files=outcome.paths,
                conflicts=outcome.conflicts,
                problem="\n".join(outcome.problems) or None,
                left=outcome.left,
            )
        )
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
        """The same, once for many changes."""
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

    async def _find(self, root: str, checkpoint_id: str) -> tuple[Checkpoint, Sequence[Checkpoint]]:
        """The checkpoint, and those after it. Raises `LookupError`."""
        found = await self.workspace(root).moments()
        at = next((number for number, one in enumerate(found) if one.id == checkpoint_id), None)
        if at is None:
            raise LookupError("there is no such checkpoint any more")
        return found[at], found[at + 1 :]

    async def _reject(self, path: str | None, ids: Collection[int] | None, entries: Sequence[Entry]) -> Rejected:
        done = await self._rejecting.reject(path, ids, entries)
        if done.left:
            self._publish(events.Error(text=done.problem, code="review"))
        return done

    async def _judge(self, action: Action, path: str, ids: Collection[int] | None) -> None:
        """Where it cannot be done, that is said."""
        try:
            if action == "keep":
                await self.judging.keep(path, ids)
            elif action != "reject":
                await self.judging.resolve(path, ids, action)
        except FileRefusedError as error:
            self._publish(events.Error(text=str(error), code="review"))

    def _tell(self, directory: str, words: str) -> None:
        """In the chats of those who work there; else wherever the user is."""
        if not any([tell(directory, words) for tell in self.on_trouble]):
            self._publish(events.Error(text=words, code="review"))


def _lost(error: Exception) -> str:
    return f"Nothing was changed: {error}"
