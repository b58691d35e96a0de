"""Reads the structs of the contract: their fields, types and words, as the writers of this package need them."""

from __future__ import annotations

import ast
import inspect
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import inspect as kinds

from acp_nvim.contract import editor, events, request_events, review_events, session_events, views
from acp_nvim.contract.messages import MESSAGES

EVENT_MODULES = (events, request_events, review_events, session_events)
_DOC = re.compile(r"#: ?(.*)")

LUA_NAMES = {
    "CallView": "ToolCall",
    "CommandView": "SlashCommand",
    "FileView": "ChangedFile",
    "FieldView": "FormField",
    "ChoiceView": "FormChoice",
    "UrlView": "FormUrl",
    "AnswerView": "FormAnswer",
    "ProblemView": "FormProblem",
    "ElicitationView": "FormRequest",
    "HunkView": "ReviewHunk",
    "MethodView": "SignInMethod",
    "VariableView": "SignInVariable",
    "PlanStep": "PlanEntry",
    "SessionEntry": "ListedEntry",
    "SwitchView": "ConfigOption",
    "ValueView": "ConfigValue",
    "WaitingView": "QueuedPrompt",
}
"""Structs that Lua's annotations call otherwise; the others go by their names, without `View`."""


CONFIGURED = "acp_nvim.contract.settings"
"""The module of what the host takes of the configuration: less than what Lua calls by the same names."""


@dataclass(frozen=True)
class Field:
    """A member of a struct: by its name on the wire. `optional`: it may be absent, or null where it has a value."""

    name: str
    type: kinds.Type
    optional: bool
    doc: str


@dataclass(frozen=True)
class Shape:
    """A struct of the contract. `tag`: the `type` of an event or of one of several shapes, or a message's method."""

    cls: type[msgspec.Struct]
    tag: str | None
    doc: str
    fields: tuple[Field, ...]

    @property
    def name(self) -> str:
        """What Lua's annotations call it, without a prefix."""
        return lua_name(self.cls)


def lua_name(cls: type) -> str:
    """What Lua's annotations call a struct, without a prefix."""
    if cls.__module__ == CONFIGURED:
        return f"host.{cls.__name__}"
    return LUA_NAMES.get(cls.__name__, cls.__name__.removesuffix("View"))


@cache
def read(cls: type[msgspec.Struct], to_lua: bool = True) -> Shape:
    """Read a struct. What the host sends (`to_lua`) has its defaults, unless the struct leaves them out."""
    info = kinds.type_info(cls)
    assert isinstance(info, kinds.StructType)
    leaves_out = cls.__struct_config__.omit_defaults or not to_lua
    docs = dict(_field_docs(cls))
    fields = tuple(
        Field(one.encode_name, one.type, (leaves_out and not one.required) or _is_nullable(one.type), docs[one.name])
        for one in info.fields
    )
    return Shape(cls, None if info.tag is None else str(info.tag), _words(cls), fields)


def _is_nullable(one: kinds.Type) -> bool:
    members = one.types if isinstance(one, kinds.UnionType) else [one]
    return any(isinstance(member, kinds.NoneType | kinds.AnyType) for member in members)


def _words(cls: type) -> str:
    return re.sub(r"\bNone\b", "nil", " ".join((inspect.cleandoc(cls.__doc__ or "")).split()))


def _field_docs(cls: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """The `#:` comments behind fields, or on the lines above them."""
    yield from ((name, "") for name in cls.__struct_fields__)
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("acp_nvim."):
            yield from _docs_in(_class_sources(base.__module__)[base.__name__])


@cache
def _class_sources(module: str) -> dict[str, str]:
    """The source of each class of a module; `inspect.getsource` would parse the whole module for each of them."""
    source = inspect.getsource(sys.modules[module])
    lines = source.splitlines()
    classes = [one for one in ast.parse(source).body if isinstance(one, ast.ClassDef)]
    return {one.name: "\n".join(lines[one.lineno - 1 : one.end_lineno]) for one in classes}


def _docs_in(source: str) -> Iterator[tuple[str, str]]:
    above: list[str] = []
    for line in source.splitlines():
        comments = (one.string for one in _tokens(line) if one.type == tokenize.COMMENT) if "#:" in line else ()
        said = next((found[1] for one in comments if (found := _DOC.match(one))), None)
        field = re.match(r"    (\w+): ", line)
        if field:
            yield field[1], re.sub(r"\bNone\b", "nil", " ".join([*above, *([said] if said else [])]))
        above = [*above, said] if said and not field else []


def _tokens(line: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(line.strip() + "\n").readline)
    except (tokenize.TokenError, IndentationError):  # a part of a longer statement
        return


def event_shapes(module: ModuleType) -> list[Shape]:
    """The events that a module of `acp_nvim.contract` declares, in their order."""
    bases = (events.Event, events.SessionEvent)
    return [
        read(one)
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, events.Event) and one not in bases and is_of(one, module)
    ]


def all_events() -> dict[str, Shape]:
    """Every event, by its `type`."""
    return {str(one.tag): one for module in EVENT_MODULES for one in event_shapes(module)}


def all_messages() -> dict[str, Shape]:
    """Every message, by its method."""
    return {method: read(cls, to_lua=False) for method, cls in MESSAGES.items()}


def inner(shapes: list[Shape], to_lua: bool = True) -> dict[type, Shape]:
    """The structs inside of others, and inside of those, in the order in which they are named."""
    found: dict[type, Shape] = {}

    def visit(one: kinds.Type) -> None:
        if isinstance(one, kinds.StructType):
            if one.cls not in found:
                found[one.cls] = shape = read(one.cls, to_lua)
                for field in shape.fields:
                    visit(field.type)
        else:
            for below in _below(one):
                visit(below)

    for shape in shapes:
        for field in shape.fields:
            visit(field.type)
    return found


def _below(one: kinds.Type) -> list[kinds.Type]:
    if isinstance(one, kinds.UnionType):
        return list(one.types)
    if isinstance(one, kinds.DictType):
        return [one.key_type, one.value_type]
    if isinstance(one, kinds.ListType | kinds.VarTupleType):
        return [one.item_type]
    return []


def is_of(one: Any, module: ModuleType) -> bool:
    """Whether the module declares that, and does not merely import it."""
    return getattr(one, "__module__", None) == module.__name__


def words_by_value() -> dict[frozenset[Any], tuple[str, str]]:
    """The named sets of words (`By = Literal[...]`) of the contract: the name, and what the text below it says."""
    found: dict[frozenset[Any], tuple[str, str]] = {}
    for module in (views, *EVENT_MODULES, editor):
        source = inspect.getsource(sys.modules[module.__name__])
        for name, value in vars(module).items():
            if get_origin(value) is not Literal:
                continue
            declared = re.search(rf'^{name} = Literal\[.*\]\n(?:"""((?:.|\n)*?)""")?', source, re.MULTILINE)
            if declared:
                found[frozenset(get_args(value))] = (name, " ".join((declared[1] or "").split()))
    return found
