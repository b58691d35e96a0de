"""The state of a turn, from its prompt (or the agent's own beginning) to its end, in both protocol versions."""

from __future__ import annotations

from typing import Literal

import anyio

from acp_nvim.acp.updates import MessageChunk, MessageReplaced, StateChanged, Update

WORKING = frozenset({"running", "requires_action"})


class Turn:
    """The running turn, or the last one.

    Version 1: it ends with the answer to `session/prompt`. Version 2: that answer only accepts the prompt, the end is
    a `state_update`; and the agent may begin to work by itself.
    """

    def __init__(self) -> None:
        self.kind: Literal["prompt", "own", "reported"] = "own"
        """`prompt`: begun by a prompt; else by the agent, which reports the end (`reported`) or does not (`own`)."""
        self.count = 0
        """Number of turns so far, with the running one."""
        self.is_sent = True
        """False while the prompt is prepared: the agent does not know of the turn."""
        self.continues = False
        """Whether a prompt has taken over a turn that the agent had begun."""
        self.requests = 0
        """Number of requests of the agent since it began."""
        self.stop_reason: str | None = None
        self.background: frozenset[str] = frozenset()
        self.over = anyio.Event()
        self.over.set()
        self._agent_state: Literal["nothing", "idle", "running", "requires_action"] = "nothing"  # the last it reported
        self._echoes: set[str | None] = set()
        self._owed = 0  # number of our prompts whose echo is missing

    @property
    def running(self) -> bool:
        """Whether the turn has begun and not ended."""
        return not self.over.is_set()

    @property
    def prompted(self) -> bool:
        """Whether it is, or was, the turn of a prompt."""
        return self.kind == "prompt"

    @property
    def requires_action(self) -> bool:
        """Whether the agent reports that it waits for the user."""
        return self._agent_state == "requires_action"

    @property
    def open_ended(self) -> bool:
        """Whether a turn runs whose end the agent does not report; a prompt may be sent meanwhile."""
        return self.running and self.kind == "own"

    def begin(self, prompted: bool, reported: bool = False, continues: bool = False) -> None:
        """Begin a turn with a prompt or without; `reported`: the agent reports when it starts and stops working."""
        self.kind = "prompt" if prompted else "reported" if reported else "own"
        self.count += 1
        self.requests = 0
        self.is_sent, self.continues = not prompted, continues
        self.stop_reason = None
        if not self.requires_action:
            self._agent_state = "nothing" if prompted else "running"
        self._echoes, self._owed = set(), int(prompted)
        self.over = anyio.Event()

    def accept(self, message_id: str | None) -> None:
        """Note that the agent accepted the prompt as the message with that id."""
        if message_id is not None and message_id not in self._echoes:
            self._echoes.add(message_id)
            self._owed = max(0, self._owed - 1)

    def expect_echo(self) -> None:
        """Note that another prompt goes into the running turn."""
        self.kind = "prompt"
        self._owed += 1

    def cancel(self) -> bool:
        """Note that the agent was asked to stop. Return whether it was idle, so that it may not report an end."""
        was_idle = self._agent_state == "idle"
        self._works()
        return was_idle

    def end(self, stop_reason: str) -> None:
        """End the turn with that stop reason of the protocol, and set `over`."""
        if self.requires_action:
            self._agent_state = "nothing"
        self.stop_reason = stop_reason
        self.over.set()

    def take_state(self, news: StateChanged) -> Literal["begun", "ended", "same"]:
        """Take a `state_update`; return whether the caller has to begin or end the turn.

        Agents may repeat a state at any time: an `idle` before the agent began is no end.
        """
        had_begun = self._agent_state in WORKING
        if news.background is not None:
            self.background = news.background
        if news.state in WORKING:
            self._agent_state = "running" if news.state == "running" else "requires_action"
            self.kind = "reported" if self.kind == "own" else self.kind
            return "same" if self.running else "begun"
        if news.state == "idle":
            self._agent_state = "idle"
            return "ended" if self.running and had_begun else "same"
        self._agent_state = "running" if had_begun else "nothing"
        return "same"

    def take_message(self, update: Update, ids: bool) -> bool:
        """Return whether to show a message: not if it echoes our prompt, which the transcript has already.

        With message ids (`ids`, version 2) the first user message is the echo, one for each prompt; without them, all
        user messages while the turn runs. Any other message shows that the agent works.
        """
        if not isinstance(update, (MessageChunk, MessageReplaced)):
            return True
        if update.role != "user":
            self._works()
            return True
        if not self.prompted:
            return True
        if not ids:
            return not self.running
        if self._owed and self.running:
            self.accept(update.message_id)
        return update.message_id not in self._echoes

    def _works(self) -> None:
        if self._agent_state not in WORKING:
            self._agent_state = "running"
