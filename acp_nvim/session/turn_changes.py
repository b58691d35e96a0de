"""Tracks what the agent of one session changes in files, from the beginning of a turn to its checkpoint."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable
from typing import Final

import anyio

from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.errors import Severity
from acp_nvim.file_time import now
from acp_nvim.limits import SNAPSHOT_WAIT_SECONDS
from acp_nvim.review.change import ChangeRecord
from acp_nvim.review.ledger import TurnLog
from acp_nvim.review.named_files import NamedFiles
from acp_nvim.review.reviews import Reviews
from acp_nvim.review.storage import file_views
from acp_nvim.session.call_changes import note_call
from acp_nvim.session.transcript.presenter import WRITES_FILES, Presenter
from acp_nvim.snapshots.snapshot import Snapshot, SnapshotError
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.ui import events
from acp_nvim.workspace.roots import Roots

log = logging.getLogger(__name__)

SETTLED_WAIT_SECONDS: Final = 20.0
"""Time to find the changes of a turn after its end, as Neovim may be blocked by a prompt of its own."""
SCAN_PAUSE: Final = 5.0
"""Pause between two scans while an agent works, as a multiple of the duration of the last scan."""
SCAN_PAUSE_SECONDS: Final = 0.5
"""Shortest pause between two scans."""
KEPT_WAIT_SECONDS: Final = 0.1
"""Time that a prompt waits until the beginning of its turn is written, to reach the agent within a second."""


class TurnChanges:
    """Changes by turn of one session. A prompt waits up to `snapshot_wait` seconds for the snapshot before it."""

    def __init__(
        self, session: int, agent: str, roots: Roots, reviews: Reviews, presenter: Presenter, tasks: Tasks
    ) -> None:
        self.log = TurnLog(session, agent, roots)
        self.work = reviews.journal.begin(session, agent, roots)
        self.reviews = reviews
        self.tasks = tasks
        self.named = NamedFiles(reviews, roots, tasks)
        self.snapshot_wait = SNAPSHOT_WAIT_SECONDS
        self.changed: dict[str, bool] = {}
        """Paths of files that the agent has changed, or may have, and whether they exist; somebody else clears it."""
        self._roots = roots
        self._presenter = presenter
        self._turn = 0
        self._waited = 0.0
        self._closing: list[anyio.Event] = []
        self._scanning = anyio.Lock()
        self._wanted = anyio.Event()
        self._watching = anyio.CancelScope()
        self._said: set[str] = set()  # notices about snapshots of this turn
        reviews.ledger.logs.append(self.log)
        reviews.evidence.works.append(self.work)
        presenter.on_call.append(self._call_changed)

    @property
    def counts(self) -> events.ReviewCounts | None:
        """The number of changes to review of this session, and from the previous host unless it is a child session."""
        return self.reviews.ledger.counts(self.log.session, None if self.log.parent else self._roots)

    def prepare(self) -> None:
        """Load the kept review state and take a snapshot, before the first prompt."""
        self.tasks.spawn(self._prepare)

    async def wait_before_prompt(self) -> None:
        """Wait for the changes of the last turn before a prompt; its `snapshot_wait` includes this time."""
        came = anyio.current_time()
        with anyio.move_on_after(self.snapshot_wait):
            await self.settled()
        self._waited = anyio.current_time() - came

    async def begin(self, prompt: str) -> None:
        """Begin the turn of a prompt: earlier changes do not belong to it. Return when the prompt may be sent.

        Wait `snapshot_wait` and `KEPT_WAIT_SECONDS` at most; a slower snapshot continues in the background.
        """
        began, self._waited = anyio.current_time() - self._waited, 0.0
        if self._turn:  # notices since the chat was opened belong to the first turn
            self._said.clear()
        ready = self.tasks.spawn(self._get_ready)
        with anyio.CancelScope(deadline=began + self.snapshot_wait):
            await ready.wait()
        if not ready.is_set():
            self._begin_before(ready)
        self._open_log(prompt)
        kept = self.tasks.spawn(self._keep)  # continues when the prompt no longer waits
        with anyio.CancelScope(deadline=began + self.snapshot_wait + KEPT_WAIT_SECONDS):
            await kept.wait()

    async def _get_ready(self) -> None:
        await self.settled()
        await self._prepare()

    def _begin_before(self, ready: anyio.Event) -> None:
        """Begin the turn while the snapshot is still being taken."""
        unknown = False
        for directory in self._roots.outermost:
            scanner = self.reviews.workspaces.at(directory).scanner
            scanner.prompt_sent(time.time_ns())
            unknown = unknown or scanner.last is None
        if unknown:
            self._say(
                "The first snapshot of the workspace goes on in the background. The prompt did not wait for it: a file "
                "that the agent changes before it is done may be shown without what it was."
            )
        self.tasks.spawn(self._note_beginning, ready, self._turn + 1)

    async def _note_beginning(self, ready: anyio.Event, turn: int) -> None:
        """Write the snapshot from which another Neovim would continue, for a turn that began before it."""
        await ready.wait()
        if turn == self._turn and self.log.active:
            self.log.began = self._last_snapshots() | self.log.began
            await self._keep()

    def begun(self, prompt: str = "") -> None:
        """Begin a turn that the user has not prompted: changes of the workspace from now on are the agent's.

        `prompt` describes the turn in the list of checkpoints.
        """
        if self._turn:
            self._said.clear()
        self._open_log(prompt)
        self.tasks.spawn(self._keep)

    async def _keep(self) -> None:
        """Write the review state, from which another host may continue."""
        try:
            await self.reviews.keep()
        except Exception:
            log.exception("what is left to review of session %d cannot be written", self.log.session)

    def _say(self, words: str, level: Severity = "info") -> None:
        if words not in self._said:
            self._said.add(words)
            self._presenter.notice(level, words)

    def _say_missing(self, why: str) -> None:
        """Warn that there is no snapshot, or an empty one."""
        self._say(
            f"There is no snapshot of the workspace: {why}. What the agent writes through Neovim and what its tool "
            "calls name can be reviewed all the same; what else its commands change cannot be seen.",
            "warn",
        )

    def _open_log(self, prompt: str) -> None:
        self._turn += 1
        self.log.prompt = prompt
        self.log.began = self._last_snapshots()
        self.log.active = True
        self.work.turn_began(now())
        for directory in self._roots.outermost:
            self.tasks.spawn(self.reviews.workspaces.at(directory).git.look)
        self._watching = anyio.CancelScope()
        self.tasks.spawn(self._watch, self._watching)

    def _last_snapshots(self) -> dict[str, Snapshot]:
        found = {directory: self.reviews.workspaces.at(directory).scanner.last for directory in self._roots.outermost}
        return {directory: last for directory, last in found.items() if last is not None}

    def _call_changed(self, call: ToolCall, patch: ToolCallPatch) -> None:
        note_call(self.log, self.work, call, patch)
        if call.kind in WRITES_FILES:
            self.named.add([(os.path.join(self._presenter.cwd, path), change) for path, change in call.files()])
            if call.finished:
                self.request_scan()

    def request_scan(self) -> None:
        """Request a scan, because a tool call or a command has ended."""
        self._wanted.set()

    def end(self, goes_on: bool) -> None:
        """End the turn and make its checkpoint; `goes_on`: the agent still works in the background."""
        if not goes_on:
            self.work.turn_ended(time.time_ns())
        self._watching.cancel()
        self._closing = [one for one in self._closing if is_running(one)]
        self._closing.append(self.tasks.spawn(self._close, self._turn, goes_on))
        self.reviews.collects(self.log, self._closing[-1])

    async def settled(self) -> None:
        """Wait until the changes of the last turns are known, at most `SETTLED_WAIT_SECONDS`."""
        with anyio.move_on_after(SETTLED_WAIT_SECONDS):
            for one in self._closing:
                await one.wait()

    async def _prepare(self) -> None:
        for directory in self._roots.directories:
            await self.reviews.open(directory)
        await self._scan()

    async def _watch(self, until: anyio.CancelScope) -> None:
        """Scan during the turn, after each request, with pauses."""
        with until:
            while True:
                await self._wanted.wait()
                self._wanted = anyio.Event()
                before = anyio.current_time()
                with anyio.CancelScope(shield=True):  # what was found is recorded
                    await self._guarded_look()
                took = anyio.current_time() - before
                await anyio.sleep(max(SCAN_PAUSE_SECONDS, SCAN_PAUSE * took))

    async def _guarded_look(self) -> None:
        try:
            await self.look()
        except Exception:
            log.exception("looking for what the agent of session %d has changed", self.log.session)

    async def look(self) -> None:
        """Record all changes so far in the ledger."""
        async with self._scanning:
            for path in await self.reviews.files.editor.stale_buffers():
                if self._roots.contains(path):
                    await self.reviews.files.disk_changed(path)
            await self._scan()
            await self.named.scan()  # also files that git ignores

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
            made = await self.reviews.conclude(self.log, self.reviews.workspaces.at(self._roots.directories[0]))
            if made is not None:
                self._note_changed(made.changes)
                shown = self._presenter.transcript.summary(made.id, made.time, file_views(made.changes))
                self._presenter.publish(shown)
        except Exception:
            log.exception("the end of a turn of session %d", self.log.session)
        finally:
            if turn == self._turn:  # no other turn has begun meanwhile
                self.log.active = self.log.active and goes_on
            self.tasks.spawn(self._keep)

    def _note_changed(self, changes: Iterable[ChangeRecord]) -> None:
        for one in changes:
            if one.by in ("agent", "unknown"):
                self.changed[one.path] = one.after is not None
            else:
                self.changed.pop(one.path, None)

    def forget(self) -> None:
        """Record nothing more, as the conversation is over, once the changes of its last turn are known."""
        self.tasks.spawn(self._forget)

    async def _forget(self) -> None:
        await self.settled()
        self.reviews.ledger.logs.remove(self.log)
        self.reviews.evidence.works.remove(self.work)
        self._presenter.on_call.remove(self._call_changed)

    def show_trouble(self, directory: str, words: str) -> bool:
        """Show a problem of the review of a directory, in words; return False if the agent does not work there."""
        if directory not in self._roots.directories:
            return False
        self._presenter.notice("warn", words)
        return True
