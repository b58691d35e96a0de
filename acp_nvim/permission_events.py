"""What an editor is told of permission rules: requests that they have answered, and the rules themselves."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.events import Event, RequestView, SessionEvent

Action = Literal["allow", "reject", "ask"]
Source = Literal["config", "stored"]


class PermissionAuto(SessionEvent, tag="permission_auto", omit_defaults=False):
    """A request that was answered by a rule, with that option of it; a closed block from the start.

    `rule` is the rule in words, `kind` that of the option; a rule of `source` "stored" is an earlier "always".
    """

    block: int
    request: RequestView
    option_id: str
    name: str
    kind: str
    rule: str
    source: Source


class RuleView(msgspec.Struct, omit_defaults=True):
    """A rule for requests; `id` is unique among those of a project.

    What is None does not matter to it. Of a stored rule `path` has exact paths, one a line, and `command` is exact;
    `time` (seconds since 1970) is when it was made.
    """

    id: str
    source: Source
    action: Action
    words: str
    agent: str | None = None
    kind: list[str] | None = None
    path: str | None = None
    command: str | None = None
    time: float | None = None


class PermissionRules(Event, tag="permission_rules", omit_defaults=False):
    """The rules for the project at `cwd`, in the order in which they are asked."""

    cwd: str
    rules: list[RuleView]
