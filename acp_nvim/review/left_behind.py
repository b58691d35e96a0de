"""What hosts that are gone have left behind: files under review, and turns of which nobody saw the end."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Final

import anyio
import anyio.to_thread

from acp_nvim.process.group import members
from acp_nvim.review.checkpoints import Checkpoint
from acp_nvim.review.evidence import Evidence
from acp_nvim.review.kept_ledger import KeptReview, OpenTurn
from acp_nvim.review.ledger import NOBODY, TurnLog
from acp_nvim.review.tracker import ChangeTracker
from acp_nvim.review.work import Work
from acp_nvim.review.work_journal import WorkJournal
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots.snapshot import SnapshotError
from acp_nvim.workspace.roots import Roots

END_WAIT_SECONDS: Final = 10.0
"""Time that who takes over from a dead host waits for its agents to end: the guard gives them five seconds."""
END_POLL_SECONDS: Final = 0.05
"""As often it is looked whether they have ended."""

log = logging.getLogger(__name__)

_numbers = count(1)
"""Of the sessions of hosts that are gone."""


class LeftBehind:
    """Takes it over; `conclude` makes the checkpoint of a turn."""

    def __init__(
        self,
        tracker: ChangeTracker,
        evidence: Evidence,
        journal: WorkJournal,
        conclude: Callable[[TurnLog, Workspace], Awaitable[Checkpoint | None]],
    ) -> None:
        self._tracker = tracker
        self._ledger = tracker.ledger
        self._evidence = evidence
        self._journal = journal
        self._conclude = conclude

    def __repr__(self) -> str:
        return f"<LeftBehind in {self._ledger!r}>"

    async def take_over(self, workspace: Workspace, kept: KeptReview) -> None:
        """What was left in that workspace is under review again; what was done since, the evidence says by whom."""
        logs = [TurnLog(NOBODY - next(_numbers), turn.agent, Roots([workspace.root])) for turn in kept.turns]
        works = [await self._work(turn, left) for turn, left in zip(logs, kept.turns, strict=True)]
        self._ledger.logs += logs
        self._evidence.works += works
        if kept.turns:  # what buffers have followed meanwhile was judged without this
            for path in self._ledger.known_below(workspace.root):
                self._ledger.accounted.pop(path, None)
                self._evidence.judge_anew(path)
        try:
            for one in kept.entries:
                await self._tracker.take_over(one)
            if kept.turns:
                first = min((turn.snapshot for turn in kept.turns), key=lambda one: one.time)
                await workspace.scanner.scan_since(first)
        except SnapshotError as error:
            log.warning("what a turn did in %s that nobody has seen the end of is not known: %s", workspace.root, error)
        finally:
            for turn, work in zip(logs, works, strict=True):
                self._ledger.logs.remove(turn)
                self._evidence.works.remove(work)
            self._tracker.disk.leave_doubts(workspace.root)
        for turn in logs:
            await self._conclude(turn, workspace)
        for left in kept.turns:
            await anyio.to_thread.run_sync(self._journal.forget, left.evidence)

    async def _work(self, turn: TurnLog, left: OpenTurn) -> Work:
        """What its host has written down of a turn, once the agent has ended, or that takes too long."""
        turn.prompt = left.prompt
        work = Work(turn.session, left.agent, turn.roots, self._journal.ended_at)
        for record in await anyio.to_thread.run_sync(lambda: list(self._journal.read(left.evidence, left.session))):
            work.take(record)
        work.is_over = True
        with anyio.move_on_after(END_WAIT_SECONDS):
            await anyio.to_thread.run_sync(_wait_for_end, work, abandon_on_cancel=True)
        return work


def _wait_for_end(work: Work) -> None:
    """Until no process of the agent is there; the number of its first one may be another's by now. Blocks."""
    deadline = time.monotonic() + END_WAIT_SECONDS
    while time.monotonic() < deadline and work.last_moment is None and any(members(-1, mark) for mark in work.marks):
        time.sleep(END_POLL_SECONDS)
