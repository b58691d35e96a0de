"""Tells the user, once a turn, that nothing has come from the agent for a while: its provider may be refusing."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

import anyio

from acp_nvim.limits import SILENT_SECONDS
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.session.turn import Turn
from acp_nvim.transcript.presenter import Presenter

LOOK_SECONDS: Final = 1.0
"""Time after which what has been said of a silence is replaced, once something has come."""


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
