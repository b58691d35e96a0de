"""What the agent of one session changes in files, from the beginning of a turn to its checkpoint."""

from __future__ import annotations

import logging
import os
import time
from typing import Final

import anyio

from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.errors import Severity
from acp_nvim.file_time import now
from acp_nvim.limits import SNAPSHOT_WAIT_SECONDS
from acp_nvim.review.checkpoints import file_views
from acp_nvim.review.ledger import TurnLog
from acp_nvim.review.named_files import NamedFiles
from acp_nvim.review.reviews import Reviews
from acp_nvim.session.call_changes import note_deed
from acp_nvim.session.transcript.presenter import WRITES_FILES, Presenter
from acp_nvim.snapshots.snapshot import Snapshot, SnapshotError
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.ui import events
from acp_nvim.workspace.roots import Roots

log = logging.getLogger(__name__)


SETTLED_WAIT_SECONDS: Final = 20.0
"""Time to find out what a turn has changed after it has ended: Neovim may be at a prompt of its own."""
SCAN_PAUSE: Final = 5.0
"""Pause between two looks at the disk while an agent works, in durations of the last look."""
SCAN_PAUSE_SECONDS: Final = 0.5
"""The same in seconds, at least."""
KEPT_WAIT_SECONDS: Final = 0.1
"""Time that a prompt waits until it is written down that a turn begins: with what else is to be done it is with the
agent within a second."""


class TurnChanges:
    """The turns of one session, of which one runs at a time.

    A prompt waits `snapshot_wait` seconds for the snapshot before it.
    """

    def __init__(
        self, session: int, agent: str, roots: Roots, reviews: Reviews, presenter: Presenter, tasks: Tasks
    ) -> None:
        self.log = TurnLog(session, agent, roots)
        self.work = reviews.journal.begin(session, agent, roots)
        self._roots = roots
        self.reviews = reviews
        self.tasks = tasks
        self._presenter = presenter
        self.named = NamedFiles(reviews, roots, tasks)
        self.snapshot_wait = SNAPSHOT_WAIT_SECONDS
        self._turn = 0
        self._waited = 0.0
        self._closing: list[anyio.Event] = []
        self._one = anyio.Lock()
        self._wanted = anyio.Event()
        self._looking = anyio.CancelScope()
        self._said: set[str] = set()  # notices about snapshots of this turn
        reviews.ledger.logs.append(self.log)
        reviews.evidence.works.append(self.work)
        reviews.on_trouble.append(self._told_of_trouble)
        presenter.on_call.append(self._call_changed)

    def __repr__(self) -> str:
        return f"<TurnChanges {self.log!r}>"

    @property
    def counts(self) -> events.ReviewCounts | None:
        """What is left to review of what this session's agent did, or the host before this one has left."""
        return self.reviews.ledger.counts(self.log.session, self._roots)

    def prepare(self) -> None:
        """A prompt may come: what takes time is done before."""
        self.tasks.spawn(self._prepare)

    async def announced(self) -> None:
        """A prompt is next: wait for what the last turn did, which counts as waiting of the prompt's."""
        came = anyio.current_time()
        with anyio.move_on_after(self.snapshot_wait):
            await self.settled()
        self._waited = anyio.current_time() - came

    async def begin(self, prompt: str) -> None:
        """The prompt may go out when this returns: what changed before is not its turn's doing.

        That is after `snapshot_wait` and a moment at most: a snapshot that takes longer goes on in the background.
        """
        began, self._waited = anyio.current_time() - self._waited, 0.0
        self._say_again()
        ready = self.tasks.spawn(self._get_ready)
        with anyio.CancelScope(deadline=began + self.snapshot_wait):
            await ready.wait()
        if not ready.is_set():
            self._go_out_before(ready)
        self._open_log(prompt)
        kept = self.tasks.spawn(self._keep)  # it goes on when the prompt does not wait any longer
        with anyio.CancelScope(deadline=began + self.snapshot_wait + KEPT_WAIT_SECONDS):
            await kept.wait()

    async def _get_ready(self) -> None:
        await self.settled()
        await self._prepare()

    def _go_out_before(self, ready: anyio.Event) -> None:
        """The agent starts while the snapshot is still taken."""
        unknown = False
        for directory in self._roots.outermost:
            scanner = self.reviews.workspaces.at(directory).scanner
            scanner.not_waited_for(time.time_ns())
            unknown = unknown or scanner.last is None
        if unknown:
            self._say(
                "The first snapshot of the workspace goes on in the background. The prompt did not wait for it: a file "
                "that the agent changes before it is done may be shown without what it was."
            )
        self.tasks.spawn(self._note_beginning, ready, self._turn + 1)

    async def _note_beginning(self, ready: anyio.Event, turn: int) -> None:
        """Write down from where on another Neovim would go on with a turn that began before its snapshot was there."""
        await ready.wait()
        if turn == self._turn and self.log.active:
            self.log.began = self._last_looks() | self.log.began
            await self._keep()

    def begun(self) -> None:
        """From now on, what happens in the workspace is the agent's doing."""
        self._say_again()
        self._open_log("")
        self.tasks.spawn(self._keep)

    async def _keep(self) -> None:
        """The next host may have to find out what the turn did."""
        try:
            await self.reviews.keep()
        except Exception:
            log.exception("what is left to review of session %d cannot be written", self.log.session)

    def _say_again(self) -> None:
        """A turn begins: say again what still holds. What was said when the chat was opened counts to the first one."""
        if self._turn:
            self._said.clear()

    def _say(self, words: str, level: Severity = "info") -> None:
        if words not in self._said:
            self._said.add(words)
            self._presenter.notice(level, words)

    def _say_missing(self, why: str) -> None:
        """There is no snapshot, or none that has anything of the workspace."""
        self._say(
            f"There is no snapshot of the workspace: {why}. What the agent writes through Neovim and what its tool "
            "calls name can be reviewed all the same; what else its commands change cannot be seen.",
            "warn",
        )

    def _open_log(self, prompt: str) -> None:
        self._turn += 1
        self.log.prompt = prompt
        self.log.began = self._last_looks()
        self.log.active = True
        self.work.turn_began(now())
        self._looking = anyio.CancelScope()
        self.tasks.spawn(self._look_again, self._looking)

    def _last_looks(self) -> dict[str, Snapshot]:
        looks = {directory: self.reviews.workspaces.at(directory).scanner.last for directory in self._roots.outermost}
        return {directory: last for directory, last in looks.items() if last is not None}

    def _call_changed(self, call: ToolCall, _patch: ToolCallPatch) -> None:
        note_deed(self.log, self.work, call)
        if call.kind in WRITES_FILES:
            self.named.add([(os.path.join(self._presenter.cwd, path), change) for path, change in call.files()])
            if call.finished:
                self.something_changed()

    def something_changed(self) -> None:
        """Files may be others now: a tool call, or a command, is done."""
        self._wanted.set()

    def end(self, goes_on: bool) -> None:
        """The turn is over; the agent may go on in the background."""
        if not goes_on:
            self.work.turn_ended(time.time_ns())
        self._looking.cancel()
        self._closing = [one for one in self._closing if is_running(one)]
        self._closing.append(self.tasks.spawn(self._close, self._turn, goes_on))

    async def settled(self) -> None:
        """Until all that the last turn did is known, or that takes too long: Neovim may be at a prompt of its own."""
        with anyio.move_on_after(SETTLED_WAIT_SECONDS):
            for one in self._closing:
                await one.wait()

    async def _prepare(self) -> None:
        for directory in self._roots.directories:
            await self.reviews.open(directory)
        await self._scan()

    async def _look_again(self, until: anyio.CancelScope) -> None:
        """While the turn runs: after what may have changed something, not all the time."""
        with until:
            while True:
                await self._wanted.wait()
                self._wanted = anyio.Event()
                before = anyio.current_time()
                with anyio.CancelScope(shield=True):  # what was found is entered
                    await self._guarded_look()
                took = anyio.current_time() - before
                await anyio.sleep(max(SCAN_PAUSE_SECONDS, SCAN_PAUSE * took))

    async def _guarded_look(self) -> None:
        try:
            await self._look()
        except Exception:
            log.exception("looking for what the agent of session %d has changed", self.log.session)

    async def _look(self) -> None:
        """Everything that is different by now is in the ledger; also what another look has found just now."""
        async with self._one:
            await self._look_at_all()

    async def _look_at_all(self) -> None:
        for path in await self.reviews.files.editor.stale_buffers():
            if self._roots.contains(path):
                await self.reviews.files.disk_changed(path)
        await self._scan()
        await self.named.scan()  # what git does not see; it knows better what the rest was

    async def _scan(self) -> None:
        self.named.is_blind = False
        for directory in self._roots.outermost:
            workspace = self.reviews.workspaces.at(directory)
            try:
                await workspace.scanner.scan()
            except SnapshotError as error:
                self.named.is_blind = True
                if not workspace.complain("snapshot", error):
                    self._say_missing(f"{directory}: {error}")
            else:
                workspace.works("snapshot")
                if await workspace.scanner.sees_nothing():
                    self._say_missing(f"git ignores every file of {directory}")

    async def _close(self, turn: int, goes_on: bool) -> None:
        try:
            await self._guarded_look()
            await self._conclude()
        except Exception:
            log.exception("the end of a turn of session %d", self.log.session)
        finally:
            if turn == self._turn:  # no other has begun meanwhile
                self.log.active = self.log.active and goes_on
            self.tasks.spawn(self._keep)

    async def _conclude(self) -> None:
        """The turn's checkpoint, and what the chat says of it."""
        made = await self.reviews.conclude(self.log, self.reviews.workspaces.at(self._roots.directories[0]))
        if made is not None:
            shown = self._presenter.transcript.summary(made.id, made.time, file_views(made.changes))
            self._presenter.publish(shown)

    def _told_of_trouble(self, directory: str, words: str) -> bool:
        """It is in the chat, if the session works there."""
        if directory not in self._roots.directories:
            return False
        self._presenter.notice("warn", words)
        return True
