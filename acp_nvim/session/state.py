"""The state machine of a session, as a table of transitions; `step` returns the effects for others to carry out.

A session has up to three states at once: a base (its agent starts, is there, is gone), on it a turn, and on that a
question to the user. The topmost that has a transition for an event takes it; an event without one changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from acp_nvim.acp.dialect import Way
from acp_nvim.errors import Failure

State = Literal[
    "starting",  # the agent is being started, or the session opened there
    "idle",  # the session is open, without a turn
    "running",  # a turn of a prompt runs
    "background",  # a turn runs that the agent has begun by itself
    "cancelling",  # the agent was asked to stop the turn
    "waiting",  # for an answer of the user to a question of the state below
    "signing_in",  # the agent requires a sign-in; the prompt is kept until then
    "asleep",  # the idle process was stopped; the next prompt starts it
    "stopped",  # without an agent: not started yet, or stopped by the user
    "failed",  # without an agent: it has ended, or could not be started
]
Event = Literal[
    "open",  # the session needs its agent, which does not run
    "open_again",  # the session needs its agent, which runs
    "opened",  # the session is open at the agent
    "failed",  # the agent could not be started, or the plugin has failed
    "sign_in_wanted",  # the agent refuses until the user signs in
    "begin",  # the turn of a prompt begins
    "begin_own",  # the agent begins a turn by itself
    "end",  # the turn is over
    "asked",  # a question waits for the user
    "answered",  # no question waits any longer
    "cancel",  # `:AcpCancel`
    "insist",  # `:AcpCancel!`
    "stop",  # the user stops the agent
    "sleep",  # the idle process is stopped
    "gone",  # the process was ended by us, or the session has left it
    "lost",  # the process has ended by itself
]
Effect = Literal[
    "work",  # connect to the agent, and send the queue
    "give_up_start",  # cancel the start; do not send prompts that are shown
    "leave_start",  # cancel the start; hold the queue
    "give_up_sign_in",  # cancel the sign-in; without an attempt, drop the prompts that wait for it
    "give_up_queue",  # hold the queue; drop it if it is held already
    "ask_to_stop",  # send `session/cancel`, and end our own work for the turn
    "remind",  # show how long ago that was; insist if it is too long
    "insist",  # ask again, then close the session, then end the process
    "end_rest",  # cancel questions and commands between turns; without any, as `give_up_queue`
    "end_process",  # end the process, even if other sessions use it
]

AT_REST: Final[frozenset[State]] = frozenset({"idle", "signing_in", "asleep", "stopped", "failed"})
"""States in which nothing happens until the user, or the agent, acts."""

STATES: Final[Mapping[State, int]] = {
    **dict.fromkeys(AT_REST, 0),
    "starting": 0,
    "running": 1,
    "background": 1,
    "cancelling": 1,
    "waiting": 2,
}
"""The level of each state: 0 for a base, 1 for a turn, 2 for a question."""

PUBLIC: Final[Mapping[State, State]] = {"signing_in": "failed", "asleep": "stopped", "cancelling": "running"}
"""Names in `status()` of the states that it does not have; its fields `asleep` and `sign_in` tell them apart."""


class Transition(NamedTuple):
    """The state that replaces the one at its level (None: that level ends), and the effects to carry out."""

    state: State | None
    effects: tuple[Effect, ...] = ()


_START: Final = Transition("starting", ("work",))
_GIVEN_UP: Final = Transition("stopped", ("give_up_start",))


def _without_agent(state: State) -> dict[Event, Transition]:
    give_up = Transition(state, ("give_up_queue",))
    return {"open": _START, "cancel": give_up, "insist": give_up}


_AGENT_ENDS: Final[Mapping[Event, Transition]] = {
    "gone": Transition("stopped"),
    "lost": Transition("failed"),
    "failed": Transition("failed"),
}
_TURN: Final[Mapping[Event, Transition]] = {
    "end": Transition(None),
    "cancel": Transition("cancelling", ("ask_to_stop",)),
    "insist": Transition("cancelling", ("ask_to_stop", "insist")),
}

TABLE: Final[Mapping[State, Mapping[Event, Transition]]] = {
    "stopped": _without_agent("stopped"),
    "failed": _without_agent("failed"),
    "asleep": {**_without_agent("asleep"), "stop": Transition("stopped")},
    "signing_in": {
        **_AGENT_ENDS,
        "open": _START,
        "open_again": Transition("idle", ("work",)),
        "begin_own": Transition("background"),
        "cancel": Transition("signing_in", ("give_up_sign_in",)),
        "insist": Transition("signing_in", ("give_up_sign_in", "end_process")),
        "stop": Transition("failed"),
    },
    "starting": {
        "open": _START,
        "opened": Transition("idle"),
        "failed": Transition("failed"),
        "sign_in_wanted": Transition("signing_in"),
        "begin_own": Transition("background"),
        "cancel": _GIVEN_UP,
        "insist": _GIVEN_UP,
        "stop": Transition("stopped", ("leave_start",)),
    },
    "idle": {
        **_AGENT_ENDS,
        "open": _START,
        "open_again": Transition("idle", ("work",)),
        "begin": Transition("running"),
        "begin_own": Transition("background"),
        "cancel": Transition("idle", ("end_rest",)),
        "insist": Transition("idle", ("end_process",)),
        "stop": Transition("stopped"),
        "sleep": Transition("asleep"),
        "sign_in_wanted": Transition("signing_in"),
    },
    "running": _TURN,
    "background": {**_TURN, "begin": Transition("running")},
    "cancelling": {
        "end": Transition(None),
        "cancel": Transition("cancelling", ("remind",)),
        "insist": Transition("cancelling", ("insist",)),
    },
    "waiting": {"answered": Transition(None)},
}


class Situation(NamedTuple):
    """The states of a session at the three levels, from the bottom."""

    base: State = "stopped"
    turn: State | None = None
    question: State | None = None

    @property
    def state(self) -> State:
        """The topmost state: that of a question before that of the turn, before the base."""
        return self.question or self.turn or self.base

    @property
    def wanted(self) -> bool:
        """Whether the session should have an agent."""
        return self.base in ("starting", "idle")


def step(now: Situation, event: Event) -> tuple[Situation, tuple[Effect, ...]]:
    """Return the situation after `event`, and the effects to carry out.

    A base without an agent clears the turn and the question.
    """
    if event == "asked":
        return now._replace(question="waiting"), ()
    for level in (2, 1, 0):
        state = now[level]
        outcome = TABLE[state].get(event) if state is not None else None
        if outcome is None:
            continue
        if outcome.state is None:
            after = now._replace(turn=None) if level == 1 else now._replace(question=None)
        elif STATES[outcome.state] == 1:
            after = now._replace(turn=outcome.state)
        elif outcome.state == state or outcome.state in ("starting", "idle"):
            after = now._replace(base=outcome.state)
        else:
            after = Situation(outcome.state)
        return after, outcome.effects
    return now, ()


class StateMachine:
    """Holds the situation of a session; calls `act` for each effect of an event, after the change of state."""

    def __init__(self, act: Callable[[Effect], None], on_change: Callable[[], None]) -> None:
        self.now = Situation()
        self._act = act
        self._on_change = on_change

    def __repr__(self) -> str:
        return f"<StateMachine {self.now}>"

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing happens until the user, or the agent, acts."""
        return self.now.turn is None and self.now.base in AT_REST

    def on(self, event: Event) -> None:
        """Take `event`; if the topmost state changes, call `on_change` before the effects."""
        before = self.now.state
        self.now, effects = step(self.now, event)
        if self.now.state != before:
            self._on_change()
        for effect in effects:
            self._act(effect)

    def note_questions(self, waiting: bool) -> State:
        """Set whether something waits for the user, without `on_change`. Return the topmost state."""
        self.now, _ = step(self.now, "asked" if waiting else "answered")
        return self.now.state


DEADLY = frozenset({"agent_exited", "agent_silent"})
"""Codes of failures after which the agent's process has ended unexpectedly."""
DEATHS: Final = 3
"""Such ends in a row, without a finished turn, after which only a prompt starts the agent again."""
REOPENING_DEATHS: Final = 2
"""Such ends while the session was reopened in one way, after which the next way is tried: one may be an accident."""


class CrashLoopGuard:
    """Counts how often the agent has died since the last finished turn, so that it is not restarted for ever."""

    def __init__(self) -> None:
        self._count = 0
        self._while_reopening: Counter[Way] = Counter()

    @property
    def any(self) -> bool:
        """Whether the process has died since the last turn that finished."""
        return self._count > 0

    @property
    def looping(self) -> bool:
        """Whether to leave the agent alone until the user sends a prompt."""
        return self._count >= DEATHS

    def note_way(self, failure: Failure, way: Way | None) -> None:
        """Note that a failure happened while the session was opened in that way."""
        if failure.code in DEADLY and way is not None:
            self._while_reopening[way] += 1

    def note(self, failure: Failure | None) -> str:
        """Note that the agent is gone; return a sentence to add to the failure, or "" if there is none."""
        if failure is None or failure.code not in DEADLY:
            return ""
        self._count += 1
        if not self.looping:
            return ""
        return (
            f"That was {self._count} times in a row without a finished turn: it is not started again unasked. "
            "Your next prompt tries once more; :AcpChat! begins a new session, :AcpLog shows what it said."
        )

    def avoids(self, way: Way) -> bool:
        """Whether the agent has died too often while it reopened the session in that way."""
        return self._while_reopening[way] >= REOPENING_DEATHS

    def reopened(self) -> None:
        """Forget the deaths while reopening: a way has worked."""
        self._while_reopening.clear()

    def turn_done(self) -> None:
        """Count the deaths anew: the agent has finished a turn."""
        self._count = 0
