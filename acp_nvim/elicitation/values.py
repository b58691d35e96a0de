"""Says in words what is wrong with a value of a form's field, as JSON Schema has it, but for patterns."""

from __future__ import annotations

from acp_nvim.elicitation import formats
from acp_nvim.protocol.elicitation import (
    AnyField,
    BooleanField,
    ChoicesField,
    NumberField,
    TextField,
)

Value = str | int | float | bool | list[str]
"""What can be answered."""

INT64 = range(-(2**63), 2**63)


def problem(field: AnyField, value: object) -> str | None:
    """What is wrong with that JSON value in that field; None when it can be sent."""
    match field:
        case TextField():
            return _text(field, value)
        case NumberField():
            return _number(field, value)
        case BooleanField():
            return None if isinstance(value, bool) else "is neither yes nor no"
        case ChoicesField():
            return _choices(field, value)
        case _:
            return f"is of the type {field.type!r}, which acp_nvim does not know"


def _text(field: TextField, value: object) -> str | None:
    if not isinstance(value, str):
        return "is no text"
    if field.choices is not None and all(choice.value != value for choice in field.choices):
        return "is none of the values to choose from"
    length = len(value)
    if field.min_length is not None and length < field.min_length:
        return f"is too short: {length} of at least {characters(field.min_length)}"
    if field.max_length is not None and length > field.max_length:
        return f"is too long: {length} of at most {characters(field.max_length)}"
    return formats.problem(field.format, value)


def _number(field: NumberField, value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "is no number"
    if field.whole and value != value // 1:
        return "is no whole number"
    if field.minimum is not None and value < field.minimum:
        return f"is less than {number(field.minimum)}"
    if field.maximum is not None and value > field.maximum:
        return f"is more than {number(field.maximum)}"
    return None


def _choices(field: ChoicesField, value: object) -> str | None:
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
    """That many characters, in words."""
    return "1 character" if count == 1 else f"{count} characters"


def number(value: float) -> str:
    """Without a fraction where there is none."""
    return str(int(value)) if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15) else repr(value)
