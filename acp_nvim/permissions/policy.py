"""Decides requests without the user: by the configured rules, then by the stored ones."""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.contract.request_events import PermissionRulesListed, RuleAction, RuleSource, RuleView
from acp_nvim.contract.settings import Rule
from acp_nvim.permissions.rules import Subject, Wanted, judge
from acp_nvim.permissions.store import StoredRule, StoredRules

log = logging.getLogger(__name__)


class Answer(msgspec.Struct, frozen=True):
    """What to do, and the deciding rule in words; `ask` without a rule means that the user may answer "always"."""

    action: RuleAction
    rule: str | None = None
    source: RuleSource = "config"


class Policy:
    """The rules of all projects, stored below `directory`.

    `told` is called with a message for the user when a file of stored rules cannot be read or written. A rule that
    cannot be written stays in effect until this process ends.
    """

    def __init__(self, directory: Path, told: Callable[[str], None]) -> None:
        self.configured: Sequence[Rule] = ()
        self._directory = directory
        self._told = told
        self._projects: dict[str, StoredRules] = {}
        self._unwritten: dict[str, list[StoredRule]] = {}
        self._writing = anyio.Lock()

    def answer(self, wanted: Wanted, otherwise: RuleAction = "ask") -> Answer:
        """Answer by the configured rules, else by the stored rules of the project at `wanted`'s first root.

        `otherwise` is the action when no rule matches.
        """
        verdict = judge(self.configured, wanted, otherwise)
        if verdict.rules:
            return Answer(verdict.action, " + ".join(rule.words for rule in verdict.rules))
        if wanted.about is not None:
            for rule in self._stored(wanted.roots[0]):
                if rule.about == wanted.about:
                    return Answer(rule.action, rule.words, "stored")
        return Answer(verdict.action)

    async def remember(self, root: str, action: Literal["allow", "reject"], about: Subject) -> None:
        """Store an answer in the project at `root` (a real path). It takes effect at once, before it is written."""
        mine = StoredRule(id=f"unwritten-{uuid.uuid4().hex[:6]}", action=action, about=about, time=0.0)
        waiting = self._unwritten.setdefault(root, [])
        waiting[:] = [*(one for one in waiting if one.about != about), mine]
        project = self._project(root)
        try:
            async with self._writing:
                await anyio.to_thread.run_sync(project.add, action, about)
        except (OSError, UnicodeError) as error:  # a lone surrogate cannot be encoded
            self._fail(project, "written", error)
        else:
            if mine in waiting:
                waiting.remove(mine)

    async def forget(self, cwd: str, rule_id: str) -> None:
        """Remove a stored rule from the project at `cwd`."""
        root = _real(cwd)
        waiting = self._unwritten.setdefault(root, [])
        waiting[:] = [one for one in waiting if one.id != rule_id]  # the same list: `remember` removes its rule from it
        project = self._project(root)
        try:
            async with self._writing:
                await anyio.to_thread.run_sync(project.remove, rule_id)
        except OSError as error:
            self._fail(project, "written", error)

    def shown(self, cwd: str) -> PermissionRulesListed:
        """Return the rules of the project at `cwd`, as they are shown in a list."""
        configured = [_configured(number, rule) for number, rule in enumerate(self.configured, 1)]
        return PermissionRulesListed(cwd=cwd, rules=[*configured, *(one.view for one in self._stored(_real(cwd)))])

    def _stored(self, root: str) -> list[StoredRule]:
        """Return the stored rules of the project at `root` (a real path), newest first; each of them once."""
        project, written = self._project(root), list[StoredRule]()
        try:
            written += project.rules()
        except OSError as error:
            self._fail(project, "read", error)
        in_file = {(one.about, one.action) for one in written}  # with those that have just been written
        waiting = [one for one in self._unwritten.get(root, ()) if (one.about, one.action) not in in_file]
        return [*written, *waiting][::-1]

    def _project(self, root: str) -> StoredRules:
        return self._projects.setdefault(root, StoredRules(self._directory, root))

    def _fail(self, project: StoredRules, doing: str, error: Exception) -> None:
        log.warning("%r: %s", project, error)
        self._told(
            f"What you have answered for good in this project cannot be {doing}: {getattr(error, 'strerror', error)}."
        )


def _real(directory: str) -> str:
    return os.path.realpath(directory)


def _configured(number: int, rule: Rule) -> RuleView:
    return RuleView(
        id=f"config-{number}",
        source="config",
        action=rule.action,
        words=rule.words,
        agent=rule.agent,
        kind=None if rule.kinds is None else list(rule.kinds),
        path=rule.path,
        command=rule.command,
    )
