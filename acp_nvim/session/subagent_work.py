"""The work of one child session: when it begins and ends, as reported or as updates show, and what is told of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final

import anyio
import msgspec

from acp_nvim.acp.updates import StateChanged, ToolCallChanged, Update
from acp_nvim.contract import events
from acp_nvim.failures import failures
from acp_nvim.review.turn.turn_changes import TurnChanges
from acp_nvim.session.conversation import Conversation
from acp_nvim.session.requests.requests import AgentRequests
from acp_nvim.tasks import is_running
from acp_nvim.transcript.presenter import Presenter

QUIET_SECONDS: Final = 1.0
"""Silence after which what an idle child has asked for is over: a permission is followed by what it is for."""
WORKING = frozenset({"running", "requires_action"})
"""Reported states in which a child works, or waits for the user."""


class SubagentWork:
    """The work of a child session called `name`; `on_change` is called when it has begun or ended.

    An agent need not report states: then work begins with an update or a request, and ends with the turn of the parent.
    What an idle child does ends with its tool calls; what it asks for ends when nothing is open and it is silent.
    `is_refused` tells whether the user has cancelled what the parent does.
    """

    def __init__(
        self,
        agent: str,
        presenter: Presenter,
        requests: AgentRequests,
        changes: TurnChanges,
        is_refused: Callable[[], bool],
        on_change: Callable[[], None],
    ) -> None:
        self._agent = agent
        self.reported: StateChanged | None = None
        """The state as the agent has reported it last."""
        self.runs = False
        self.started: float | None = None
        self.ended: float | None = None
        self._presenter = presenter
        self._requests = requests
        self._changes = changes
        self._is_refused = is_refused
        self._on_change = on_change
        self.is_cancelled = False
        """Whether the user has cancelled it: then what it sends begins no work until the agent reports some."""
        self._last_request = 0.0
        self._quiet: anyio.Event | None = None
        self._is_prompted = True  # the user has prompted the parent since the last work

    def __repr__(self) -> str:
        return f"<SubagentWork runs={self.runs} reported={self.reported}>"

    @property
    def is_reported(self) -> bool:
        """Whether the agent says that the child works."""
        return self.reported is not None and self.reported.state in WORKING

    @property
    def _is_idle(self) -> bool:
        return self.reported is not None and self.reported.state == "idle"

    def state(self, is_waiting: bool) -> str:
        """Return the state as in `SubagentView.state`; `is_waiting`: for the user."""
        reported = self.reported.state if self.reported is not None else None
        if is_waiting or reported == "requires_action":
            return "waiting"
        if reported == "unknown":
            return "unknown"
        return "running" if self.runs else "idle"

    @property
    def stop_reason(self) -> str | None:
        """Why the last work has ended, as reported."""
        return self.reported.stop_reason if self.reported is not None else None

    def take_state(self, state: StateChanged | None, name: str, is_replaying: bool) -> None:
        """Take a reported state; None: it is not known any more, which ends nothing."""
        self.reported = state
        if state is None or is_replaying:
            return
        if state.state in WORKING:
            if state.state == "running" and not self.runs:
                self.is_cancelled = self._requests.permissions.refusing = self._is_refused()
            self.begin(name)
        elif state.state == "idle":
            self.end(state.stop_reason or "end_turn")
            if state.error is not None:
                self._presenter.notice("error", str(failures.subagent_failed(self._agent, name, state.error)))

    def heard(self, update: Update, name: str) -> None:
        """Note an update that shows that the child works, unless that was cancelled.

        An idle child works again with a tool call that runs: agents report the end of others late.
        """
        is_running_call = isinstance(update, ToolCallChanged) and update.patch.status in ("pending", "in_progress")
        if not (self.runs or self.is_cancelled or (self._is_idle and not is_running_call)):
            self.begin(name)

    def asked(self, name: str) -> None:
        """Note a request, which shows that the child works, unless that was cancelled."""
        if self.is_cancelled:
            return
        self.begin(name)
        self._last_request = anyio.current_time()
        if not is_running(self._quiet):
            self._quiet = self._changes.tasks.spawn(self._end_when_quiet)

    async def _end_when_quiet(self) -> None:
        """End what an idle child does when nothing that it asked for is open, and it asks for nothing more."""
        while self.runs and self._is_idle:
            if self._is_open:
                self._last_request = anyio.current_time()
            left = self._last_request + QUIET_SECONDS - anyio.current_time()
            if left <= 0:
                self.end("end_turn")
            else:
                await anyio.sleep(min(left, QUIET_SECONDS / 4))

    @property
    def _is_open(self) -> bool:
        asked = self._requests.serving or self._requests.terminals.running
        return bool(asked or self._presenter.transcript.unfinished())

    def replayed(self, name: str) -> None:
        """Note that the agent has replayed the conversation: the child works if it was reported so last."""
        if self.is_reported:
            self.begin(name)

    def caught_up(self) -> None:
        """Note that all messages are handled: what an idle child does is over with its tool calls."""
        if self.runs and self._is_idle and not (is_running(self._quiet) or self._presenter.transcript.unfinished()):
            self.end("end_turn")

    def refuse(self) -> None:
        """Cancel its questions and commands: the user has cancelled it, or its parent."""
        self._changes.left.note_cancel()
        self.is_cancelled = True
        self._requests.permissions.refusing = True
        self._requests.terminals.cancel_turn()
        self._requests.cancel_waiting(overrule=True)

    def prompted(self) -> None:
        """Note that the user has prompted the parent: what was cancelled or allowed before is over."""
        self._is_prompted, self.is_cancelled = True, False
        self._requests.permissions.refusing = False
        self._requests.terminals.begin_turn()
        if self.runs:
            self._requests.granted.begin_turn()

    def begin(self, name: str) -> None:
        """Begin work, unless it runs; `name` describes it in the list of checkpoints."""
        if self.runs:
            return
        self.runs, self.started, self.ended = True, time.time(), None
        self._changes.left.turn_begins()
        self._presenter.close_calls("unfinished", self._requests.rejected)
        self._presenter.transcript.begin_turn(self._is_prompted)
        self._is_prompted = False
        self._requests.begin_turn(same_commands=True)  # until the next prompt to the parent
        self._requests.refusals.begin_turn()
        self._presenter.metadata.begin_turn()
        self._changes.begun(name)
        self._on_change()

    def end(self, stop_reason: str) -> None:
        """End the work, if it runs: close its tool calls, and find what it has changed."""
        if not self.runs:
            return
        self.runs, self.ended = False, time.time()
        status = "cancelled" if self.is_cancelled or stop_reason == "cancelled" else "unfinished"
        key = self._presenter.transcript.session
        self._changes.tasks.all_of(
            "ending the work of a subagent",
            self._requests.granted.end_turn,
            partial(self._presenter.close_calls, status, self._requests.rejected),
            self._presenter.metadata.end_turn,
            partial(self._presenter.publish, events.FilesMaybeChanged(session=key)),
            partial(self._changes.end, goes_on=False),
            self._on_change,
        )


def view_of(
    child: Conversation, work: SubagentWork, title: str, description: str | None, can_cancel: bool
) -> events.SubagentView:
    """Return what the block of a child session shows."""
    return events.SubagentView(
        session=child.key,
        session_id=child.session_id or "",
        title=title,
        state=child.state,
        description=description,
        stop_reason=work.stop_reason,
        activity=child.presenter.metadata.activity.words,
        started=work.started,
        ended=work.ended,
        review=child.changes.counts,
        cancel=can_cancel,
    )


def status_of(child: Conversation, work: SubagentWork, title: str) -> events.StatusView:
    """Return the status of a child session, which has no queue."""
    status = events.StatusView(
        agent=child.agent,
        agent_title=title,
        state=child.state,
        cwd=child.place.cwd,
        pending_permissions=child.requests.permissions.count,
        pending_elicitations=child.requests.elicitations.count,
        queue=0,
        session_id=child.session_id,
        stop_reason=work.stop_reason,
        review=child.changes.counts,
        directories=child.roots.directories if child.is_open else [],
        watched=child.reviewed.outside if child.is_open else [],
    )
    return msgspec.structs.replace(child.presenter.metadata.added_to(status), title=title)
