"""What Neovim is told of requests to the user: rules for permissions, questions of agents, signing in."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.ui.events import Event, RequestView, SessionEvent, Why

RuleAction = Literal["allow", "reject", "ask"]
RuleSource = Literal["config", "stored"]
"""Where a rule for permissions comes from: the configuration, or an earlier "always"."""

AnswerAction = Literal["accept", "decline", "cancel"]
FieldKind = Literal["text", "integer", "number", "boolean", "choice", "choices", "unknown"]
SignInOutcome = Literal["done", "failed", "cancelled"]


class PermissionAuto(SessionEvent, omit_defaults=False):
    """A rule has answered a permission request; no `permission` comes before it."""

    block: int
    request: RequestView
    option_id: str
    name: str  #: of the option
    kind: str  #: of the option
    rule: str  #: in words
    source: RuleSource


class RuleView(msgspec.Struct, omit_defaults=True):
    """A rule for permission requests; a field that is absent does not matter to it."""

    id: str  #: unique in its project
    source: RuleSource
    action: RuleAction
    words: str  #: the rule as a user reads it
    agent: str | None = None
    kind: list[str] | None = None  #: kinds of tool calls
    path: str | None = None  #: of a stored rule exact paths, one a line
    command: str | None = None  #: of a stored rule the exact command
    time: float | None = None  #: when it was stored, in seconds since 1970


class PermissionRules(Event, omit_defaults=False):
    """The rules of a project; the answer to `permission_rules` and `permission_forget`."""

    cwd: str
    rules: list[RuleView]  #: in the order in which they are asked


class ChoiceView(msgspec.Struct, omit_defaults=True):
    """A value that can be chosen in a form."""

    value: str
    title: str
    description: str | None = None


class FieldView(msgspec.Struct, omit_defaults=True):
    """A field of a form that the user is to fill in."""

    name: str
    kind: FieldKind
    title: str
    description: str | None = None
    required: bool = False
    hint: str | None = None  #: what is wanted, in words
    choices: list[ChoiceView] | None = None
    default: str | bool | list[str] | None = None  #: as it would be typed
    secret: bool = False  #: it asks for what looks like a secret, which agents must not do in a form


class UrlView(msgspec.Struct, omit_defaults=True):
    """A URL that an agent wants to be opened."""

    url: str
    host: str
    first: int  #: byte of the URL at which its host begins
    last: int  #: byte at which it ends
    warnings: list[str]
    refused: str | None = None  #: why it is not opened at all


class ElicitationView(msgspec.Struct, omit_defaults=True):
    """A question of an agent: a form with `fields`, or a `url`."""

    id: int  #: unique in this Neovim
    agent: str
    message: str
    title: str | None = None
    description: str | None = None
    fields: list[FieldView] | None = None
    url: UrlView | None = None
    about: str | None = None  #: title of a tool call


class AnswerView(msgspec.Struct):
    """The answer to one field, as the chat shows it."""

    field: str  #: its name
    title: str  #: what people read
    text: str  #: the answer, for people


class ProblemView(msgspec.Struct):
    """What is wrong with the text of one field, in words."""

    field: str  #: its name
    text: str


class Elicitation(SessionEvent):
    """The agent asks the user something and waits."""

    block: int
    request: ElicitationView


class ElicitationDone(SessionEvent, omit_defaults=False):
    """A question was answered, or nobody waits for it any more."""

    block: int
    id: int  #: of the question
    action: AnswerAction
    answers: list[AnswerView]  #: of a form, without secrets
    why: Why | None = None


class ElicitationComplete(SessionEvent):
    """The agent says that what was to be done at the URL is done."""

    block: int
    id: int  #: of the question


class ElicitationChecked(SessionEvent, omit_defaults=False):
    """What is wrong with the answers, or what will be sent; the answer to `elicitation_check`."""

    id: int  #: of the question
    version: int  #: of the message that it answers
    problems: list[ProblemView]
    answers: list[AnswerView]  #: what will be sent, when there are no problems
    unchecked: list[str]  #: names of fields whose pattern cannot be checked


class VariableView(msgspec.Struct, omit_defaults=True):
    """An environment variable that a way to sign in needs."""

    name: str
    label: str | None = None
    secret: bool = False
    optional: bool = False
    is_set: bool = False  #: it has a value already, which is not told


class MethodView(msgspec.Struct, omit_defaults=True):
    """A way to sign in that the agent offers."""

    id: str
    name: str
    kind: str  #: `agent`, `terminal`, `env_var`, `api_key`, or another word
    description: str | None = None
    command: str | None = None  #: what a terminal would run, without its environment
    variables: list[VariableView] = []
    link: str | None = None  #: where to get the values of the variables


class SignIn(Event, omit_defaults=False):
    """An agent wants the user to sign in, or the user asked how (`login_methods`)."""

    agent: str
    cwd: str
    methods: list[MethodView]
    asked: bool  #: the user asked
    session: int | None = None  #: it waits for the sign-in
    reason: str | None = None
    hint: str | None = None  #: how to sign in to this agent, where it names no methods


class SignInTerminal(Event, omit_defaults=False):
    """Run a program in a terminal for the user, and send `login_ended` when it has ended."""

    agent: str
    attempt: int
    name: str
    argv: list[str]
    cwd: str
    env: dict[str, str]  #: on top of Neovim's own


class SignInDone(Event):
    """An attempt to sign in, or to sign out, has ended."""

    agent: str
    attempt: int  #: 0: signing out
    outcome: SignInOutcome
    text: str  #: says it
    method: str | None = None
