"""Turns that an agent begins by itself: which of its messages begin one, and when one is over that nobody ends."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

import anyio

from acp_nvim.acp import updates
from acp_nvim.acp.answers import Asked, FileToRead, FileToWrite, TerminalAsked
from acp_nvim.acp.tool_call import ToolCall
from acp_nvim.limits import QUIET_SECONDS
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.session.turn import Turn
from acp_nvim.tasks import Tasks

OPEN_SECONDS: Final = 600.0
"""Silence after which an open tool call or command does not keep such a turn open: a long build is silent, too, but
some agents never close their calls."""


def begins_turn(update: updates.Update, call: ToolCall | None, elsewhere: Collection[str], cancelled: bool) -> bool:
    """Return whether an update shows that the agent works again.

    `call` is the tool call that the update is about as it was before, if it is known. `elsewhere` holds the ids of
    tool calls that go on beside turns (v2). `cancelled`: the user has cancelled the last turn, and with it its calls.

    News of a known call begins a turn only when the call goes on: agents tell of the end of a call after the turn.
    """
    match update:
        case updates.MessageChunk() | updates.MessageReplaced():
            return update.role != "user"
        case updates.ToolCallChanged():
            if update.patch.tool_call_id in elsewhere:
                return False
            if call is None:
                return True
            goes_on = update.patch.status in ("pending", "in_progress")
            return goes_on and not cancelled and (update.announced or call.status not in ("completed", "failed"))
        case updates.ToolCallContentAdded():
            return call is None and update.tool_call_id not in elsewhere
        case updates.PlanReplaced():
            return True
        case _:
            return False


def request_begins_turn(asked: Asked, late: bool, refused: bool) -> bool:
    """Return whether a request shows that the agent works again.

    `late`: it comes right after a cancel, or before the first turn, when reading a file is no work; `refused`: the user
    is not asked for it. The state of a terminal may be asked for at any time. A write is shown whenever it comes.
    """
    match asked:
        case TerminalAsked():
            return False
        case FileToWrite():
            return True
        case FileToRead():
            return not late
        case _:
            return not refused


class Background:
    """The turns of one session that its agent begins by itself; `begin` begins one, `finish` ends it.

    It is over when the agent says so (v2), or after `seconds` without a word and with nothing open. A tool call or a
    command keeps it open for `OPEN_SECONDS` of silence: some agents never close their calls. A request that is not
    answered, by us or the user, keeps it open as long as it waits.

    After a cancel the agent's words count to what was cancelled for `seconds`, so that they do not begin another turn.
    """

    def __init__(
        self,
        turn: Turn,
        presenter: Presenter,
        requests: AgentRequests,
        tasks: Tasks,
        begin: Callable[[], None],
        finish: Callable[[], None],
    ) -> None:
        self.seconds = QUIET_SECONDS
        self._turn = turn
        self._presenter = presenter
        self._requests = requests
        self._tasks = tasks
        self._begin = begin
        self._finish = finish
        self._late: object = None  # the turn that was cancelled, while words of it are expected
        self._last_word = self._last_open = 0.0
        requests.on_asked = self._asked

    def __repr__(self) -> str:
        return f"<Background {self.seconds:g} s{' late' if self._late else ''}>"

    def heard(self, update: updates.Update, answers: bool) -> None:
        """The agent says something that is not told again: a turn begins if it works by itself.

        `answers`: it only says what became of a setting that the user has changed.
        """
        self._last_word = anyio.current_time()
        if self._turn.running or answers or self._late is not None:
            return
        call, transcript = None, self._presenter.transcript
        if isinstance(update, updates.ToolCallChanged):
            call = transcript.call(update.patch.tool_call_id)
        elif isinstance(update, updates.ToolCallContentAdded):
            call = transcript.call(update.tool_call_id)
        elif not self._turn.count:
            return  # a greeting
        if begins_turn(update, call, self._turn.background, self._turn.stop_reason == "cancelled"):
            self._begin()

    def begun(self) -> None:
        """A turn has begun, whoever did it."""
        self._late = None
        self._requests.permissions.refusing = False
        if self._turn.open_ended:
            self._last_word = anyio.current_time()
            self._tasks.spawn(self._end_when_quiet, self._turn.over)

    def ended(self) -> None:
        """The turn has ended: refuse what a cancelled one still asks, and take its late updates for a while."""
        # What is asked from now on is not about it, unless nobody but the user has said that it is over.
        cancelled = self._turn.stop_reason == "cancelled"
        self._requests.permissions.refusing = cancelled and not self._turn.has_end
        if cancelled:
            self._late = self._turn.over
            self._tasks.spawn(self._take_late_words, self._turn.over)

    def _asked(self, asked: Asked) -> None:
        self._turn.requests += 1
        late = self._late is not None or not self._turn.count  # some look for instructions before any prompt
        if request_begins_turn(asked, late, self._requests.permissions.refusing):
            self._last_word = anyio.current_time()
            if not self._turn.running:
                self._begin()

    async def _end_when_quiet(self, over: anyio.Event) -> None:
        while not over.is_set():
            left = self._left()
            if left <= 0:
                await anyio.lowlevel.checkpoint()  # a request that has just come is counted when its task has begun
                left = self._left()
            if left <= 0 and not over.is_set():
                if self._turn.open_ended:  # else the agent will say it
                    self._finish()
                return
            with anyio.move_on_after(min(left, self.seconds / 4)):  # what is open may be closed any time
                await over.wait()

    def _left(self) -> float:
        """Seconds of silence until it is over."""
        now = anyio.current_time()
        if self._is_open(now):
            self._last_open = now
        return max(self._last_word, self._last_open) + self.seconds - now

    def _is_open(self, now: float) -> bool:
        if self._requests.serving:  # among others those that wait for the user
            return True
        calls = set(self._presenter.transcript.unfinished()) - self._requests.rejected
        works = self._requests.terminals.running_in_turn or bool(calls)
        return works and now - self._last_word < OPEN_SECONDS

    async def _take_late_words(self, late: anyio.Event) -> None:
        await anyio.sleep(self.seconds)
        if late is self._late:
            self._late = None
            self._requests.permissions.refusing = False
            self._presenter.close_calls("cancelled", self._requests.rejected, self._turn.background)
