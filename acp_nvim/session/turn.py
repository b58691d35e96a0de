"""Whether the agent works: a turn from its prompt (or its own beginning) to its end, in both protocol versions."""

from __future__ import annotations

from typing import Literal

import anyio

from acp_nvim.protocol.updates import MessageChunk, MessageReplaced, StateChanged, Update

Change = Literal["begun", "ended", "same"]

WORKING = frozenset({"running", "requires_action"})


class Turn:
    """The turn that runs, or the last one.

    Version 1: it ends with the answer to `session/prompt`. Version 2: that answer only accepts the prompt, the end is
    a `state_update`; and the agent may begin to work by itself.
    """

    def __init__(self) -> None:
        self.running = False
        self.requires_action = False
        self.stop_reason: str | None = None
        self.background: frozenset[str] = frozenset()
        self.over = anyio.Event()
        self.prompted = False
        self._is_told = False
        self._begun = False
        self._idle = False
        self._echoes: set[str | None] = set()
        self._owed = 0  # prompts of ours whose echo did not come yet

    def __repr__(self) -> str:
        return f"<Turn {'running' if self.running else self.stop_reason}>"

    @property
    def has_end(self) -> bool:
        """Whether the agent says when the turn ends. It does not when it began one by itself (version 1)."""
        return self.prompted or self._is_told

    @property
    def open_ended(self) -> bool:
        """Whether a turn runs of which the agent does not say when it ends; it may be prompted meanwhile."""
        return self.running and not self.has_end

    def begin(self, prompted: bool, told: bool = False) -> None:
        """With a prompt of ours, or without; `told`: the agent says itself when it begins and ends to work."""
        self.running, self.prompted, self._begun, self._is_told = True, prompted, not prompted, told
        self.stop_reason, self._idle = None, False
        self._echoes, self._owed = set(), int(prompted)
        self.over = anyio.Event()

    def accept(self, message_id: str | None) -> None:
        """The agent took the prompt, as that message."""
        if message_id is not None and message_id not in self._echoes:
            self._echoes.add(message_id)
            self._owed = max(0, self._owed - 1)

    def expect_echo(self) -> None:
        """One more prompt of ours goes into the turn that runs."""
        self.prompted = True
        self._owed += 1

    def cancel(self) -> bool:
        """The agent is asked to stop, begun or not; True when it said that it is idle, and may be silent."""
        self._begun = True
        return self._idle

    def end(self, stop_reason: str) -> None:
        """It is over."""
        self.running, self.requires_action = False, False
        self.stop_reason = stop_reason
        self.over.set()

    def take_state(self, news: StateChanged) -> Change:
        """What a `state_update` means: the caller begins or ends the turn.

        States may be told again at any time: an `idle` before the agent began is no end.
        """
        self.requires_action = news.state == "requires_action"
        if news.background is not None:
            self.background = news.background
        if news.state in WORKING:
            self._begun, self._idle, self._is_told = True, False, True
            return "same" if self.running else "begun"
        self._idle = news.state == "idle"
        return "ended" if self._idle and self.running and self._begun else "same"

    def take_message(self, update: Update, ids: bool) -> bool:
        """Whether it is to be shown: an echo of our prompt is not, and what the agent says shows that it works."""
        if self._is_echo(update, ids):
            return False
        if isinstance(update, MessageChunk | MessageReplaced) and update.role != "user":
            self._begun = True
        return True

    def _is_echo(self, update: Update, ids: bool) -> bool:
        """Whether an update only repeats our prompt, which stands in the transcript already.

        With message ids (`ids`, version 2) the first user message is the echo, one for each prompt; without them, all
        that the agent says in the user's name while the turn runs.
        """
        if not isinstance(update, MessageChunk | MessageReplaced) or update.role != "user":
            return False
        if not self.prompted:
            return False
        if not ids:
            return self.running
        if self._owed and self.running:
            self.accept(update.message_id)
        return update.message_id in self._echoes
