"""Whether the agent works: a turn from its prompt (or its own beginning) to its end, in both protocol versions."""

from __future__ import annotations

from typing import Literal

import anyio

from acp_nvim.acp.updates import MessageChunk, MessageReplaced, StateChanged, Update

Change = Literal["begun", "ended", "same"]

TurnKind = Literal["prompt", "own", "told"]
"""Whose turn it is: of a prompt, or of the agent, which does not say when it ends, or does so (version 2)."""

Heard = Literal["nothing", "idle", "running", "requires_action"]
"""What the agent has said of itself last."""

WORKING = frozenset({"running", "requires_action"})


class Turn:
    """The turn that runs, or the last one.

    Version 1: it ends with the answer to `session/prompt`. Version 2: that answer only accepts the prompt, the end is
    a `state_update`; and the agent may begin to work by itself.
    """

    def __init__(self) -> None:
        self.kind: TurnKind = "own"
        self.count = 0
        """Turns until now, with the one that runs."""
        self.is_sent = True
        """False while the prompt is got ready: the agent does not know of the turn."""
        self.goes_on = False
        """Whether it began as one of the agent's own, and a prompt has taken it over."""
        self.requests = 0
        """What the agent has asked for since it began."""
        self.stop_reason: str | None = None
        self.background: frozenset[str] = frozenset()
        self.over = anyio.Event()
        self.over.set()
        self._heard: Heard = "nothing"
        self._echoes: set[str | None] = set()
        self._owed = 0  # prompts of ours whose echo did not come yet

    def __repr__(self) -> str:
        return f"<Turn {self.kind if self.running else self.stop_reason}>"

    @property
    def running(self) -> bool:
        """Whether it has begun, and is not over."""
        return not self.over.is_set()

    @property
    def prompted(self) -> bool:
        """Whether it is, or was, the turn of a prompt."""
        return self.kind == "prompt"

    @property
    def requires_action(self) -> bool:
        """Whether the agent says that it waits for the user."""
        return self._heard == "requires_action"

    @property
    def has_end(self) -> bool:
        """Whether the agent says when the turn ends. It does not when it began one by itself (version 1)."""
        return self.kind != "own"

    @property
    def open_ended(self) -> bool:
        """Whether a turn runs of which the agent does not say when it ends; it may be prompted meanwhile."""
        return self.running and not self.has_end

    def begin(self, prompted: bool, told: bool = False, goes_on: bool = False) -> None:
        """With a prompt of ours, or without; `told`: the agent says itself when it begins and ends to work."""
        self.kind = "prompt" if prompted else "told" if told else "own"
        self.count += 1
        self.requests = 0
        self.is_sent, self.goes_on = not prompted, goes_on
        self.stop_reason = None
        if not self.requires_action:
            self._heard = "nothing" if prompted else "running"
        self._echoes, self._owed = set(), int(prompted)
        self.over = anyio.Event()

    def accept(self, message_id: str | None) -> None:
        """The agent took the prompt, as that message."""
        if message_id is not None and message_id not in self._echoes:
            self._echoes.add(message_id)
            self._owed = max(0, self._owed - 1)

    def expect_echo(self) -> None:
        """One more prompt of ours goes into the turn that runs."""
        self.kind = "prompt"
        self._owed += 1

    def cancel(self) -> bool:
        """The agent is asked to stop, begun or not; True when it said that it is idle, and may be silent."""
        was_idle = self._heard == "idle"
        self._works()
        return was_idle

    def end(self, stop_reason: str) -> None:
        """End the turn with that stop reason of the protocol, and wake whoever waits for `over`."""
        if self.requires_action:
            self._heard = "nothing"
        self.stop_reason = stop_reason
        self.over.set()

    def take_state(self, news: StateChanged) -> Change:
        """What a `state_update` means: the caller begins or ends the turn.

        States may be told again at any time: an `idle` before the agent began is no end.
        """
        had_begun = self._heard in WORKING
        if news.background is not None:
            self.background = news.background
        if news.state in WORKING:
            self._heard = "running" if news.state == "running" else "requires_action"
            self.kind = "told" if self.kind == "own" else self.kind
            return "same" if self.running else "begun"
        if news.state == "idle":
            self._heard = "idle"
            return "ended" if self.running and had_begun else "same"
        self._heard = "running" if had_begun else "nothing"
        return "same"

    def take_message(self, update: Update, ids: bool) -> bool:
        """Whether it is to be shown: an echo of our prompt is not, and what the agent says shows that it works."""
        if self._is_echo(update, ids):
            return False
        if isinstance(update, MessageChunk | MessageReplaced) and update.role != "user":
            self._works()
        return True

    def _works(self) -> None:
        if self._heard not in WORKING:
            self._heard = "running"

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
