"""The states of a session: what each event does in each of them. Nothing here acts: `step` returns what is to be done.

A session has a base (its agent starts, is there, is gone), on it a turn, and on that a question to the user. An event
goes to the topmost of them that has an outcome for it. One that none has an outcome for changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

State = Literal[
    "starting",  # the agent is started, or the session opened there
    "idle",  # the session is open, and nothing happens
    "running",  # a turn of a prompt
    "background",  # a turn that the agent has begun by itself
    "cancelling",  # a turn that the agent was asked to stop
    "waiting",  # for an answer of the user; what it is about goes on below
    "signing_in",  # the agent wants the user to sign in; the prompt is kept until then
    "asleep",  # the agent's process was stopped because nothing happened; the next prompt starts it
    "stopped",  # without an agent: there was none yet, or the user has stopped it
    "failed",  # without an agent: it has ended, or could not be started
]
Event = Literal[
    "open",  # the user wants the agent, and there is none that can be talked to
    "open_again",  # the same, while there is one
    "opened",  # the agent has the session
    "failed",  # it could not be started, or a bug of ours got in the way
    "sign_in_wanted",  # it refuses until the user has signed in
    "begin",  # the turn of a prompt begins
    "begin_own",  # the agent works by itself
    "end",  # the turn is over
    "asked",  # something waits for the user
    "answered",  # nothing does any more
    "cancel",  # `:AcpCancel`
    "insist",  # `:AcpCancel!`
    "stop",  # the user wants no agent
    "sleep",  # its process is stopped because nothing happened
    "gone",  # its process has ended as we wanted, or the session has left it
    "lost",  # its process has ended by itself
]
Effect = Literal[
    "work",  # get the agent, and send what is queued
    "give_up_start",  # stop starting it; prompts that are shown are not sent
    "give_up_sign_in",  # stop signing in; without an attempt, drop the prompts that wait for it
    "give_up_queue",  # hold what is queued; drop what is held
    "ask_to_stop",  # `session/cancel`, and an end to what we do for the turn
    "remind",  # say how long ago that was; when it is too long, insist
    "insist",  # ask again, then close the session, then end the process
    "end_rest",  # end what goes on between turns: questions, commands; else as `give_up_queue`
    "end_process",  # end the process, whoever uses it
]

STATES: Final[Mapping[State, int]] = {
    "starting": 0,
    "idle": 0,
    "signing_in": 0,
    "asleep": 0,
    "stopped": 0,
    "failed": 0,
    "running": 1,
    "background": 1,
    "cancelling": 1,
    "waiting": 2,
}
"""All states, and where each stands: 0 for a base, 1 for a turn, 2 for a question."""

AT_REST: Final = frozenset({"idle", "signing_in", "asleep", "stopped", "failed"})
"""Nothing happens in these until the user, or the agent, does something."""

PUBLIC: Final[Mapping[State, State]] = {"signing_in": "failed", "asleep": "stopped", "cancelling": "running"}
"""What `status()` calls the states that it has no word for; `asleep` and `sign_in` stand beside it there."""


class Transition(NamedTuple):
    """The state that takes the place of what stands at its level; None: that level ends."""

    state: State | None
    effects: tuple[Effect, ...] = ()


_START: Final = Transition("starting", ("work",))
_GIVEN_UP: Final = Transition("stopped", ("give_up_start",))

TABLE: Final[Mapping[State, Mapping[Event, Transition]]] = {
    "stopped": {
        "open": _START,
        "cancel": Transition("stopped", ("give_up_queue",)),
        "insist": Transition("stopped", ("give_up_queue",)),
    },
    "failed": {
        "open": _START,
        "cancel": Transition("failed", ("give_up_queue",)),
        "insist": Transition("failed", ("give_up_queue",)),
    },
    "asleep": {
        "open": _START,
        "cancel": Transition("asleep", ("give_up_queue",)),
        "insist": Transition("asleep", ("give_up_queue",)),
        "stop": Transition("stopped"),
    },
    "signing_in": {
        "open": _START,
        "open_again": Transition("idle", ("work",)),
        "begin_own": Transition("background"),
        "cancel": Transition("signing_in", ("give_up_sign_in",)),
        "insist": Transition("signing_in", ("give_up_sign_in", "end_process")),
        "stop": Transition("failed"),
        "gone": Transition("stopped"),
        "lost": Transition("failed"),
        "failed": Transition("failed"),
    },
    "starting": {
        "open": _START,
        "opened": Transition("idle"),
        "failed": Transition("failed"),
        "sign_in_wanted": Transition("signing_in"),
        "begin_own": Transition("background"),
        "cancel": _GIVEN_UP,
        "insist": _GIVEN_UP,
        "stop": _GIVEN_UP,
    },
    "idle": {
        "open": _START,
        "open_again": Transition("idle", ("work",)),
        "begin": Transition("running"),
        "begin_own": Transition("background"),
        "cancel": Transition("idle", ("end_rest",)),
        "insist": Transition("idle", ("end_process",)),
        "stop": Transition("stopped"),
        "sleep": Transition("asleep"),
        "gone": Transition("stopped"),
        "lost": Transition("failed"),
        "failed": Transition("failed"),
        "sign_in_wanted": Transition("signing_in"),
    },
    "running": {
        "end": Transition(None),
        "cancel": Transition("cancelling", ("ask_to_stop",)),
        "insist": Transition("cancelling", ("ask_to_stop", "insist")),
    },
    "background": {
        "begin": Transition("running"),
        "end": Transition(None),
        "cancel": Transition("cancelling", ("ask_to_stop",)),
        "insist": Transition("cancelling", ("ask_to_stop", "insist")),
    },
    "cancelling": {
        "end": Transition(None),
        "cancel": Transition("cancelling", ("remind",)),
        "insist": Transition("cancelling", ("insist",)),
    },
    "waiting": {"answered": Transition(None)},
}


class Situation(NamedTuple):
    """The states that hold at once, one above the other."""

    base: State = "stopped"
    turn: State | None = None
    question: State | None = None

    @property
    def state(self) -> State:
        """The state that counts: that of a question before that of the turn, before that of the session."""
        return self.question or self.turn or self.base

    @property
    def wanted(self) -> bool:
        """Whether there is to be an agent."""
        return self.base in ("starting", "idle")


def step(now: Situation, event: Event) -> tuple[Situation, tuple[Effect, ...]]:
    """Return what `event` makes of a situation, and what is to be done, in that order.

    Without an agent there is neither a turn nor a question of one: a base at rest but `idle` clears both.
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
    """Where a session stands. `act` does what an event asks for, after the state has changed."""

    def __init__(self, act: Callable[[Effect], None], on_change: Callable[[], None]) -> None:
        self.now = Situation()
        self._act = act
        self._on_change = on_change

    def __repr__(self) -> str:
        return f"<StateMachine {self.now}>"

    def on(self, event: Event) -> None:
        """Take `event`. `on_change` is called when the state on top is another one then, before anything is done."""
        before = self.now.state
        self.now, effects = step(self.now, event)
        if self.now.state != before:
            self._on_change()
        for effect in effects:
            self._act(effect)

    def note_questions(self, waiting: bool) -> State:
        """Take over whether something waits for the user, without `on_change`. Return the state on top."""
        self.now, _ = step(self.now, "asked" if waiting else "answered")
        return self.now.state
