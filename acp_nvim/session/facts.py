"""What is known of a session beside its transcript: mode, model, title, usage, plans, activity; for its status."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from msgspec import UNSET

from acp_nvim import events
from acp_nvim.protocol import answers, updates
from acp_nvim.session.activity import Activity
from acp_nvim.session.switches import Switches


class Facts:
    """Folded from the agent's answers and updates."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.switches = Switches()
        self.usage: dict[str, Any] | None = None
        self.activity = Activity()
        self.turn_started: float | None = None
        self._plans: dict[int, list[events.PlanStep]] = {}  # by block

    def __repr__(self) -> str:
        return f"<Facts title={self.title!r} {self.switches!r}>"

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
        """Nothing goes on."""
        self.turn_started = None
        self.activity.end()

    def take_plan(self, plan: events.Plan) -> None:
        """A plan as it is now."""
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
        """The status with these facts."""
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
        before, self.usage = self.usage or {}, {"used": update.used, "size": update.size}
        if update.cost is UNSET:
            self.usage |= {name: before[name] for name in ("cost", "currency") if name in before}
        elif update.cost is not None:
            self.usage |= {"cost": update.cost.amount, "currency": update.cost.currency}
