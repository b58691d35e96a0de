"""Handles the user's answers to agents: permissions and their rules, questions, signing in and out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from acp_nvim.acp.elicitation import Form
from acp_nvim.contract import messages
from acp_nvim.contract.editor import Editor
from acp_nvim.contract.messages import Handlers
from acp_nvim.contract.request_events import ElicitationChecked
from acp_nvim.elicitation.addresses import check_url
from acp_nvim.elicitation.answers import Checked, check, said, secrets_of
from acp_nvim.elicitation.pending import PendingElicitation, PendingElicitations
from acp_nvim.permissions.pending import PendingPermissions
from acp_nvim.permissions.policy import Policy
from acp_nvim.session.auth.sign_ins import SignIns
from acp_nvim.session.session import Session
from acp_nvim.tasks import Tasks
from acp_nvim.traffic.masking import LEARNED

log = logging.getLogger(__name__)


def permission_handlers(pending: PendingPermissions, rules: Policy, editor: Editor) -> Handlers:
    """Return the handlers that answer `pending` requests, and that list and remove `rules`."""

    def answer(message: messages.Answer) -> None:
        if not pending.choose(message.id, message.option_id):
            log.info("permission %d does not wait any more, or has no option %r", message.id, message.option_id)

    async def forget(message: messages.PermissionForget) -> None:
        await rules.forget(message.cwd, message.id)
        editor.publish(rules.shown(message.cwd))

    return {
        messages.Answer: answer,
        messages.PermissionRules: lambda message: editor.publish(rules.shown(message.cwd)),
        messages.PermissionForget: forget,
    }


def sign_in_handlers(sign_ins: SignIns, sessions: Mapping[int, Session]) -> Handlers:
    """Return the handlers of messages for `sign_ins`; `sessions` are by their keys."""

    def begin(message: messages.Login) -> None:
        given = message.values if isinstance(message.values, dict) else {}  # Lua's empty table is a list
        values = {str(name): str(value) for name, value in given.items()}
        session = None if message.session is None else sessions.get(message.session)
        beside = session.sign_in if session is not None and session.agent == message.agent else None
        sign_ins.begin(message.agent, message.cwd, message.method, values, beside)

    def sign_out(message: messages.Logout) -> None:
        def notify(text: str) -> None:
            for session in sessions.values():
                if session.agent == message.agent:
                    with session.tasks.contained("telling of a sign-out"):
                        session.presenter.notice("warn", text)

        sign_ins.sign_out(message.agent, message.cwd, notify)

    return {
        messages.LoginMethods: lambda message: sign_ins.ask(message.agent, message.cwd),
        messages.Login: begin,
        messages.LoginCancel: lambda message: sign_ins.cancel(message.agent),
        messages.LoginEnded: lambda message: sign_ins.terminal_ended(message.attempt, message.code, message.problem),
        messages.Logout: sign_out,
    }


class ElicitationHandlers:
    """Checks the user's answers to `pending` questions, and sends them if they are valid."""

    def __init__(self, pending: PendingElicitations, editor: Editor, tasks: Tasks) -> None:
        self._pending = pending
        self._editor = editor
        self._tasks = tasks
        self.handlers: Handlers = {
            messages.ElicitationCheck: self._check,
            messages.ElicitationAnswer: self._answer,
        }

    def _find(self, message: messages.ElicitationCheck) -> PendingElicitation | None:
        pending = self._pending.get(message.id)
        if pending is None:
            log.info("question %d does not wait any more", message.id)
        return pending

    async def _check(self, message: messages.ElicitationCheck) -> None:
        pending = self._find(message)
        if pending is not None and isinstance(form := pending.asked.what, Form):
            self._tell(pending, form, message, await check(form, _typed(message)))

    def _tell(
        self, pending: PendingElicitation, form: Form, message: messages.ElicitationCheck, checked: Checked
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

    def _answer(self, message: messages.ElicitationAnswer) -> None:
        pending = self._find(message)
        if pending is None:
            return
        if message.action != "accept":
            pending.refuse(message.action)
        elif isinstance(pending.asked.what, Form):
            self._tasks.spawn(self._accept, pending, pending.asked.what, message)
        elif check_url(pending.asked.what.url).refused is None:
            pending.accept(None, [])

    async def _accept(self, pending: PendingElicitation, form: Form, message: messages.ElicitationAnswer) -> None:
        checked = await check(form, _typed(message))
        if checked.problems:
            self._tell(pending, form, message, checked)
        else:
            LEARNED.learn(secrets_of(form, checked.content))
            pending.accept(checked.content, said(form, checked.content, secrets=False))


def _typed(message: messages.ElicitationCheck) -> dict[str, Any]:
    return message.values if isinstance(message.values, dict) else {}
