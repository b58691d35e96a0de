"""Tells the user of a turn that had no effect: the agent has ended it without a word, or with the same error again."""

from __future__ import annotations

from typing import Final

import anyio

from acp_nvim.errors import Severity
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.session.turn import Turn
from acp_nvim.tasks import Tasks
from acp_nvim.transcript.presenter import Presenter

EMPTY_TURN_SECONDS: Final = 2.0
"""Wait before a turn is reported as empty, unless the next prompt follows: some agents end a turn, and speak then."""


class EmptyTurns:
    """Finds the turns of `agent` that have no effect, and tells of each once."""

    def __init__(self, agent: str, turn: Turn, presenter: Presenter, requests: AgentRequests, tasks: Tasks) -> None:
        self._agent = agent
        self._turn = turn
        self._presenter = presenter
        self._requests = requests
        self._tasks = tasks
        self._command = ""  # the slash command that the last prompt begins with
        self._untold = 0  # number of a turn that has ended without any effect, until that is told
        self._blocks_before = 0  # length of the transcript when the last prompt was shown
        self._failed = 0, ""  # number of the last turn that has failed, and its words
        self.failed_again = False
        """Whether the last turn that has failed did so as the one before it, and without any effect."""

    def prompted(self, command: str) -> None:
        """Note that the user sends another prompt, with its slash command: what is left to tell is told now."""
        self._tell(self._turn.count)
        self._command = command

    def shown(self) -> None:
        """Note that the prompt is in the transcript: what comes after it is an effect."""
        self._blocks_before = len(self._presenter.transcript)

    @property
    def is_empty(self) -> bool:
        """Whether the prompt had no effect that the user, or we, could see."""
        told = self._turn.requests or self._requests.refusals.had_trouble
        did_something = told or self._presenter.transcript.has_more_than(self._blocks_before)
        return self._turn.prompted and not did_something

    def fails(self, words: str) -> bool:
        """Note with which words the turn fails, and return `failed_again`."""
        self.failed_again = self._failed == (self._turn.count - 1, words) and self.is_empty
        self._failed = self._turn.count, words
        return self.failed_again

    def ended(self) -> None:
        """Tell that the turn, which has ended, was empty: soon, and if it still is."""
        self._untold = self._turn.count
        self._tasks.spawn(self._tell_later, self._turn.count)

    async def _tell_later(self, number: int) -> None:
        await anyio.sleep(EMPTY_TURN_SECONDS)
        self._tell(number)

    def _tell(self, number: int) -> None:
        """Tell of the turn with that number, once, if it is the last one and still had no effect."""
        if self._untold == number == self._turn.count and self.is_empty:
            self._untold = 0
            self._presenter.notice(*self._words())

    def _words(self) -> tuple[Severity, str]:
        commands = self._presenter.command_names
        if not self._command:
            return "warn", f"Agent {self._agent!r} answered nothing."
        if commands is not None and self._command.lstrip("/") not in commands:
            return "warn", f"Agent {self._agent!r} answered nothing: it does not know the command {self._command}."
        # such as /clear: it may have done it in silence
        return "info", f"Agent {self._agent!r} has ended {self._command} without an answer."
