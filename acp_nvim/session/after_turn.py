"""Checks what a turn has left behind, and offers to send the problems back to the agent, or sends them by itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import anyio

from acp_nvim.contract.settings import CheckSettings
from acp_nvim.contract.views import ChecksState
from acp_nvim.evidence.work import TURN_LATE_NS
from acp_nvim.prompt.prompt import Prompt
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.session.block_cancelling import BlockCancelling
from acp_nvim.session.checks import Checks, Findings
from acp_nvim.session.queue import PromptQueue
from acp_nvim.session.services import Services
from acp_nvim.session.turns import Turns
from acp_nvim.tasks import is_running

STOP_SECONDS: Final = 3.0
"""Time that a prompt waits for the end of the command: most end at once, and what they change is not the agent's."""


class AfterTurn:
    """The checks after the turns of one session; `send` sends a prompt to its agent.

    A check begins when the turn of a prompt has ended well, and has changed files; the next turn ends it.
    """

    def __init__(
        self,
        turns: Turns,
        changes: TurnChanges,
        queue: PromptQueue,
        blocks: BlockCancelling,
        services: Services,
        send: Callable[[Prompt], None],
    ) -> None:
        self.settings = CheckSettings()
        self.checks = Checks(turns.presenter, services, changes.tasks, blocks.own_commands, self.cancel)
        self.state: ChecksState | None = None
        self._turns = turns
        self._presenter = turns.presenter
        self._changes = changes
        self._queue = queue
        self._send = send
        self._round = 0  # of the prompt of the last turn
        self._of_checks = False  # the prompt of the last turn
        self._changed: dict[str, bool] = {}  # as `TurnChanges.changed`, also in the turns that have led to this one
        self._offered: Findings | None = None
        self._sent: Findings | None = None  # the last that were sent back
        self._scope = anyio.CancelScope()
        self._task: anyio.Event | None = None
        turns.on_begin, turns.on_end = self._begin, self._end

    @property
    def is_checking(self) -> bool:
        """Whether a check is in progress, which needs the session."""
        return is_running(self._task)

    def send(self) -> None:
        """Send what was found back to the agent, because the user wants it."""
        if self._offered is not None:
            self._send_back(self._offered, round_number=0)
        elif self.is_checking:
            self._presenter.notice("info", "The checks after the turn have not ended yet.")
        else:
            self._presenter.notice("info", "There are no problems to send.")

    def cancel(self) -> bool:
        """Cancel a check; return False if there is none to be seen."""
        was_seen = self.state == "running"
        self.stop()
        if was_seen:
            self._presenter.notice("info", "The checks after the turn were cancelled.")
        return was_seen

    def stop(self) -> None:
        """End a check that is in progress, without a word."""
        if self.is_checking:
            self._scope.cancel()

    async def stopped(self) -> None:
        """End a check, and wait until its command has ended, at most `STOP_SECONDS`."""
        self.stop()
        if self._task is not None:
            with anyio.move_on_after(STOP_SECONDS):
                await self._task.wait()

    def _begin(self, prompt: Prompt | None) -> None:
        """Take that a turn begins, with a prompt or by the agent itself: earlier findings are out of date."""
        self.stop()
        self._offered = None
        self._set(None)
        if prompt is not None:
            self._round, self._of_checks = prompt.round_number, prompt.of_checks
            self._changes.changed.clear()
            if not prompt.of_checks:
                self._changed.clear()

    def _end(self, stop_reason: str) -> None:
        turn, wanted = self._turns.turn, self.settings.diagnostics or self.settings.command
        if wanted and stop_reason == "end_turn" and turn.prompted and not turn.background and self._queue.next is None:
            self._scope = anyio.CancelScope()
            self._task = self._changes.tasks.spawn(self._check, self._scope)

    async def _check(self, scope: anyio.CancelScope) -> None:
        with scope:
            await self._changes.settled()
            self._changed |= self._changes.changed
            if self._changes.changed:
                self._set("running")
                try:
                    found = await self._find(sorted(path for path, is_there in self._changed.items() if is_there))
                finally:
                    self._set(None)
                if not scope.cancel_called:  # the last step may have ended at that very moment
                    self._take(found)
            elif self._sent is not None and self._round:
                self._offer(self._sent, "the agent has changed nothing")

    async def _find(self, paths: list[str]) -> Findings:
        problems, command, are_all, was_run = list[str](), None, True, True
        if self.settings.diagnostics and paths:
            problems, are_all = await self.checks.problems(paths, str(self.settings.diagnostics))
        if self.settings.command:
            await anyio.sleep(2 * TURN_LATE_NS / 1e9)  # what is changed before may still be the agent's
            command, was_run = await self.checks.command(self.settings.command)
        return Findings(problems, command, are_all and was_run)

    def _take(self, found: Findings) -> None:
        if not found:
            if self._of_checks and found.are_complete:
                self._presenter.notice("info", "The checks after the turn have found nothing more.")
            return
        why_not = self._why_not(found)
        if self.settings.auto and why_not is None:
            number, most = self._round + 1, self.settings.rounds
            often = f"{number} of {most:g} times" if math.isfinite(most) else f"{number} so far"
            self._presenter.notice("info", f"{found.words}: sent back to the agent ({often}).")
            self._send_back(found, number)
        else:
            self._offer(found, why_not if self.settings.auto else None)

    def _why_not(self, found: Findings) -> str | None:
        """Return why nothing is sent by itself any more; None if it may be."""
        if self._queue:
            return "your own prompts wait"
        if self._round and self._sent is not None and found.same_as(self._sent):
            return "the same was sent before"
        most = self.settings.rounds
        if not self._round + 1 <= most:  # a fraction, infinity and nan are numbers for Lua, too
            return f"it was sent {self._round} times" if self._round else f"after_turn.rounds is {most:g}"
        return None

    def _offer(self, found: Findings, why: str | None) -> None:
        self._offered = found
        self._set("found")
        words = f"{found.words}. :AcpSendProblems sends it to the agent"
        self._presenter.notice("warn", f"{words}; not by itself, since {why}." if why else f"{words}.")

    def _send_back(self, found: Findings, round_number: int) -> None:
        self._sent, self._offered = found, None
        self._set(None)
        self._send(Prompt(found.prompt(), of_checks=True, round_number=round_number))

    def _set(self, state: ChecksState | None) -> None:
        if state != self.state:
            self.state = state
            self._presenter.publish_status()
