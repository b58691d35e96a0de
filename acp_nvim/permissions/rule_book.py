"""All rules that count for a project: those of the configuration, and after them what the user has answered there."""

from __future__ import annotations

from collections.abc import Sequence

from acp_nvim.permission_events import PermissionRules, RuleView
from acp_nvim.permissions.rules import Rule


class RuleBook:
    """Those of all projects; `configured` are asked first."""

    def __init__(self) -> None:
        self.configured: Sequence[Rule] = ()

    def __repr__(self) -> str:
        return f"<RuleBook {len(self.configured)} configured>"

    def shown(self, cwd: str) -> PermissionRules:
        """Those of one project, to be looked at."""
        return PermissionRules(
            cwd=cwd, rules=[_configured(number, rule) for number, rule in enumerate(self.configured, 1)]
        )


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
