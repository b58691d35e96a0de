"""The services that all sessions of a host share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.connection.peers import Peers
from acp_nvim.contract.editor import Editor
from acp_nvim.elicitation.pending import PendingElicitations
from acp_nvim.mcp.servers import McpServers
from acp_nvim.permissions.pending import PendingPermissions
from acp_nvim.permissions.policy import Policy
from acp_nvim.process.guarding import Guard
from acp_nvim.review.reviews import Reviews
from acp_nvim.session.auth.sign_ins import SignIns
from acp_nvim.session.kept_defaults import KeptDefaults
from acp_nvim.tasks import Tasks
from acp_nvim.workspace.last_seen import LastSeen

FIRST_CHILD_KEY: Final = 1_000_000
"""Keys of child sessions are greater: the editor chooses those of its own sessions below."""


class Children:
    """The child sessions of all sessions by key (`acp_nvim.session.subagents.Subagent`)."""

    def __init__(self) -> None:
        self.by_key: dict[int, Any] = {}
        self._last_key = FIRST_CHILD_KEY

    def number_from(self, last_key: int) -> None:
        """Choose greater keys than `last_key`, which the editor has from an earlier host."""
        self._last_key = max(self._last_key, last_key)

    def new_key(self) -> int:
        """Return a key that no session of the editor has had."""
        self._last_key += 1
        return self._last_key


class Services(msgspec.Struct, frozen=True):
    """Shared services; `find` returns agents by name and raises `FailureError`, `last_seen` makes a `LastSeen`."""

    editor: Editor
    find: Callable[[str], AgentDefinition]
    peers: Peers
    guard: Guard
    permissions: PendingPermissions
    reviews: Reviews
    rules: Policy
    sign_ins: SignIns
    tasks: Tasks
    last_seen: Callable[[], LastSeen]
    mcp: McpServers
    defaults: KeptDefaults
    elicitations: PendingElicitations = msgspec.field(default_factory=PendingElicitations)
    children: Children = msgspec.field(default_factory=Children)
