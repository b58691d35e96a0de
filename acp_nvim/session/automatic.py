"""Answers without the user: what the rules say of a request, and the option of it that means that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from acp_nvim import events
from acp_nvim.permission_events import Action
from acp_nvim.permissions.rule_book import Answer, RuleBook
from acp_nvim.session.asked_for import Asking
from acp_nvim.session.named_files import Where
from acp_nvim.session.permission_requests import PermissionRequests
from acp_nvim.tasks import Tasks
from acp_nvim.traffic.words import has_secret

OURS = "acp_nvim:"
"""Begins the ids of the options that we add."""


class Automatic:
    """For the requests of one session, which works at `where`; nothing is answered while they are refused."""

    def __init__(self, rules: RuleBook, requests: PermissionRequests, where: Where, tasks: Tasks) -> None:
        self.where = where
        self._rules = rules
        self._requests = requests
        self._tasks = tasks

    def __repr__(self) -> str:
        return f"<Automatic answers for {self.where.agent}>"

    def say(self, asking: Asking, otherwise: Action = "ask") -> Answer:
        """What the rules say; `ask` when all is refused anyway."""
        if self._requests.refusing:
            return Answer("ask")
        return self._rules.answer(asking.wanted, asking.about, otherwise)

    def choose(
        self, answer: Answer, options: Sequence[events.Option], view: Callable[[int], events.RequestView]
    ) -> events.Option | None:
        """The option that is chosen by a rule, which is shown; None: the user has to be asked."""
        option = None if answer.rule is None else option_for(answer.action, options)
        if option is not None:
            self._requests.answered(answer, option, view)
        return option

    def remember(self, chosen: events.Option, asking: Asking) -> None:
        """The user chose one of our options."""
        if asking.about is not None:
            action: Literal["allow", "reject"] = "allow" if chosen.kind == "allow_always" else "reject"
            self._tasks.spawn(self._rules.remember, self.where.roots.directories[0], action, asking.about)


def option_for(action: Action, options: Sequence[events.Option]) -> events.Option | None:
    """By its kind, rather for once, as rules are asked each time; None when no option means that, and only that."""
    kinds: dict[str, set[str]] = {}
    for option in options:
        kinds.setdefault(option.option_id, set()).add(option.kind)
    for kind in (f"{action}_once", f"{action}_always"):
        for option in options:
            if option.kind == kind and len(kinds[option.option_id]) == 1 and not option.ours:
                return option
    return None


def with_ours(options: Sequence[events.Option], asking: Asking) -> list[events.Option]:
    """The agent's options, and "always" where it has only "once" and we can know the same request again."""
    added = []
    for action, name in (("allow", "Always allow"), ("reject", "Always reject")):
        once = option_for("allow" if action == "allow" else "reject", options)
        if asking.about is None or once is None or once.kind != f"{action}_once":
            continue
        if has_secret(asking.about.command or ""):
            continue  # it would be on disk then
        option_id = f"{OURS}{action}_always"
        if not any(one.kind == f"{action}_always" or one.option_id == option_id for one in options):
            added.append(events.Option(option_id, f"{name} {_what(asking)} in this project", f"{action}_always", True))
    return [*options, *added]


def _what(asking: Asking) -> str:
    about = asking.about
    if about is None or about.command is not None:
        return "this command"
    files = "this file" if len(about.paths) == 1 else f"these {len(about.paths)} files"
    return f"{about.kind} of {files}"
