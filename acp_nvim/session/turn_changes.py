"""What the agent of one session changes in files, from the beginning of a turn to its checkpoint."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

import anyio
import anyio.lowlevel

from acp_nvim import events
from acp_nvim.limits import (
    SCAN_PAUSE,
    SCAN_PAUSE_SECONDS,
    SNAPSHOT_WAIT_SECONDS,
    SNAPSHOT_WORDS_SECONDS,
)
from acp_nvim.limits.review import KEEP_WAIT_SECONDS, NAMED_FILES, NAMED_WAIT_SECONDS
from acp_nvim.protocol.diff import FileChange
from acp_nvim.review.checkpoints import file_views
from acp_nvim.review.reviews import Reviews
from acp_nvim.review.scanning import FirstTouch
from acp_nvim.review.turn_log import TurnLog
from acp_nvim.session.narrator import Narrator
from acp_nvim.snapshots.failures import SnapshotError
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.roots import Roots

log = logging.getLogger(__name__)


class TurnChanges:
    """The turns of one session, of which one runs at a time."""

    def __init__(
        self, session: int, agent: str, roots: Roots, reviews: Reviews, narrator: Narrator, tasks: Tasks
    ) -> None:
        self.log = TurnLog(session, agent, roots)
        self._roots = roots
        self._reviews = reviews
        self.tasks = tasks
        self._narrator = narrator
        self._touched = FirstTouch(reviews.witness)
        self._turn = 0
        self._is_blind = False  # without snapshots
        self._names: deque[tuple[str, FileChange | None]] = deque()  # files that are still to be looked at
        self._naming: anyio.Event | None = None
        self._closing: list[anyio.Event] = []
        self._one = anyio.Lock()
        self._wanted = anyio.Event()
        self._looking = anyio.CancelScope()
        self._complained: set[str] = set()
        reviews.ledger.logs.append(self.log)
        narrator.on_named, narrator.on_done = self.named, self.something_changed

    def __repr__(self) -> str:
        return f"<TurnChanges {self.log!r}>"

    @property
    def counts(self) -> events.ReviewCounts | None:
        """What is left to review of what this session's agent did."""
        return self._reviews.ledger.counts(self.log.session)

    def prepare(self) -> None:
        """A prompt may come: what takes time is done before."""
        self.tasks.spawn(self._prepare)

    async def begin(self, prompt: str) -> None:
        """The prompt may go out when this returns: what changed before is not its turn's doing."""
        with anyio.move_on_after(SNAPSHOT_WAIT_SECONDS) as waiting:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._say_that_it_takes_time)
                await self.settled()
                await self._prepare()
                tasks.cancel_scope.cancel()
        if waiting.cancelled_caught:
            self._is_blind = True
            self._complain(f"it took longer than {SNAPSHOT_WAIT_SECONDS:g} s")
        self._open_log(prompt)
        with anyio.move_on_after(KEEP_WAIT_SECONDS):
            await self._keep()

    def begun(self) -> None:
        """From now on, what happens in the workspace is the agent's doing."""
        self._open_log("")
        self.tasks.spawn(self._keep)

    async def _keep(self) -> None:
        """The next host may have to find out what the turn did."""
        try:
            await self._reviews.keep()
        except Exception:
            log.exception("what is left to review of session %d cannot be written", self.log.session)

    def _open_log(self, prompt: str) -> None:
        self._turn += 1
        self.log.prompt = prompt
        self.log.began = {
            directory: last
            for directory in self._roots.outermost
            if (last := self._reviews.workspace(directory).scanner.last) is not None
        }
        self.log.active = True
        self._looking = anyio.CancelScope()
        self.tasks.spawn(self._look_again, self._looking)

    def something_changed(self) -> None:
        """Files may be others now: a tool call, or a command, is done."""
        self._wanted.set()

    def named(self, files: Sequence[tuple[str, FileChange | None]]) -> None:
        """The agent says that it works on these files (absolute paths), and what it does to them."""
        self._names += islice(files, max(0, NAMED_FILES - len(self._names)))
        if self._names and not is_running(self._naming):
            self._naming = self.tasks.spawn(self._name)

    async def names_known(self) -> None:
        """Until it is known what the files were that the agent has named: allowed to, it may change them at once."""
        with anyio.move_on_after(NAMED_WAIT_SECONDS):
            while self._naming is not None and is_running(self._naming):
                await self._naming.wait()

    def end(self, goes_on: bool) -> None:
        """The turn is over; the agent may go on in the background."""
        self._looking.cancel()
        self._closing = [one for one in self._closing if is_running(one)]
        self._closing.append(self.tasks.spawn(self._close, self._turn, goes_on))

    async def settled(self) -> None:
        """Until all that the last turn did is known, or that takes too long: Neovim may be at a prompt of its own."""
        with anyio.move_on_after(SNAPSHOT_WAIT_SECONDS):
            for one in self._closing:
                await one.wait()

    async def _prepare(self) -> None:
        for directory in self._roots.directories:
            await self._reviews.open(directory)
        await self._scan()

    async def _name(self) -> None:
        """One after the other: an agent may name a million, and others want to look at files, too."""
        while self._names:
            await anyio.lowlevel.checkpoint()  # many may be refused, one after the other
            path, change = self._names.popleft()
            with self.tasks.contained("looking at a file that was named"), suppress(NotAllowedError):  # not ours
                await self._look_at_named(self._roots.resolve(path), change)

    async def _look_at_named(self, path: str, change: FileChange | None) -> None:
        contents = self._reviews.contents(path)
        if change is None or await self._is_in_snapshot(path):
            await self._touched.named(contents, path)
        else:
            await self._touched.shown(contents, path, change)

    async def _is_in_snapshot(self, path: str) -> bool:
        """Then it is known what it was before the turn."""
        if self._is_blind:
            return False
        try:
            await self._reviews.known(path)
        except SnapshotError:
            return False
        return True

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
        for path in await self._reviews.files.editor.stale_buffers():
            if self._roots.contains(path):
                await self._reviews.files.disk_changed(path)
        await self._scan()
        await self._touched.scan()  # what git does not see; it knows better what the rest was

    async def _scan(self) -> None:
        self._is_blind = False
        for directory in self._roots.outermost:
            try:
                await self._reviews.workspace(directory).scanner.scan()
            except SnapshotError as error:
                self._is_blind = True
                self._complain(f"{directory}: {error}")

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
        made = await self._reviews.conclude(self.log, self._reviews.workspace(self._roots.directories[0]))
        if made is not None:
            shown = self._narrator.transcript.summary(made.id, made.time, file_views(made.changes))
            self._narrator.publish(shown)

    async def _say_that_it_takes_time(self) -> None:
        await anyio.sleep(SNAPSHOT_WORDS_SECONDS)
        self._narrator.notice("info", "Taking a snapshot of the workspace first, so that every change can be seen.")

    def _complain(self, why: str) -> None:
        if why not in self._complained:
            self._complained.add(why)
            self._narrator.notice(
                "warn",
                f"There is no snapshot of the workspace: {why}. What the agent writes through Neovim and what its tool "
                "calls name can be reviewed all the same; what else its commands change cannot be seen.",
            )
