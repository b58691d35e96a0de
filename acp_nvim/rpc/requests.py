"""Handles what the user answers to agents: permissions and rules for them, questions, signing in and out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from acp_nvim.acp.elicitation import Form
from acp_nvim.elicitation.addresses import check_url
from acp_nvim.elicitation.answers import Checked, check, said, secrets_of
from acp_nvim.elicitation.pending import PendingElicitation, PendingElicitations
from acp_nvim.permissions.pending import PendingPermissions
from acp_nvim.permissions.policy import Policy
from acp_nvim.rpc import request_messages
from acp_nvim.rpc.messages import Handlers
from acp_nvim.session.auth.sign_ins import SignIns
from acp_nvim.session.session import Session
from acp_nvim.tasks import Tasks
from acp_nvim.traffic.masking import LEARNED
from acp_nvim.ui.editor import Editor
from acp_nvim.ui.request_events import ElicitationChecked

log = logging.getLogger(__name__)


class PermissionHandlers:
    """Answers `pending` permission requests; tells of rules, and removes stored ones."""

    def __init__(self, pending: PendingPermissions, rules: Policy, editor: Editor) -> None:
        self._pending = pending
        self._rules = rules
        self._editor = editor
        self.handlers: Handlers = {
            request_messages.Answer: self._answer,
            request_messages.PermissionRules: lambda message: self._tell_rules(message.cwd),
            request_messages.PermissionForget: self._forget,
        }

    def _answer(self, message: request_messages.Answer) -> None:
        if not self._pending.choose(message.id, message.option_id):
            log.info("permission %d does not wait any more, or has no option %r", message.id, message.option_id)

    def _tell_rules(self, cwd: str) -> None:
        self._editor.publish(self._rules.shown(cwd))

    async def _forget(self, message: request_messages.PermissionForget) -> None:
        await self._rules.forget(message.cwd, message.id)
        self._tell_rules(message.cwd)


class ElicitationHandlers:
    """Checks what the user answers to `pending` questions, and sends it when nothing is wrong."""

    def __init__(self, pending: PendingElicitations, editor: Editor, tasks: Tasks) -> None:
        self._pending = pending
        self._editor = editor
        self._tasks = tasks
        self.handlers: Handlers = {
            request_messages.ElicitationCheck: self._check,
            request_messages.ElicitationAnswer: self._answer,
        }

    def _find(self, message: request_messages.ElicitationCheck) -> PendingElicitation | None:
        pending = self._pending.get(message.id)
        if pending is None:
            log.info("question %d does not wait any more", message.id)
        return pending

    async def _check(self, message: request_messages.ElicitationCheck) -> None:
        pending = self._find(message)
        if pending is not None and isinstance(form := pending.asked.what, Form):
            self._tell(pending, form, message, await check(form, _typed(message)))

    def _tell(
        self, pending: PendingElicitation, form: Form, message: request_messages.ElicitationCheck, checked: Checked
    ) -> None:
        self._editor.publish(
            ElicitationChecked(
                session=pending.session,
                id=message.id,
                version=message.version,
                problems=checked.problems,
                answers=said(form, checked.content, secrets=True),
                unchecked=checked.unchecked,
            )
        )

    def _answer(self, message: request_messages.ElicitationAnswer) -> None:
        pending = self._find(message)
        if pending is None:
            return
        if message.action != "accept":
            pending.refuse(message.action)
        elif isinstance(pending.asked.what, Form):
            self._tasks.spawn(self._accept, pending, pending.asked.what, message)
        elif check_url(pending.asked.what.url).refused is None:
            pending.accept(None, [])

    async def _accept(
        self, pending: PendingElicitation, form: Form, message: request_messages.ElicitationAnswer
    ) -> None:
        checked = await check(form, _typed(message))
        if checked.problems:
            self._tell(pending, form, message, checked)
        else:
            LEARNED.learn(secrets_of(form, checked.content))
            pending.accept(checked.content, said(form, checked.content, secrets=False))


def _typed(message: request_messages.ElicitationCheck) -> dict[str, Any]:
    return message.values if isinstance(message.values, dict) else {}


class SignInHandlers:
    """Passes what the user does to sign in and out to `sign_ins`; `sessions` by their keys."""

    def __init__(self, sign_ins: SignIns, sessions: Mapping[int, Session]) -> None:
        self._sign_ins = sign_ins
        self._sessions = sessions
        self.handlers: Handlers = {
            request_messages.LoginMethods: lambda message: sign_ins.ask(message.agent, message.cwd),
            request_messages.Login: self._begin,
            request_messages.LoginCancel: lambda message: sign_ins.cancel(message.agent),
            request_messages.LoginEnded: lambda message: sign_ins.terminal_ended(
                message.attempt, message.code, message.problem
            ),
            request_messages.Logout: self._sign_out,
        }

    def _begin(self, message: request_messages.Login) -> None:
        given = message.values if isinstance(message.values, dict) else {}  # Lua's empty table is a list
        values = {str(name): str(value) for name, value in given.items()}
        session = None if message.session is None else self._sessions.get(message.session)
        beside = session.sign_in if session is not None and session.agent == message.agent else None
        self._sign_ins.begin(message.agent, message.cwd, message.method, values, beside)

    def _sign_out(self, message: request_messages.Logout) -> None:
        def told(text: str) -> None:
            for session in self._sessions.values():
                if session.agent == message.agent:
                    with session.tasks.contained("telling of a sign-out"):
                        session.presenter.notice("warn", text)

        self._sign_ins.sign_out(message.agent, message.cwd, told)
