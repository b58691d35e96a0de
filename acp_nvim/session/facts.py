"""What is known of a session beside its transcript: mode, model, title, usage, plans, activity; for its status."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from acp_nvim import events
from acp_nvim.protocol import answers, updates
from acp_nvim.session.activity import Activity


class Facts:
    """Folded from the agent's answers and updates."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.mode: str | None = None
        self.model: str | None = None
        self.usage: dict[str, Any] | None = None
        self.activity = Activity()
        self.turn_started: float | None = None
        self._plans: dict[int, list[events.PlanStep]] = {}  # by block
        self.modes: answers.Selection | None = None
        self.models: answers.Selection | None = None
        self.options: Sequence[answers.ConfigOption] = ()

    def __repr__(self) -> str:
        return f"<Facts title={self.title!r} mode={self.mode!r} model={self.model!r}>"

    @property
    def plan(self) -> list[events.PlanStep] | None:
        """The entries of all plans of the turn; None without a plan."""
        return [step for plan in self._plans.values() for step in plan] if self._plans else None

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
        self.modes, self.models = opened.modes, opened.models
        self.mode = opened.modes.current if opened.modes else None
        self.model = opened.models.current if opened.models else None
        self._take_options(opened.options or ())

    def take(self, update: updates.Update) -> bool:
        """What an update says of the session itself; False when it says nothing of the kind."""
        match update:
            case updates.ModeChanged():
                self.mode = update.mode_id
            case updates.ConfigReplaced():
                self._take_options(update.options)
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
        return msgspec.structs.replace(
            view,
            title=self.title,
            mode=self.mode,
            model=self.model,
            mode_name=self._name("mode", self.mode, self.modes),
            model_name=self._name("model", self.model, self.models),
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

    def _name(self, category: str, chosen: str | None, known: answers.Selection | None) -> str | None:
        """What the agent calls the chosen one, where that is not its id: some ids are addresses."""
        choices: list[answers.Choice] = list(known.choices) if known else []
        for option in self.options:
            if option.category == category:
                choices += option.choices
        return next((choice.name for choice in choices if choice.value == chosen and choice.name != chosen), None)

    def _take_options(self, options: Sequence[answers.ConfigOption]) -> None:
        self.options = options
        for option in options:
            if option.category == "mode" and isinstance(option.current, str):
                self.mode = option.current
            elif option.category == "model" and isinstance(option.current, str):
                self.model = option.current
