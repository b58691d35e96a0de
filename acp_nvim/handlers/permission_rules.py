"""Takes what the user wants to know of the rules for permissions, and which of the stored ones go."""

from __future__ import annotations

from acp_nvim.editor import Editor
from acp_nvim.handlers.method import Methods
from acp_nvim.messages import StoredRule, Workspace
from acp_nvim.permissions.rule_book import RuleBook
from acp_nvim.tasks import Tasks


class PermissionRules:
    """Handles Neovim's messages about permission rules that the user has stored."""

    def __init__(self, rules: RuleBook, editor: Editor, tasks: Tasks) -> None:
        self._rules = rules
        self._editor = editor
        self._tasks = tasks
        self.methods: Methods = {
            "permission_rules": (Workspace, self._tell),
            "permission_forget": (StoredRule, self._forget),
        }

    def _tell(self, wanted: Workspace) -> None:
        self._editor.publish(self._rules.shown(wanted.cwd))

    def _forget(self, wanted: StoredRule) -> None:
        self._tasks.spawn(self._forget_it, wanted)

    async def _forget_it(self, wanted: StoredRule) -> None:
        await self._rules.forget(wanted.cwd, wanted.id)
        self._tell(Workspace(wanted.cwd))
