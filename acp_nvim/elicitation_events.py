"""What an editor is told of questions of an agent to the user: forms, and URLs to be opened."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.events import SessionEvent, Why

Action = Literal["accept", "decline", "cancel"]
FieldKind = Literal["text", "integer", "number", "boolean", "choice", "choices", "unknown"]


class ChoiceView(msgspec.Struct, omit_defaults=True):
    """A value that can be chosen."""

    value: str
    title: str
    description: str | None = None


class FieldView(msgspec.Struct, omit_defaults=True):
    """A field of a form. `hint` says in words what is wanted; `default` is as it would be typed.

    `secret`: it asks for something that looks like a secret, which agents must not do in a form.
    """

    name: str
    kind: FieldKind
    title: str
    description: str | None = None
    required: bool = False
    hint: str | None = None
    choices: list[ChoiceView] | None = None
    default: str | bool | list[str] | None = None
    secret: bool = False


class UrlView(msgspec.Struct, omit_defaults=True):
    """A URL; its host stands from byte `first` to byte `last` of it. `refused`: why it is not opened at all."""

    url: str
    host: str
    first: int
    last: int
    warnings: list[str]
    refused: str | None = None


class ElicitationView(msgspec.Struct, omit_defaults=True):
    """A question as it is to be shown: `fields` of a form, or a `url`. `about` is the title of a tool call."""

    id: int
    agent: str
    message: str
    title: str | None = None
    description: str | None = None
    fields: list[FieldView] | None = None
    url: UrlView | None = None
    about: str | None = None


class AnswerView(msgspec.Struct):
    """One answer, for people; `field` is its name, `title` what people read."""

    field: str
    title: str
    text: str


class ProblemView(msgspec.Struct):
    """What is wrong in the field of that name."""

    field: str
    text: str


class Elicitation(SessionEvent, tag="elicitation"):
    """The agent asks the user something and waits."""

    block: int
    request: ElicitationView


class ElicitationDone(SessionEvent, tag="elicitation_done", omit_defaults=False):
    """It was answered, or nobody waits for it any more (`why`); `answers` are those of a form, but for secrets."""

    block: int
    id: int
    action: Action
    answers: list[AnswerView]
    why: Why | None = None


class ElicitationComplete(SessionEvent, tag="elicitation_complete"):
    """The agent says that what was to be done at the URL is done."""

    block: int
    id: int


class ElicitationChecked(SessionEvent, tag="elicitation_checked", omit_defaults=False):
    """What is wrong with what the user has typed; if nothing is, what will be sent. `version` is Lua's.

    `unchecked` are names of fields whose pattern nobody could look at.
    """

    id: int
    version: int
    problems: list[ProblemView]
    answers: list[AnswerView]
    unchecked: list[str]
