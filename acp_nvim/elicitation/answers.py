"""Makes an answer of what the user has typed into a form, or says for each field what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from acp_nvim.elicitation import patterns, values
from acp_nvim.elicitation.values import INT64, Value
from acp_nvim.limits.elicitation import ANSWER_CHARS
from acp_nvim.protocol.elicitation import (
    AnyField,
    BooleanField,
    ChoicesField,
    Form,
    NumberField,
    TextField,
    UnknownField,
)
from acp_nvim.traffic.secret_names import is_secret

Typed = Mapping[str, object]
"""By a field's name: a text, also of a number; true or false; a list of values. What is missing was not filled in."""

HIDDEN: Final = "(not shown)"
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,400}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class FieldProblem(msgspec.Struct, frozen=True):
    """What is wrong in the field of that name; `text` follows its title."""

    field: str
    text: str


class Answered(msgspec.Struct, frozen=True):
    """One field and its answer, for people."""

    field: str
    title: str
    text: str


class Checked(msgspec.Struct, frozen=True):
    """What can be sent if there are no `problems`. Nobody can say whether the fields in `unchecked` are right."""

    content: dict[str, Value]
    problems: list[FieldProblem]
    unchecked: list[str] = []


class _Wrong(Exception):
    """Words for what is wrong with something typed."""


async def check(form: Form, typed: Typed) -> Checked:
    """Everything that is typed, each field by itself."""
    content: dict[str, Value] = {}
    problems: list[FieldProblem] = []
    for field in form.fields:
        try:
            value = _value(field, typed.get(field.name))
        except _Wrong as wrong:
            problems.append(FieldProblem(field.name, str(wrong)))
        else:
            if value is not None:
                content[field.name] = value
    with_pattern = [one for one in form.fields if isinstance(one, TextField) and one.pattern and one.name in content]
    found = await patterns.matches([(one.pattern or "", str(content[one.name])) for one in with_pattern])
    unchecked = [one.name for one, matches in zip(with_pattern, found, strict=True) if matches is None]
    for field, matches in zip(with_pattern, found, strict=True):
        if matches is False:
            problems.append(FieldProblem(field.name, f"does not fit the pattern {field.pattern}"))
    places = {one.name: place for place, one in enumerate(form.fields)}
    return Checked(content, sorted(problems, key=lambda one: places[one.field]), unchecked)


def said(form: Form, content: Mapping[str, Value], secrets: bool) -> list[Answered]:
    """The answer as it can be shown; with `secrets` all of it, else nothing that looks like one, and nothing long."""
    shown = []
    for field in form.fields:
        if field.name in content:
            text = _words(field, content[field.name])
            if not secrets:
                text = HIDDEN if looks_secret(field) else _short(text)
            shown.append(Answered(field.name, field.title, text))
    return shown


def secrets_of(form: Form, content: Mapping[str, Value]) -> list[str]:
    """What in the answer looks like a secret: nothing of it is to be written down."""
    return [str(content[one.name]) for one in form.fields if one.name in content and looks_secret(one)]


def looks_secret(field: AnyField) -> bool:
    """Whether it asks for something that agents must not ask for in a form (ACP "Elicitation", Form mode)."""
    return isinstance(field, TextField) and (
        field.format == "password" or (field.choices is None and (is_secret(field.name) or is_secret(field.title)))
    )


def _value(field: AnyField, typed: object) -> Value | None:
    """What is to be sent of a field; None: nothing. Raises `_Wrong`."""
    if isinstance(field, UnknownField):
        return None
    value = _read(field, typed)
    if value is None:
        if field.required:
            raise _Wrong("is neither yes nor no" if isinstance(field, BooleanField) else "has to be filled in")
        return None
    wrong = values.problem(field, value)
    if wrong is not None:
        raise _Wrong(wrong)
    return value


def _read(field: AnyField, typed: object) -> Value | None:
    match field:
        case NumberField():
            text = typed.strip() if isinstance(typed, str) else ""
            return _number(field.whole, text) if text else None
        case ChoicesField():
            return _chosen(field, [str(one) for one in typed] if isinstance(typed, list) else [])
        case BooleanField():
            return typed if isinstance(typed, bool) else None
        case TextField(choices=None):
            return typed if isinstance(typed, str) and typed else None
        case _:
            return typed if isinstance(typed, str) else None


def _chosen(field: ChoicesField, chosen: list[str]) -> Value | None:
    """Nothing chosen is no answer, unless it differs from what the agent would take else."""
    if chosen or field.required or (field.default and not field.min_items):
        return list(dict.fromkeys(chosen))
    return None


def _number(whole: bool, text: str) -> int | float:
    if _WHOLE.fullmatch(text):
        if int(text) in INT64:
            return int(text)
        if whole:
            raise _Wrong("is too large")
    elif whole:
        raise _Wrong("is no whole number, like 42")
    if not _NUMBER.fullmatch(text):
        raise _Wrong("is no number, like 4.2")
    if abs(float(text)) == float("inf"):
        raise _Wrong("is too large")
    return float(text)


def _words(field: AnyField, value: Value) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_title(field, one) for one in value) or "(none)"
        case str():
            return _title(field, value)
        case _:
            return str(value)


def _title(field: AnyField, value: str) -> str:
    choices = field.choices if isinstance(field, TextField | ChoicesField) else None
    for choice in choices or ():
        if choice.value == value:
            return choice.title if choice.title == value else f"{choice.title} ({value})"
    return value


def _short(text: str) -> str:
    return text if len(text) <= ANSWER_CHARS else f"{text[:ANSWER_CHARS]}…"
