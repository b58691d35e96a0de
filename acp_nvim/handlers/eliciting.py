"""Takes what the user answers to questions of agents: looked at first, then sent."""

from __future__ import annotations

import logging
from typing import Any, Literal

import msgspec

from acp_nvim.editor import Editor
from acp_nvim.elicitation.addresses import look
from acp_nvim.elicitation.answers import Checked, check, said, secrets_of
from acp_nvim.elicitation.pending import PendingElicitation, PendingElicitations
from acp_nvim.elicitation_events import ElicitationChecked, ProblemView
from acp_nvim.handlers.method import Methods
from acp_nvim.protocol.elicitation import Form
from acp_nvim.session.elicitation_views import answers
from acp_nvim.tasks import Tasks
from acp_nvim.traffic.learned import LEARNED

log = logging.getLogger(__name__)


class CheckElicitation(msgspec.Struct):
    """`elicitation_check`: whether that could be sent; `values` are by the fields' names. `version` comes back."""

    id: int
    version: int = 0
    values: dict[str, Any] | list[Any] = {}  # Lua's empty table is a list


class AnswerElicitation(CheckElicitation, kw_only=True):
    """`elicitation_answer`: what is wrong is told, and then nothing is sent."""

    action: Literal["accept", "decline", "cancel"]


class Eliciting:
    """The messages about `pending` questions."""

    def __init__(self, pending: PendingElicitations, editor: Editor, tasks: Tasks) -> None:
        self._pending = pending
        self._editor = editor
        self._tasks = tasks
        self.methods: Methods = {
            "elicitation_check": (CheckElicitation, self._check),
            "elicitation_answer": (AnswerElicitation, self._answer),
        }

    def _find(self, wanted: CheckElicitation) -> PendingElicitation | None:
        pending = self._pending.get(wanted.id)
        if pending is None:
            log.info("question %d does not wait any more", wanted.id)
        return pending

    def _check(self, wanted: CheckElicitation) -> None:
        pending = self._find(wanted)
        if pending is not None and isinstance(pending.asked.what, Form):
            self._tasks.spawn(self._look, pending, pending.asked.what, wanted)

    async def _look(self, pending: PendingElicitation, form: Form, wanted: CheckElicitation) -> None:
        self._tell(pending, form, wanted, await check(form, _typed(wanted)))

    def _tell(self, pending: PendingElicitation, form: Form, wanted: CheckElicitation, checked: Checked) -> None:
        self._editor.publish(
            ElicitationChecked(
                session=pending.session,
                id=wanted.id,
                version=wanted.version,
                problems=[ProblemView(one.field, one.text) for one in checked.problems],
                answers=answers(said(form, checked.content, secrets=True)),
                unchecked=checked.unchecked,
            )
        )

    def _answer(self, wanted: AnswerElicitation) -> None:
        pending = self._find(wanted)
        if pending is None:
            return
        if wanted.action != "accept":
            pending.refuse(wanted.action)
        elif isinstance(pending.asked.what, Form):
            self._tasks.spawn(self._accept, pending, pending.asked.what, wanted)
        elif look(pending.asked.what.url).refused is None:
            pending.accept(None, [])

    async def _accept(self, pending: PendingElicitation, form: Form, wanted: AnswerElicitation) -> None:
        checked = await check(form, _typed(wanted))
        if checked.problems:
            self._tell(pending, form, wanted, checked)
        else:
            LEARNED.learn(secrets_of(form, checked.content))
            pending.accept(checked.content, said(form, checked.content, secrets=False))


def _typed(wanted: CheckElicitation) -> dict[str, Any]:
    return wanted.values if isinstance(wanted.values, dict) else {}
