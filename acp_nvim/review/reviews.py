"""All that is to be reviewed and can be gone back to, in all workspaces: what the user asks for is done here."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Literal

import anyio

from acp_nvim import events
from acp_nvim.events import Event
from acp_nvim.limits import KEEP_SECONDS
from acp_nvim.review.checkpoints import Checkpoint
from acp_nvim.review.contents import Contents
from acp_nvim.review.counting import count
from acp_nvim.review.entry import Entry
from acp_nvim.review.judging import Judging
from acp_nvim.review.keeping import rejection
from acp_nvim.review.kept_ledger import Kept, KeptEntry, OpenTurn
from acp_nvim.review.ledger import Ledger
from acp_nvim.review.restoring import Outcome, Restoring
from acp_nvim.review.turn_log import NOBODY, TurnLog
from acp_nvim.review.witness import Witness
from acp_nvim.review.workspace import Workspace
from acp_nvim.review_events import Checkpoints, Restored, RestorePlan
from acp_nvim.snapshots.failures import SnapshotError
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.roots import Roots

log = logging.getLogger(__name__)

Action = Literal["keep", "reject", "mine", "theirs", "both"]


class Reviews:
    """Of one host. `state` is the directory that outlives it."""

    def __init__(self, files: OpenFiles, publish: Callable[[Event], None], tasks: Tasks) -> None:
        self.state = Path(os.devnull)
        self.ledger = Ledger(self.contents, publish)
        self.witness = Witness(self.ledger, files, self.known)
        self.judging = Judging(self.ledger, files, self.witness.look_at)
        self._tasks = tasks
        self.files = files
        self._restoring = Restoring(self.ledger, files, self.witness.look_at)
        self._publish = publish
        self._workspaces: dict[str, Workspace] = {}
        self._opening = anyio.Lock()
        self._opened: set[str] = set()
        self._to_keep: anyio.Event | None = None  # set when that has failed

    def __repr__(self) -> str:
        return f"<Reviews {self.ledger!r}>"

    def workspace(self, directory: str) -> Workspace:
        """That at a directory, a real path."""
        if directory not in self._workspaces:
            self._workspaces[directory] = Workspace(self.state, directory, self.witness)
        return self._workspaces[directory]

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
            await self._take_over(workspace, kept)
            await self.keep()
            self._opened.add(directory)
            self._tasks.spawn(workspace.clean)

    async def _take_over(self, workspace: Workspace, kept: Kept) -> None:
        """What Neovims that are gone have left there: also a turn that they have not seen the end of."""
        logs = [TurnLog(NOBODY, turn.agent, Roots([workspace.root])) for turn in kept.turns]
        self.ledger.logs += logs
        for turn, left in zip(logs, kept.turns, strict=True):
            turn.active, turn.prompt = True, left.prompt
        try:
            for one in kept.entries:
                await self._take_up(one)
            if kept.turns:
                first = min((turn.snapshot for turn in kept.turns), key=lambda one: one.time)
                await workspace.scanner.scan_since(first)
        except SnapshotError as error:
            log.warning("what a turn did in %s that nobody has seen the end of is not known: %s", workspace.root, error)
        finally:
            for turn in logs:
                self.ledger.logs.remove(turn)
        await count([one for one in self.ledger.entries.values() if self._of(one.path) is workspace], self.contents)
        for one in kept.entries:
            self.ledger.tell(one.path)
        for turn in logs:
            await self.conclude(turn, workspace)

    async def conclude(self, turn: TurnLog, workspace: Workspace) -> Checkpoint | None:
        """The checkpoint of a turn that is over, and kept; None when it has changed nothing."""
        await count(list(turn.changes.values()), self.contents)
        done = turn.take(self.contents)
        if not done:
            return None
        session = turn.session if turn.session != NOBODY else None
        made = Checkpoint(kind="turn", agent=turn.agent, prompt=turn.prompt, changes=done, session=session)
        await workspace.add(made)
        return made

    async def judge(self, action: Action, path: str | None, ids: Collection[int] | None, session: int | None) -> None:
        """What the user decided: of hunks, of a file, or of all that a session (or anybody) has changed."""
        if path is not None:
            await self._judge(action, path, ids)
        else:
            entries = self.ledger.open(session)
            if action == "reject":
                await self._reject_all(entries)
            for entry in entries if action != "reject" else []:
                await self._judge(action, entry.path, None)
        await self.keep()

    async def list(self, root: str, cwd: str) -> None:
        """Tell the editor what can be gone back to, the newest first; `root` is the real path of `cwd`."""
        found = await self.workspace(root).checkpoints.all()
        self._publish(Checkpoints(cwd=cwd, list=[one.view() for one in reversed(found)]))

    async def plan(self, root: str, checkpoint_id: str) -> None:
        """Tell the editor what a restore would do."""
        try:
            found, later = await self._find(root, checkpoint_id)
            self._publish(await self._restoring.plan(found, later, root))
        except (LookupError, SnapshotError) as error:
            self._publish(RestorePlan(id=checkpoint_id, files=[], patch="", problem=_lost(error)))

    async def restore(self, root: str, checkpoint_id: str) -> None:
        """Do it, and tell the editor what was done."""
        try:
            found, later = await self._find(root, checkpoint_id)
            outcome = await self._restoring.restore(found, later)
        except (LookupError, SnapshotError) as error:
            self._publish(Restored(id=checkpoint_id, undo_id="", files=[], conflicts=[], problem=_lost(error)))
            return
        undo_id = await self._add(root, "restore", found.prompt, outcome)
        self._publish(
            Restored(
                id=checkpoint_id,
                undo_id=undo_id,
                files=[one.path for one in outcome.changes],
                conflicts=outcome.conflicts,
                problem="\n".join(outcome.problems) or None,
            )
        )
        await self.keep()

    async def keep(self) -> None:
        """Write down what is left to review."""
        for workspace in list(self._workspaces.values()):
            root = workspace.root
            running = [turn for turn in self.ledger.logs if turn.active and root in turn.began]
            await workspace.keep(
                [one for one in self.ledger.open() if self._of(one.path) is workspace],
                [OpenTurn(turn.agent, turn.prompt, turn.began[root]) for turn in running],
            )

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
        for workspace in self._workspaces.values():
            workspace.close()

    def _of(self, path: str) -> Workspace:
        inside = [root for root in self._workspaces if path.startswith(root.rstrip(os.sep) + os.sep)]
        return self._workspaces[max(inside, key=len) if inside else next(iter(self._workspaces))]

    async def _find(self, root: str, checkpoint_id: str) -> tuple[Checkpoint, Sequence[Checkpoint]]:
        """The checkpoint, and those after it. Raises `LookupError`."""
        found = await self.workspace(root).checkpoints.all()
        at = next((number for number, one in enumerate(found) if one.id == checkpoint_id), None)
        if at is None:
            raise LookupError("there is no such checkpoint any more")
        return found[at], found[at + 1 :]

    async def _take_up(self, kept: KeptEntry) -> None:
        """What has changed since a Neovim left it, the user has changed."""
        if kept.path in self.ledger.entries:
            return
        async with self.files.alone(kept.path):
            self.ledger.entries[kept.path] = kept.entry()
            await self.witness.found(kept.path)

    async def _judge(self, action: Action, path: str, ids: Collection[int] | None) -> bool:
        """False when it could not be done, which is said."""
        try:
            if action == "keep":
                await self.judging.keep(path, ids)
            elif action == "reject":
                await self.judging.reject(path, ids)
            else:
                await self.judging.resolve(path, ids, action)
        except FileRefusedError as error:
            self._publish(events.Error(text=str(error), code="review"))
            return False
        return True

    async def _reject_all(self, entries: Sequence[Entry]) -> None:
        """With a checkpoint, so that it can be undone."""
        done: dict[str, Outcome] = {}
        for entry in entries:
            workspace = self._of(entry.path)
            changes = rejection(entry, workspace.scanner.contents)
            if await self._judge("reject", entry.path, None):
                done.setdefault(workspace.root, Outcome()).changes += changes
        for root, outcome in done.items():
            await self._add(root, "reject", "", outcome)

    async def _add(self, root: str, kind: Literal["restore", "reject"], prompt: str, outcome: Outcome) -> str:
        """The checkpoint that undoes it; "" when nothing was done."""
        if not outcome.changes:
            return ""
        made = Checkpoint(kind=kind, agent="", prompt=prompt, changes=outcome.changes)
        await self.workspace(root).add(made)
        return made.id


def _lost(error: Exception) -> str:
    return f"Nothing was changed: {error}"
