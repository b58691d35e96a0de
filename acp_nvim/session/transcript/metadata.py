"""What is known of a session beside its transcript: mode, model, title, usage, plans, activity; for its status."""

from __future__ import annotations

import time
from typing import Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp import answers, updates
from acp_nvim.acp.tool_call import ToolCall
from acp_nvim.acp.updates import Role
from acp_nvim.session.config.options import Switches
from acp_nvim.ui import events
from acp_nvim.ui.views import Usage

ACTIVITY_CHARS: Final = 200
"""Of a tool call's title in the status: more than a line of the screen. Some titles are whole scripts."""


WORDS = {"agent": "writing", "thought": "thinking"}


class Activity:
    """What began last and goes on. `voice` is the role of the message that grows, if one does."""

    def __init__(self) -> None:
        self.voice: Role | None = None
        self._running = False
        self._open: dict[str, str] = {}  # tool call -> its title

    def __repr__(self) -> str:
        return f"<Activity {self.words!r}>"

    @property
    def words(self) -> str | None:
        """For the status; None: nothing that could be named, or no turn runs."""
        if not self._running:
            return None
        if self.voice is not None:
            return WORDS.get(self.voice)
        return next(reversed(self._open.values()), None)

    def begin(self) -> None:
        """A turn begins: nobody has spoken in it, and no call is open."""
        self.voice, self._running = None, True
        self._open.clear()

    def end(self) -> None:
        """The turn is over: nobody speaks, and no call is open."""
        self.voice, self._running = None, False
        self._open.clear()

    def speak(self, role: Role) -> bool:
        """A message grows, of another kind than what grew before; whether the status is different now."""
        before, self.voice = self.words, role
        return self.words != before

    def call(self, call: ToolCall) -> bool:
        """News of a tool call: one that begins is what the agent does now. Whether the status is different."""
        before = self.words
        if call.finished:
            self._open.pop(call.tool_call_id, None)
        else:
            if call.tool_call_id not in self._open:
                self.voice = None
            self._open[call.tool_call_id] = _line(call.title or call.name or call.kind)
        return self.words != before


def _line(title: str) -> str:
    """As much of a title as the status says, and as is kept of it."""
    return title.strip().partition("\n")[0][:ACTIVITY_CHARS].rstrip()


class Metadata:
    """Folded from the agent's answers and updates."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.switches = Switches()
        self.usage: Usage | None = None
        self.activity = Activity()
        self.turn_started: float | None = None
        self._plans: dict[int, list[events.PlanStep]] = {}  # by block

    def __repr__(self) -> str:
        return f"<Metadata title={self.title!r} {self.switches!r}>"

    @property
    def plan(self) -> list[events.PlanStep] | None:
        """The entries of all plans of the turn; None without a plan."""
        return [step for plan in self._plans.values() for step in plan] if self._plans else None

    def forget_plans(self) -> None:
        """The blocks that had them are no more."""
        self._plans.clear()

    def begin_turn(self) -> None:
        """The plans of the one before are history."""
        self._plans.clear()
        self.turn_started = time.time()
        self.activity.begin()

    def end_turn(self) -> None:
        """Forget when the turn began and what goes on in it: it is over."""
        self.turn_started = None
        self.activity.end()

    def take_plan(self, plan: events.Plan) -> None:
        """Note a plan as it is now, or that it was removed, for the progress in the status."""
        if plan.removed:
            self._plans.pop(plan.block, None)
        else:
            self._plans[plan.block] = plan.entries

    def begin(self, opened: answers.Opened) -> None:
        """What the agent told of the session when it was opened."""
        self.switches.begin(opened)

    def take(self, update: updates.Update) -> bool:
        """What an update says of the session itself; False when it says nothing of the kind."""
        match update:
            case updates.ModeChanged() | updates.ConfigReplaced():
                self.switches.take(update)
            case updates.SessionInfoChanged():
                if update.title is not UNSET:
                    self.title = update.title
            case updates.UsageChanged():
                self._take_usage(update)
            case _:
                return False
        return True

    def added_to(self, view: events.StatusView) -> events.StatusView:
        """Return the status `view` with the metadata filled in."""
        switches = self.switches
        return msgspec.structs.replace(
            view,
            title=self.title,
            mode=switches.mode,
            model=switches.model,
            mode_name=switches.name_of("mode", switches.mode),
            model_name=switches.name_of("model", switches.model),
            mode_next=switches.next_name("mode"),
            model_next=switches.next_name("model"),
            usage=self.usage,
            plan=self.plan,
            activity=self.activity.words,
            turn_started=self.turn_started,
        )

    def _take_usage(self, update: updates.UsageChanged) -> None:
        """A cost that is not mentioned is what it was."""
        before, self.usage = self.usage, Usage(update.used, update.size)
        if update.cost is UNSET and before is not None:
            self.usage.cost, self.usage.currency = before.cost, before.currency
        elif isinstance(update.cost, updates.Cost):
            self.usage.cost, self.usage.currency = update.cost.amount, update.cost.currency
