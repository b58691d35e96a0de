"""What the Cursor CLI asks and tells beside the protocol: questions, plans and to-do lists.

See https://cursor.com/docs/cli/acp, "Cursor extension methods". The messages name a tool call, and no session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp import field_limits as limits
from acp_nvim.acp.answers import Asked, PermissionAsked, PermissionOption
from acp_nvim.acp.decoding import decode_whole
from acp_nvim.acp.elicitation import AnyField, Choice, ChoicesField, ElicitationAsked, TextField, form
from acp_nvim.acp.fields import Id, Maybe, Name, Text, Title, Value, Wire, Word, Words, cut, exact, given, left
from acp_nvim.acp.schema_common import CreateElicitationResponse, RequestPermissionResponse, SelectedPermissionOutcome
from acp_nvim.acp.updates import PlanEntry, PlanReplaced, Update

TODO_LISTS: Final = 100
"""Sessions whose to-do lists are kept, to merge changes into them; beyond it the oldest list is forgotten."""
PLAN_ID: Final = "cursor/plan"
"""The id of the plan that is a text; the to-do list is the plan without an id."""
ACCEPT, REJECT = "accept", "reject"

Answer = Callable[[Any], Any]


class Extended(msgspec.Struct, frozen=True, kw_only=True):
    """A message beside the protocol. It belongs to `session_id`, or else to the session that has its tool call.

    `updates` are made when the session is known. Without `asked` the answer is `answer(None)`, else that of `asked`.
    """

    session_id: str | None
    tool_call_id: str | None
    updates: Callable[[str], list[Update]] = lambda _: []
    asked: Asked | None = None
    answer: Answer = lambda _: {}


class _Message(Wire, kw_only=True):
    session_id: Maybe[Id] = UNSET
    tool_call_id: Maybe[Id] = UNSET


class _Option(Wire, kw_only=True):
    id: Value
    label: Title


class _Question(Wire, kw_only=True):
    id: Id
    prompt: Words
    options: Annotated[list[_Option], exact(limits.FORM_CHOICES)]
    allow_multiple: Maybe[bool] = UNSET


class _Questions(_Message, kw_only=True):
    title: Maybe[Title] = UNSET
    questions: Annotated[list[_Question], exact(limits.FORM_FIELDS)]


class _Todo(Wire, kw_only=True):
    id: Maybe[Id] = UNSET
    content: Maybe[Words] = UNSET
    status: Maybe[Word] = UNSET


class _Plan(_Message, kw_only=True):
    name: Maybe[Name] = UNSET
    overview: Maybe[Words] = UNSET
    plan: Text
    todos: Maybe[Annotated[list[_Todo], cut(limits.PLAN_ENTRIES)]] = UNSET


class _Todos(_Message, kw_only=True):
    todos: Annotated[list[_Todo], cut(limits.PLAN_ENTRIES)]
    merge: Maybe[bool] = UNSET


def _outcome(word: str, **more: Any) -> dict[str, Any]:
    return {"outcome": {"outcome": word, **more}}


class Cursor:
    """Decodes the messages of one agent process, and keeps the to-do lists of its sessions."""

    def __init__(self) -> None:
        self._todos: dict[str, dict[str, PlanEntry]] = {}

    def __repr__(self) -> str:
        return f"<Cursor {len(self._todos)} to-do lists>"

    @property
    def methods(self) -> dict[str, Callable[[msgspec.Raw], Extended]]:
        """The methods with their decoders, which raise `msgspec.DecodeError`."""
        return {
            "cursor/ask_question": self.question,
            "cursor/create_plan": self.plan,
            "cursor/update_todos": self.todos,
        }

    def question(self, params: msgspec.Raw) -> Extended:
        """Decode questions with options; they become a form."""
        said = decode_whole(params, _Questions)
        if len({one.id for one in said.questions}) < len(said.questions):
            raise msgspec.ValidationError("two questions have the same id - at `$.questions`")
        what = form(tuple(map(_field, said.questions)))
        message = given(said.title) or "The agent has questions"
        return Extended(
            session_id=given(said.session_id),
            tool_call_id=given(said.tool_call_id),
            asked=ElicitationAsked(message, what, given(said.session_id), given(said.tool_call_id)),
            answer=_answered,
        )

    def plan(self, params: msgspec.Raw) -> Extended:
        """Decode a plan that waits for the user's approval; its to-dos become the plan of the session."""
        said = decode_whole(params, _Plan)
        name = given(said.name) or "a plan"
        options = [
            PermissionOption(ACCEPT, "Accept the plan", "allow_once"),
            PermissionOption(REJECT, "Reject the plan", "reject_once"),
        ]

        def updates(session_id: str) -> list[Update]:
            shown: list[Update] = [PlanReplaced([], PLAN_ID, said.plan)]
            todos = given(said.todos)
            return [*shown, self._replaced(session_id, todos, False, left(said, "todos"))] if todos else shown

        return Extended(
            session_id=given(said.session_id),
            tool_call_id=given(said.tool_call_id),
            updates=updates,
            asked=PermissionAsked(options=options, title=f"Carry out {name}?", description=given(said.overview)),
            answer=_approved,
        )

    def todos(self, params: msgspec.Raw) -> Extended:
        """Decode a new to-do list, or changes of the last one (`merge`)."""
        said = decode_whole(params, _Todos)
        merge, dropped = given(said.merge) is True, left(said, "todos")
        return Extended(
            session_id=given(said.session_id),
            tool_call_id=given(said.tool_call_id),
            updates=lambda session_id: [self._replaced(session_id, said.todos, merge, dropped)],
            answer=lambda _: _outcome("accepted"),
        )

    def _replaced(self, session_id: str, todos: Iterable[_Todo], merge: bool, dropped: int) -> PlanReplaced:
        before = self._todos.pop(session_id, {})
        entries = dict(before) if merge else {}
        for number, one in enumerate(todos):
            todo_id = given(one.id) or f"\0{number}"
            old = entries.get(todo_id, PlanEntry(""))
            entries[todo_id] = PlanEntry(given(one.content) or old.content, given(one.status) or old.status)
        kept = dict(list(entries.items())[: limits.PLAN_ENTRIES])
        self._todos[session_id] = kept
        if len(self._todos) > TODO_LISTS:
            del self._todos[next(iter(self._todos))]
        return PlanReplaced(list(kept.values()), left=dropped + len(entries) - len(kept))


def _field(question: _Question) -> AnyField:
    choices = {one.id: Choice(one.id, one.label or one.id) for one in question.options}
    title, _, more = question.prompt.partition("\n")
    common: dict[str, Any] = {
        "name": question.id,
        "title": title or question.id,
        "description": more.strip() or None,
        "required": True,
        "choices": tuple(choices.values()),
    }
    return ChoicesField(**common, min_items=1) if given(question.allow_multiple) else TextField(**common)


def _answered(said: CreateElicitationResponse) -> dict[str, Any]:
    """Return the answer to questions: the chosen options, `skipped`, or `cancelled`."""
    if said.action == "accept":
        chosen = (given(said.content) or {}).items()
        answers = [
            {"questionId": name, "selectedOptionIds": value if isinstance(value, list) else [value]}
            for name, value in chosen
        ]
        return _outcome("answered", answers=answers)
    return _outcome("skipped", reason="the user declined") if said.action == "decline" else _outcome("cancelled")


def _approved(said: RequestPermissionResponse) -> dict[str, Any]:
    """Return the answer to a plan: `accepted`, `rejected`, or `cancelled`."""
    if not isinstance(said.outcome, SelectedPermissionOutcome):
        return _outcome("cancelled")
    return _outcome("accepted") if said.outcome.option_id == ACCEPT else _outcome("rejected")
