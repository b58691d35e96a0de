"""What is known of a session beside its transcript: mode, model, title, usage, plan; as its status shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from acp_nvim import events
from acp_nvim.protocol import answers, updates


class Facts:
    """Folded from the agent's answers and updates."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.mode: str | None = None
        self.model: str | None = None
        self.usage: dict[str, Any] | None = None
        self.plan: list[events.PlanStep] | None = None
        self.modes: answers.Selection | None = None
        self.models: answers.Selection | None = None
        self.options: Sequence[answers.ConfigOption] = ()

    def __repr__(self) -> str:
        return f"<Facts title={self.title!r} mode={self.mode!r} model={self.model!r}>"

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
                self.usage = {"used": update.used, "size": update.size}
                if update.cost is not None:
                    self.usage |= {"cost": update.cost, "currency": update.currency}
            case _:
                return False
        return True

    def added_to(self, view: events.StatusView) -> events.StatusView:
        """The status with these facts."""
        return msgspec.structs.replace(
            view, title=self.title, mode=self.mode, model=self.model, usage=self.usage, plan=self.plan
        )

    def _take_options(self, options: Sequence[answers.ConfigOption]) -> None:
        self.options = options
        for option in options:
            if option.category == "mode" and isinstance(option.current, str):
                self.mode = option.current
            elif option.category == "model" and isinstance(option.current, str):
                self.model = option.current
