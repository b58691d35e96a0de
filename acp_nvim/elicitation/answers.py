"""Turns what the user entered into a form into an answer, or says for each field what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final

import msgspec

from acp_nvim.acp.elicitation import AnyField, BooleanField, ChoicesField, Form, NumberField, TextField, UnknownField
from acp_nvim.contract.request_events import AnswerView, ProblemView
from acp_nvim.elicitation import patterns
from acp_nvim.lazy import pattern
from acp_nvim.traffic.secret_names import is_secret

Value = str | int | float | bool | list[str]
"""The JSON values that a form's field can have."""

INT64 = range(-(2**63), 2**63)

ANSWER_CHARS: Final = 200
"""Characters of an answer that the chat repeats; the agent gets all of it."""

Typed = Mapping[str, object]
"""The input by field name: a text (also for a number), a boolean or a list of values. Empty fields are missing."""

HIDDEN: Final = "(not shown)"
_WHOLE: Final = pattern(r"[+-]?[0-9]{1,400}")
_NUMBER: Final = pattern(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE: Final = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME: Final = pattern(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9:]{8})(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})")
_URI: Final = pattern(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+")
_ADDRESS: Final = pattern(r"[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*")


class Checked(msgspec.Struct, frozen=True):
    """The content to send if there are no `problems`. Fields in `unchecked` could not be checked."""

    content: dict[str, Value]
    problems: list[ProblemView]
    unchecked: list[str] = []


class _Wrong(Exception):
    """Says what is wrong with the input of a field."""


async def check(form: Form, typed: Typed) -> Checked:
    """Check the input field by field; waits up to `patterns.PATTERN_SECONDS` for patterns."""
    content: dict[str, Value] = {}
    problems: list[ProblemView] = []
    for field in form.fields:
        try:
            value = _value(field, typed.get(field.name))
        except _Wrong as wrong:
            problems.append(ProblemView(field.name, str(wrong)))
        else:
            if value is not None:
                content[field.name] = value
    with_pattern = [one for one in form.fields if isinstance(one, TextField) and one.pattern and one.name in content]
    found = await patterns.matches([(one.pattern or "", str(content[one.name])) for one in with_pattern])
    unchecked = []
    for text_field, matches in zip(with_pattern, found, strict=True):
        if matches is None:
            unchecked.append(text_field.name)
        elif not matches:
            problems.append(ProblemView(text_field.name, f"does not fit the pattern {text_field.pattern}"))
    places = {one.name: place for place, one in enumerate(form.fields)}
    return Checked(content, sorted(problems, key=lambda one: places[one.field]), unchecked)


def said(form: Form, content: Mapping[str, Value], secrets: bool) -> list[AnswerView]:
    """Return the answer as the chat shows it. Without `secrets`, hide what looks like one and shorten long texts."""
    shown = []
    for field in form.fields:
        if field.name in content:
            text = _words(field, content[field.name])
            if not secrets and looks_secret(field):
                text = HIDDEN
            elif not secrets and len(text) > ANSWER_CHARS:
                text = f"{text[:ANSWER_CHARS]}…"
            shown.append(AnswerView(field.name, field.title, text))
    return shown


def secrets_of(form: Form, content: Mapping[str, Value]) -> list[str]:
    """Return the answers that look like secrets, which must not be written to disk."""
    return [str(content[one.name]) for one in form.fields if one.name in content and looks_secret(one)]


def looks_secret(field: AnyField) -> bool:
    """Whether a field asks for what agents must not ask for in a form (ACP "Elicitation", Form mode)."""
    return isinstance(field, TextField) and (
        field.format == "password" or (field.choices is None and (is_secret(field.name) or is_secret(field.title)))
    )


def _value(field: AnyField, typed: object) -> Value | None:
    """Return the value of a field to send, or None to send none. Raises `_Wrong`."""
    if isinstance(field, UnknownField):
        return None
    value = _read(field, typed)
    if value is None:
        if field.required:
            raise _Wrong("is neither yes nor no" if isinstance(field, BooleanField) else "has to be filled in")
        return None
    wrong = problem(field, value)
    if wrong is not None:
        raise _Wrong(wrong)
    return value


def _read(field: AnyField, typed: object) -> Value | None:
    match field:
        case NumberField():
            text = typed.strip() if isinstance(typed, str) else ""
            return _number(field.whole, text) if text else None
        case ChoicesField():
            chosen = list(dict.fromkeys(str(one) for one in typed)) if isinstance(typed, list) else []
            # an empty list is sent only if the agent would not assume it anyway
            return chosen if chosen or field.required or (field.default and not field.min_items) else None
        case BooleanField():
            return typed if isinstance(typed, bool) else None
        case TextField(choices=None):
            return typed if isinstance(typed, str) and typed else None
        case _:
            return typed if isinstance(typed, str) else None


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


# --- values as in JSON Schema, without patterns ----------------------------------------------------------------------


def problem(field: AnyField, value: object) -> str | None:
    """Return what is wrong with a JSON value in that field, or None if it can be sent."""
    match field:
        case TextField():
            return _text_problem(field, value)
        case NumberField():
            return _number_problem(field, value)
        case BooleanField():
            return None if isinstance(value, bool) else "is neither yes nor no"
        case ChoicesField():
            return _choices_problem(field, value)
        case _:
            return f"is of the type {field.type!r}, which acp_nvim does not know"


def _text_problem(field: TextField, value: object) -> str | None:
    if not isinstance(value, str):
        return "is no text"
    if field.choices is not None and all(choice.value != value for choice in field.choices):
        return "is none of the values to choose from"
    length = len(value)
    if field.min_length is not None and length < field.min_length:
        return f"is too short: {length} of at least {characters(field.min_length)}"
    if field.max_length is not None and length > field.max_length:
        return f"is too long: {length} of at most {characters(field.max_length)}"
    return _format_problem(field.format, value)


def _number_problem(field: NumberField, value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "is no number"
    if field.whole and value != value // 1:
        return "is no whole number"
    if field.minimum is not None and value < field.minimum:
        return f"is less than {number(field.minimum)}"
    if field.maximum is not None and value > field.maximum:
        return f"is more than {number(field.maximum)}"
    return None


def _choices_problem(field: ChoicesField, value: object) -> str | None:
    if not isinstance(value, list):
        return "is no list"
    known = {choice.value for choice in field.choices}
    for one in value:
        if not isinstance(one, str) or one not in known:
            return f"has {one!r}, which is none of the values to choose from"
    if field.min_items is not None and len(value) < field.min_items:
        return f"has too few: choose at least {field.min_items}"
    if field.max_items is not None and len(value) > field.max_items:
        return f"has too many: choose at most {field.max_items}"
    return None


def characters(count: int) -> str:
    """Return `count` with the word "character" in singular or plural."""
    return "1 character" if count == 1 else f"{count} characters"


def number(value: float) -> str:
    """Return `value` as text, without a fraction if it is whole."""
    return str(int(value)) if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15) else repr(value)


# --- formats that the protocol names ---------------------------------------------------------------------------------


def _format_problem(name: str | None, text: str) -> str | None:
    """Return what is wrong with a text of that format. Unknown formats accept any text (RFD "Elicitation")."""
    match name:
        case "email" if not _ADDRESS.fullmatch(text) or not text.isprintable():
            return "is no e-mail address, like name@example.org"
        case "uri" if not _URI.fullmatch(text):
            return "is no URI, like https://example.org/page (no blanks, nothing but ASCII)"
        case "date":
            return _date_problem(text)
        case "date-time":
            return _date_time_problem(text)
    return None


def format_example(name: str | None) -> str | None:
    """Describe a text of that format with an example; return the name of an unknown format."""
    return _EXAMPLES.get(name or "", name)


def _date_problem(text: str) -> str | None:
    if not _DATE.fullmatch(text):
        return "is no date, like 2026-11-21"
    try:
        date.fromisoformat(text)
    except ValueError:
        return "is a date that does not exist"
    return None


def _date_time_problem(text: str) -> str | None:
    parts = _DATE_TIME.fullmatch(text)
    if parts is None:
        return "is no date and time with a zone, like 2026-11-21T20:15:00Z"
    day, clock, _, zone = parts.groups()
    try:
        datetime.strptime(f"{day} {clock}", "%Y-%m-%d %H:%M:%S")
        if len(zone) > 1:
            datetime.strptime(zone[1:], "%H:%M")
    except ValueError:
        return "is a date or time that does not exist"
    return None


_EXAMPLES: Final = {
    "email": "an e-mail address",
    "uri": "a URI",
    "date": "a date, like 2026-11-21",
    "date-time": "a date and time, like 2026-11-21T20:15:00Z",
}
