"""Events of requests to the user: permission rules, questions of agents, signing in."""

from __future__ import annotations

from typing import Literal

import msgspec

from acp_nvim.contract.events import Event, RequestView, SessionEvent, Why

RuleAction = Literal["allow", "reject", "ask"]
RuleSource = Literal["config", "stored"]
"""Origin of a permission rule: the configuration, or an earlier "always"."""

AnswerAction = Literal["accept", "decline", "cancel"]
FieldKind = Literal["text", "integer", "number", "boolean", "choice", "choices", "unknown"]
SignInOutcome = Literal["done", "failed", "cancelled"]


class PermissionAuto(SessionEvent, omit_defaults=False):
    """A rule has answered a permission request; it is sent instead of `permission`."""

    block: int
    request: RequestView
    option_id: str
    name: str  #: of the option
    kind: str  #: of the option
    rule: str  #: as shown to the user
    source: RuleSource


class RuleView(msgspec.Struct, omit_defaults=True):
    """A rule for permission requests; an absent field matches everything."""

    id: str  #: unique in its project
    source: RuleSource
    action: RuleAction
    words: str  #: the rule as shown to the user
    agent: str | None = None
    kind: list[str] | None = None  #: kinds of tool calls
    path: str | None = None  #: for a stored rule: exact paths, one a line
    command: str | None = None  #: for a stored rule: the exact command
    time: float | None = None  #: when it was stored, in seconds since 1970


class PermissionRulesListed(Event, tag="permission_rules", omit_defaults=False):
    """The rules of a project; the answer to `permission_rules` and `permission_forget`."""

    cwd: str
    rules: list[RuleView]  #: in the order in which they are evaluated


class ChoiceView(msgspec.Struct, omit_defaults=True):
    """A possible value of a form field."""

    value: str
    title: str
    description: str | None = None


class FieldView(msgspec.Struct, omit_defaults=True):
    """A field of a form that an agent asks to be filled in."""

    name: str
    kind: FieldKind
    title: str
    description: str | None = None
    required: bool = False
    hint: str | None = None  #: describes the expected value
    choices: list[ChoiceView] | None = None
    default: str | bool | list[str] | None = None  #: as the user would enter it
    secret: bool = False  #: it appears to ask for a secret, which agents must not do in a form


class UrlView(msgspec.Struct, omit_defaults=True):
    """A URL that an agent asks the user to open."""

    url: str
    host: str
    first: int  #: byte offset of the host in the URL
    last: int  #: byte offset of the end of the host
    warnings: list[str]
    refused: str | None = None  #: why it must not be opened


class ElicitationView(msgspec.Struct, omit_defaults=True):
    """A question of an agent: a form with `fields`, or a `url`."""

    id: int  #: unique in this Neovim
    agent: str
    message: str
    title: str | None = None
    description: str | None = None
    fields: list[FieldView] | None = None
    url: UrlView | None = None
    about: str | None = None  #: title of the tool call that it belongs to


class AnswerView(msgspec.Struct):
    """The answer to one form field, as the chat shows it."""

    field: str  #: its name
    title: str  #: of the field
    text: str  #: the answer as shown to the user


class ProblemView(msgspec.Struct):
    """Why the value of one form field is invalid."""

    field: str  #: its name
    text: str


class Elicitation(SessionEvent):
    """The agent asks the user a question, and waits for the answer."""

    block: int
    request: ElicitationView


class ElicitationDone(SessionEvent, omit_defaults=False):
    """A question of the agent was answered or cancelled."""

    block: int
    id: int  #: of the question
    action: AnswerAction
    answers: list[AnswerView]  #: to the fields of a form, without secrets
    why: Why | None = None


class ElicitationComplete(SessionEvent):
    """The agent reports that the interaction at the URL is complete."""

    block: int
    id: int  #: of the question


class ElicitationChecked(SessionEvent, omit_defaults=False):
    """The result of checking the answers to a question; the answer to `elicitation_check`."""

    id: int  #: of the question
    version: int  #: of the message that it answers
    problems: list[ProblemView]
    answers: list[AnswerView]  #: what will be sent, if there are no problems
    unchecked: list[str]  #: names of fields whose pattern cannot be checked


class VariableView(msgspec.Struct, omit_defaults=True):
    """An environment variable that an authentication method needs."""

    name: str
    label: str | None = None
    secret: bool = False
    optional: bool = False
    is_set: bool = False  #: it already has a value, which is not sent


class MethodView(msgspec.Struct, omit_defaults=True):
    """An authentication method that the agent offers to users."""

    id: str
    name: str
    kind: str  #: `agent`, `terminal`, `env_var`, `api_key`, or an unknown kind
    description: str | None = None
    command: str | None = None  #: the command that the terminal runs, without its environment
    variables: list[VariableView] = []
    link: str | None = None  #: where to get the values of the variables


class SignIn(Event, omit_defaults=False):
    """An agent requires the user to sign in, or the user asked for its methods (`login_methods`)."""

    agent: str
    cwd: str
    methods: list[MethodView]
    asked: bool  #: the user asked
    session: int | None = None  #: it waits for the sign-in
    reason: str | None = None
    hint: str | None = None  #: how to sign in, for an agent without methods
    account: str | None = None  #: which the agent uses at present, in words, as far as it says


class SignInTerminal(Event, omit_defaults=False):
    """Run a program in a terminal for the user, and send `login_ended` when it has exited."""

    agent: str
    attempt: int
    name: str
    argv: list[str]
    cwd: str
    env: dict[str, str]  #: in addition to Neovim's environment


class SignInDone(Event):
    """An attempt to sign in or to sign out has ended."""

    agent: str
    attempt: int  #: 0: signing out
    outcome: SignInOutcome
    text: str  #: describes the outcome
    method: str | None = None


class ProviderView(msgspec.Struct, omit_defaults=True):
    """A provider of models that an agent can be configured with."""

    id: str
    supported: list[str]  #: APIs that the agent can speak with it
    required: bool  #: it cannot be disabled
    api_type: str | None = None  #: None: it is disabled
    base_url: str | None = None  #: None: it is disabled


class ProvidersListed(Event, omit_defaults=False):
    """The providers of an agent; the answer to `providers_list`."""

    id: int  #: of the request
    providers: list[ProviderView]
    problem: str | None = None  #: why they are not known
