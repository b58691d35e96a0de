"""Turns without a report: those that an agent begins by itself, their end, and turns in which nothing comes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from time import monotonic
from typing import Final

import anyio

from acp_nvim.acp import updates
from acp_nvim.acp.answers import Asked, FileToRead, FileToWrite, TerminalAsked
from acp_nvim.acp.tool_call import ToolCall
from acp_nvim.limits import QUIET_SECONDS, SILENT_SECONDS
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.session.turn import Turn
from acp_nvim.tasks import Tasks
from acp_nvim.transcript.presenter import Presenter

LOOK_SECONDS: Final = 1.0
"""Time after which what has been said of a silence is replaced, once something has come."""

OPEN_SECONDS: Final = 600.0
"""Silence after which an open tool call or command no longer keeps a turn running: a long build is silent, too, but
some agents never close their calls."""


class Silence:
    """Watches the turns of one session. Nothing is said while the user, a tool call, a command or we are waited for.

    Nor after a cancel, or while `is_held`: anything else is waited for.
    """

    def __init__(self, turn: Turn, presenter: Presenter, requests: AgentRequests) -> None:
        self.seconds = SILENT_SECONDS
        self.is_held: Callable[[], bool] = lambda: False
        self._turn = turn
        self._presenter = presenter
        self._requests = requests

    async def watch(self, over: anyio.Event) -> None:
        """Watch the turn that has just begun, until it is `over` or something was said."""
        since = monotonic()
        while not over.is_set():
            if self.is_waited_for():
                since = monotonic()
            since = max(since, self._presenter.last_sign)
            left = since + self.seconds - monotonic()
            if left <= 0:
                await self._tell(over, since)
                return
            with anyio.move_on_after(min(left, self.seconds / 4)):
                await over.wait()

    async def _tell(self, over: anyio.Event, since: float) -> None:
        words = f"no sign from the agent for {self.seconds:g} s"
        told = f"There is {words}; its provider may be refusing. :AcpCancel stops the turn."
        block = self._presenter.aside("warn", told)
        self._show(words)
        while not over.is_set():
            if self._presenter.last_sign > since or self.is_waited_for():
                seconds = max(self._presenter.last_sign, since + self.seconds) - since
                past = f"There was no sign from the agent for {seconds:.0f} s."
                self._presenter.renew_notice("info", past, block)
                self._show(None)
                return
            with anyio.move_on_after(min(self.seconds / 4, LOOK_SECONDS)):
                await over.wait()

    def _show(self, words: str | None) -> None:
        if self._presenter.metadata.activity.silent(words):
            self._presenter.publish_status()

    def is_waited_for(self) -> bool:
        """Whether the agent is not expected to say anything, or has not got the prompt yet."""
        requests, transcript = self._requests, self._presenter.transcript
        is_asked = bool(requests.serving or requests.waiting or self._turn.requires_action)
        works = requests.terminals.running or bool(transcript.unfinished())
        is_over = requests.permissions.refusing or self._turn.open_ended
        return is_asked or works or is_over or not self._turn.is_sent or self.is_held()


class Background:
    """Turns of one session that its agent begins by itself; `begin` begins one, `finish` ends it.

    Such a turn ends when the agent reports it (v2), or after `seconds` of silence with nothing open. A tool call or a
    command keeps it running for `OPEN_SECONDS` of silence, an unanswered request for as long as it waits.

    For `seconds` after a cancel, updates belong to the cancelled turn and do not begin another.
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
        self.silence = Silence(turn, presenter, requests)
        self._turn = turn
        self._presenter = presenter
        self._requests = requests
        self._tasks = tasks
        self._begin = begin
        self._finish = finish
        self._late: object = None  # the cancelled turn while late updates of it are expected
        self._last_word = self._last_open = 0.0
        requests.on_asked = self._asked

    def heard(self, update: updates.Update, setting: bool) -> None:
        """Begin a turn if an update, which is not part of a replay, shows that the agent works by itself.

        `setting`: the agent has not answered yet to a setting that the user has changed, and may report its effect.
        """
        if self._turn.running and not self._turn.open_ended:
            return
        self._last_word = anyio.current_time()
        if self._turn.running or self._late is not None or (setting and _reports_setting(update)):
            return
        call, transcript = None, self._presenter.transcript
        if isinstance(update, updates.ToolCallChanged):
            call = None if transcript.is_new(update) else transcript.call(update.patch.tool_call_id)
        elif isinstance(update, updates.ToolCallContentAdded):
            call = transcript.call(update.tool_call_id)
        elif not self._turn.count:
            return  # a greeting
        if _begins_turn(update, call, self._turn.background, self._turn.stop_reason == "cancelled"):
            self._begin()

    def begun(self) -> None:
        """Note that a turn has begun, by a prompt or by the agent."""
        self._late = None
        self._requests.permissions.refusing = False
        if self._turn.open_ended:
            self._last_word = anyio.current_time()
            self._tasks.spawn(self._end_when_quiet, self._turn.over)
        else:
            self._tasks.spawn(self.silence.watch, self._turn.over)

    def ended(self) -> None:
        """Note that the turn has ended. After a cancel, expect late updates of it for a while."""
        cancelled = self._turn.stop_reason == "cancelled"
        # If the agent reports ends of turns, later requests are not about this turn.
        self._requests.permissions.refusing = cancelled and self._turn.kind == "own"
        if cancelled:
            self._late = self._turn.over
            self._tasks.spawn(self._take_late_words, self._turn.over)

    def _asked(self, asked: Asked) -> None:
        self._turn.requests += 1
        self._presenter.heard()
        if self._request_begins_turn(asked):
            self._last_word = anyio.current_time()
            if not self._turn.running:
                self._begin()

    def _request_begins_turn(self, asked: Asked) -> bool:
        match asked:
            case TerminalAsked():  # agents ask for the state of a terminal at any time
                return False
            case FileToWrite():  # is always shown
                return True
            case FileToRead():  # some agents look for instructions before any prompt
                return self._late is None and self._turn.count > 0
            case _:
                return not self._requests.permissions.refusing

    async def _end_when_quiet(self, over: anyio.Event) -> None:
        while not over.is_set():
            left = self._seconds_left()
            if left <= 0:
                await anyio.lowlevel.checkpoint()  # a new request is counted once its task has begun
                left = self._seconds_left()
            if left <= 0 and not over.is_set():
                if self._turn.open_ended:  # else the agent will report the end
                    self._finish()
                return
            with anyio.move_on_after(min(left, self.seconds / 4)):  # an open call may be closed at any time
                await over.wait()

    def _seconds_left(self) -> float:
        """Return the silence that is missing until the turn is over, in seconds."""
        now = anyio.current_time()
        if self._is_open(now):
            self._last_open = now
        return max(self._last_word, self._last_open) + self.seconds - now

    def _is_open(self, now: float) -> bool:
        if self._requests.serving:  # among others those that wait for the user
            return True
        calls = {call.number for call in self._presenter.transcript.unfinished()} - self._requests.rejected
        works = self._requests.terminals.running_in_turn or bool(calls)
        return works and now - self._last_word < OPEN_SECONDS

    async def _take_late_words(self, late: anyio.Event) -> None:
        await anyio.sleep(self.seconds)
        if late is self._late:
            self._late = None
            self._requests.permissions.refusing = False
            self._presenter.close_calls("cancelled", self._requests.rejected, self._turn.background)


def _reports_setting(update: updates.Update) -> bool:
    """Return whether an update can report the effect of a setting: as a message, or as a call that is already over."""
    if isinstance(update, updates.ToolCallChanged):
        return update.announced and update.patch.kind == "think" and update.patch.status in ("completed", "failed")
    return isinstance(update, updates.MessageChunk)


def _begins_turn(update: updates.Update, call: ToolCall | None, background: Collection[str], cancelled: bool) -> bool:
    """Return whether an update shows that the agent works again.

    `call` is the tool call of the update as it was before, `background` holds the ids of calls that run beside turns
    (v2). `cancelled`: the user has cancelled the last turn and its calls.

    News of a known call begins a turn only if the call still runs: agents report the end of a call after the turn.
    """
    match update:
        case updates.MessageChunk() | updates.MessageReplaced():
            return update.role != "user"
        case updates.ToolCallChanged():
            if update.patch.tool_call_id in background:
                return False
            if call is None:
                return True
            runs = any(one in ("pending", "in_progress") for one in (update.patch.status, *(update.patch.passed or ())))
            return runs and not cancelled and (update.announced or call.status not in ("completed", "failed"))
        case updates.ToolCallContentAdded():
            return call is None and update.tool_call_id not in background
        case updates.PlanReplaced():
            return True
        case _:
            return False
