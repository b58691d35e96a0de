"""Tracks what the agent of one session changes in files, from the beginning of a turn to its checkpoint."""

from __future__ import annotations

import logging
import os
import time
from typing import Final

import anyio

from acp_nvim.acp.tool_call import ToolCall, ToolCallPatch
from acp_nvim.contract import events
from acp_nvim.file_time import now
from acp_nvim.limits import SNAPSHOT_WAIT_SECONDS
from acp_nvim.review.ledger import TurnLog
from acp_nvim.review.named_files import NamedFiles
from acp_nvim.review.reviews import Reviews
from acp_nvim.review.storage import Checkpoint
from acp_nvim.review.turn.call_changes import note_call
from acp_nvim.review.turn.decided import DecidedFiles
from acp_nvim.review.turn.left_commands import LeftCommand, LeftCommands
from acp_nvim.review.turn.looks import Looks, TurnNotices
from acp_nvim.tasks import Tasks, is_running
from acp_nvim.transcript.presenter import WRITES_FILES, Presenter
from acp_nvim.workspace.roots import WatchedRoots

log = logging.getLogger(__name__)

SETTLED_WAIT_SECONDS: Final = 20.0
"""Time to find the changes of a turn after its end, as Neovim may be blocked by a prompt of its own."""
DECIDED_WAIT_SECONDS: Final = 120.0
"""Time that a prompt waits for a rejection or another decision about files: one of thousands takes half a minute."""
SCAN_PAUSE: Final = 5.0
"""Pause between two scans while an agent works, as a multiple of the duration of the last scan."""
SCAN_PAUSE_SECONDS: Final = 0.5
"""Shortest pause between two scans."""
KEPT_WAIT_SECONDS: Final = 0.1
"""Time that a prompt waits until the beginning of its turn is written, to reach the agent within a second."""


UNSEEN: Final = (
    "What the agent has changed is not listed completely, because acp_nvim failed to look at the files. "
    ":AcpLog has the error; please report it. Every later turn looks again"
)


class TurnChanges:
    """Changes by turn of one session. A prompt waits up to `snapshot_wait` seconds for the snapshot before it."""

    def __init__(
        self, session: int, agent: str, roots: WatchedRoots, reviews: Reviews, presenter: Presenter, tasks: Tasks
    ) -> None:
        self.log = TurnLog(session, agent, roots)
        self.work = reviews.journal.begin(session, agent, roots)
        self.reviews = reviews
        self.tasks = tasks
        self.left = LeftCommands(self.work, reviews.evidence.works, presenter, tasks, self._left_ended)
        self.named = NamedFiles(reviews, roots, self.work, tasks)
        self.decided = DecidedFiles(presenter)
        self._notices = TurnNotices(presenter)
        self._looks = Looks(roots, reviews, self.named, self._notices, tasks)
        self.snapshot_wait = SNAPSHOT_WAIT_SECONDS
        self.changed: dict[str, bool] = {}
        """Paths of files that the agent has changed, or may have, and whether they exist; somebody else clears it."""
        self._roots = roots
        self._presenter = presenter
        self._turn = 0
        self._takes_calls = False  # not between turns: calls are replayed then
        self._waited = 0.0
        self._closing: list[anyio.Event] = []
        self._wanted = anyio.Event()
        self._watching = anyio.CancelScope()
        reviews.ledger.logs.append(self.log)
        reviews.evidence.works.append(self.work)
        presenter.on_call.append(self._call_changed)

    @property
    def counts(self) -> events.ReviewCounts | None:
        """The number of changes to review of this session, and from the previous host unless it is a child session."""
        return self.reviews.ledger.counts(self.log.session, None if self.log.parent else self._roots)

    def prepare(self) -> None:
        """Load the kept review state and take a snapshot, before the first prompt."""
        self.tasks.spawn(self._prepare_in_idle)

    async def _prepare_in_idle(self) -> None:
        await self._looks.prepare()
        await self._look_further()

    async def _look_further(self) -> None:
        await self._looks.look_further(lambda: not self.log.active)

    async def wait_before_prompt(self) -> None:
        """Wait for decisions about files, then for the changes of the last turn: `snapshot_wait` includes that time."""
        with anyio.move_on_after(DECIDED_WAIT_SECONDS):
            await self.reviews.decided()  # the agent is to find the files as the user wants them
        came = anyio.current_time()
        with anyio.move_on_after(self.snapshot_wait):
            await self.settled()
        self._waited = anyio.current_time() - came

    async def begin(self, prompt: str) -> None:
        """Begin the turn of a prompt: earlier changes do not belong to it. Return when the prompt may be sent.

        Wait `snapshot_wait` and `KEPT_WAIT_SECONDS` at most; a slower snapshot continues in the background.
        """
        self._looks.stop_looking_further()
        began, self._waited = anyio.current_time() - self._waited, 0.0
        if self._turn:  # notices since the chat was opened belong to the first turn
            self._notices.begin_turn()
        ready = self.tasks.spawn(self._get_ready)
        with anyio.CancelScope(deadline=began + self.snapshot_wait):
            await ready.wait()
        if not ready.is_set():
            self._begin_before(ready)
        self._open_log(prompt)
        kept = self.tasks.spawn(self._keep)  # continues when the prompt no longer waits
        with anyio.CancelScope(deadline=began + self.snapshot_wait + KEPT_WAIT_SECONDS):
            await kept.wait()

    def begin_agent(self, pid: int | None, mark: str, began: int) -> None:
        """Note that the agent with that mark serves the session, as that process, if it is one of ours, since `began`.

        `began` is in nanoseconds since 1970.
        """
        self.work.process_started(mark, began)
        self.left.begin_agent(pid, mark)

    async def _get_ready(self) -> None:
        await self.settled()
        await self._looks.prepare()
        if self.log.changes and not self.work.is_turn_open:  # by what ran on after the last turn
            await self._conclude()

    def _begin_before(self, ready: anyio.Event) -> None:
        """Begin the turn while the snapshot is still being taken."""
        if self._looks.note_prompt(time.time_ns()):
            self._notices.say(
                "The first snapshot of the workspace goes on in the background. The prompt did not wait for it: a file "
                "that the agent changes before it is done may be shown without what it was."
            )
        self.tasks.spawn(self._note_beginning, ready, self._turn + 1)

    async def _note_beginning(self, ready: anyio.Event, turn: int) -> None:
        """Write the snapshot from which another Neovim would continue, for a turn that began before it."""
        await ready.wait()
        if turn == self._turn and self.log.active:
            self.log.began = self._looks.last_snapshots() | self.log.began
            await self._keep()

    def begun(self, prompt: str = "") -> None:
        """Begin a turn that the user has not prompted: changes of the workspace from now on are the agent's.

        `prompt` describes the turn in the list of checkpoints.
        """
        if self._turn:
            self._notices.begin_turn()
        self._open_log(prompt)
        self.tasks.spawn(self._keep)

    async def _keep(self) -> None:
        """Write the review state, from which another host may continue."""
        try:
            await self.reviews.keep()
        except Exception:
            log.exception("what is left to review of session %d cannot be written", self.log.session)

    def _open_log(self, prompt: str) -> None:
        self._turn += 1
        self._looks.stop_looking_further()
        self._roots.is_full = False
        self.log.prompt = prompt
        self.log.began = self._looks.last_snapshots()
        self.log.active = self._takes_calls = True
        self.log.is_over = False
        self.work.turn_began(now())
        for directory in self._roots.outermost:
            self.tasks.spawn(self.reviews.workspaces.at(directory).git.look)
        self._watching = anyio.CancelScope()
        self.tasks.spawn(self._watch, self._watching)

    def _call_changed(self, call: ToolCall, patch: ToolCallPatch) -> None:
        is_closing = self._presenter.is_closing
        is_new = not self.left.heard(call, is_closing) and self._takes_calls
        outside = note_call(self.log, self.work, call, patch, is_closing) if is_new else {}
        self.named.add_outside(outside, call.status != "pending", call.kind == "delete")
        if self._roots.is_full:
            self._notices.say(
                "The agent has named more files outside of the session's directories than are watched. What it changes "
                "in the others is not reviewed (additional_directories)."
            )
        if call.kind in WRITES_FILES:
            self.named.add([(os.path.join(self._presenter.cwd, path), change) for path, change in call.files()])
            if call.finished:
                self.request_scan()
        elif outside and call.finished:
            self.request_scan()

    def request_scan(self) -> None:
        """Request a scan, because a tool call or a command has ended."""
        self._note_git()
        self._wanted.set()

    def _note_git(self) -> None:
        """Note when the user's git has worked last: what it does until the scan is not what was changed before."""
        for directory in self._roots.outermost:
            self.tasks.spawn(self.reviews.workspaces.at(directory).git.note)

    def end(self, goes_on: bool) -> None:
        """End the turn and make its checkpoint; `goes_on`: the agent still works in the background."""
        self.log.is_over = not goes_on
        if not goes_on:
            self.work.turn_ended(time.time_ns())
        self._note_git()
        self._watching.cancel()
        self._closing = [one for one in self._closing if is_running(one)]
        self._closing.append(self.tasks.spawn(self._close, self._turn, goes_on))
        self.reviews.collects(self.log, self._closing[-1])

    async def settled(self) -> None:
        """Wait until the changes of the last turns are known, at most `SETTLED_WAIT_SECONDS`."""
        with anyio.move_on_after(SETTLED_WAIT_SECONDS):
            for one in self._closing:
                await one.wait()

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
        """Record all changes so far, and tell the user if that fails twice.

        After an error of ours the second attempt compares without the renames of directories.
        """
        for _ in range(2):
            try:
                await self.look()
            except Exception:
                log.exception("looking for what the agent of session %d has changed", self.log.session)
            else:
                return
        self._notices.say(UNSEEN, "error")

    async def look(self) -> None:
        """Record all changes so far in the ledger."""
        await self._looks.look()

    async def _close(self, turn: int, goes_on: bool) -> None:
        try:
            if not goes_on:
                await self._find_left()
            await self._guarded_look()
            await self._conclude()
            self.tasks.spawn(self.named.say_unwatched, self.work.turn_began_at, self._notices.say)
        except Exception:
            log.exception("the end of a turn of session %d", self.log.session)
        finally:
            if turn == self._turn:  # no other turn has begun meanwhile
                self._takes_calls = self._takes_calls and goes_on
                self.log.active = self.log.active and (goes_on or bool(self.left.running))
            self.tasks.spawn(self._keep)
            self.tasks.spawn(self._look_further)

    async def _find_left(self) -> None:
        try:
            await self.left.turn_over()
        except Exception:
            log.exception("looking for what the commands of session %d have left running", self.log.session)

    async def _conclude(self) -> None:
        """Make the checkpoint of what was found, and show it."""
        made = await self.reviews.conclude(self.log, self.reviews.workspaces.at(self._roots.directories[0]))
        if made is not None:
            self._note_changed(made)
            self._notices.summarize(made)

    def left_terminal(self, key: str) -> None:
        """Note that a command in a terminal has ended, and what it has started may run on; see `end_terminal`."""
        if (command := self.work.find(key)) is not None:
            self.work.leave(command, time.time_ns())

    def end_terminal(self, key: str, words: str, ran_on: bool) -> None:
        """Note that all that a command in a terminal has started has ended; `ran_on`: not when the command had.

        A command may have run on after its turn itself.
        """
        if (command := self.work.find(key)) is not None:
            self.work.end(command)
            if ran_on or not self.work.is_turn_open:
                self._ran_on(words)

    def _left_ended(self, command: LeftCommand) -> None:
        self._presenter.publish(events.FilesMaybeChanged(session=self.log.session))
        self._ran_on(command.activity.words)

    def _ran_on(self, words: str) -> None:
        """Find what a command has changed that has ended, also if it ran on after its turn."""
        if self.work.is_turn_open:
            self.request_scan()
            return
        earlier = [one for one in self._closing if is_running(one)]
        self._closing = [*earlier, self.tasks.spawn(self._close_late, self._turn, words, earlier)]
        self.reviews.collects(self.log, self._closing[-1])

    async def _close_late(self, turn: int, words: str, earlier: list[anyio.Event]) -> None:
        try:
            for one in earlier:
                await one.wait()
            await self._guarded_look()
            if turn == self._turn and not self.work.is_turn_open:  # else it belongs to a turn that has begun meanwhile
                self.log.prompt = f"`{words}` ran on after its turn"
                await self._conclude()
        except Exception:
            log.exception("the end of a command of session %d", self.log.session)
        finally:
            if turn == self._turn and not self.work.is_turn_open:
                self.log.active = bool(self.left.running)
            self.tasks.spawn(self._keep)
            self.tasks.spawn(self._look_further)

    def _note_changed(self, made: Checkpoint) -> None:
        for one in made.changes:
            if one.by in ("agent", "unknown"):
                self.changed[one.path] = one.after is not None
            else:
                self.changed.pop(one.path, None)

    def forget(self) -> None:
        """Record nothing more, as the conversation is over, once the changes of its last turn are known."""
        self.tasks.spawn(self._forget)

    async def _forget(self) -> None:
        await self.settled()
        await self.left.wait()
        await self.settled()
        self.reviews.tracker.disk.settle(lambda _, verdict: self.log.session in verdict.sessions)
        self.reviews.ledger.logs.remove(self.log)
        self.reviews.evidence.works.remove(self.work)
        self._presenter.on_call.remove(self._call_changed)

    def show_trouble(self, directory: str, words: str) -> bool:
        """Show a problem of the review of a directory, in words; return False if the agent does not work there."""
        if directory not in self._roots.directories:
            return False
        self._presenter.notice("warn", words)
        return True
