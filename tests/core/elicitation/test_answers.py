"""What is made of what was typed into a form, and the words for what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.elicitation import answers
from tests.core.elicitation.schemas import form_of

pytestmark = pytest.mark.anyio

CHOICES = {"type": "string", "enum": ["a", "b"]}
MANY = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}


async def content(schema: dict[str, Any], typed: Any, required: bool = False) -> Any:
    """What is sent of one field, or the words for what is wrong."""
    checked = await answers.check(form_of({"x": schema}, ["x"] if required else []), {"x": typed})
    return checked.problems[0].text if checked.problems else checked.content.get("x", "nothing")


@pytest.mark.parametrize(
    ("schema", "typed", "sent"),
    [
        ({"type": "integer"}, "42", 42),
        ({"type": "integer"}, " -7 ", -7),
        ({"type": "integer"}, "4.2", "is no whole number, like 42"),
        ({"type": "integer"}, "٤", "is no whole number, like 42"),
        ({"type": "integer"}, "9223372036854775808", "is too large"),
        ({"type": "integer"}, "9223372036854775807", 9223372036854775807),
        ({"type": "integer", "minimum": 3, "maximum": 3}, "3", 3),
        ({"type": "string", "minLength": 2, "maxLength": 2}, "ab", "ab"),
        ({**MANY, "minItems": 2, "maxItems": 2}, ["a", "b"], ["a", "b"]),
        ({"type": "integer", "minimum": 3}, "2", "is less than 3"),
        ({"type": "integer", "maximum": 3}, "4", "is more than 3"),
        ({"type": "number"}, "4.25", 4.25),
        ({"type": "number"}, "4", 4),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "1e999", "is too large"),
        ({"type": "number"}, "nan", "is no number, like 4.2"),
        ({"type": "number"}, "1_000", "is no number, like 4.2"),
        ({"type": "number", "minimum": 0.5}, "0.4", "is less than 0.5"),
        ({"type": "number"}, "", "nothing"),
        ({"type": "string"}, "", "nothing"),
        ({"type": "string"}, " ", " "),
        ({"type": "string", "minLength": 1}, "", "nothing"),
        ({"type": "string", "minLength": 2}, "é", "is too short: 1 of at least 2 characters"),
        ({"type": "string", "maxLength": 1}, "ab", "is too long: 2 of at most 1 character"),
        ({"type": "string", "format": "email"}, "a@b@c", "is no e-mail address, like name@example.org"),
        ({"type": "string", "format": "date"}, "2023-02-29", "is a date that does not exist"),
        ({"type": "string", "format": "date"}, "20240229", "is no date, like 2026-11-21"),
        ({"type": "string", "format": "date-time"}, "2024-02-29T12:00:00+01:00", "2024-02-29T12:00:00+01:00"),
        ({"type": "string", "format": "date-time"}, "2024-02-29T24:00:00Z", "is a date or time that does not exist"),
        ({"type": "string", "format": "uuid"}, "anything", "anything"),
        (CHOICES, "a", "a"),
        (CHOICES, "c", "is none of the values to choose from"),
        ({"type": "string", "enum": ["", "a"]}, "", ""),
        ({"type": "boolean"}, False, False),
        ({"type": "boolean"}, None, "nothing"),
        (MANY, ["a", "c", "a"], ["a", "c"]),
        (MANY, [], "nothing"),
        ({**MANY, "default": ["a"]}, [], []),
        ({**MANY, "minItems": 2}, ["a"], "has too few: choose at least 2"),
        ({**MANY, "maxItems": 1}, ["a", "b"], "has too many: choose at most 1"),
    ],
)  # fmt: skip
async def test_what_is_typed(schema: dict[str, Any], typed: Any, sent: Any) -> None:
    found = await content(schema, typed)
    assert found == sent
    assert type(found) is type(sent)


@pytest.mark.parametrize(
    ("schema", "typed", "sent"),
    [
        ({"type": "string"}, "", "has to be filled in"),
        ({"type": "integer"}, " ", "has to be filled in"),
        ({"type": "boolean"}, None, "is neither yes nor no"),
        (CHOICES, None, "has to be filled in"),
        (MANY, [], []),
        ({**MANY, "minItems": 1}, [], "has too few: choose at least 1"),
    ],
)
async def test_what_is_required(schema: dict[str, Any], typed: Any, sent: Any) -> None:
    assert await content(schema, typed, required=True) == sent


async def test_titles_are_told_with_their_values_and_secrets_are_not() -> None:
    titled = [{"const": "s", "title": "Small"}, {"const": "l", "title": "l"}]
    form = form_of(
        {
            "size": {"type": "string", "oneOf": titled, "title": "Size"},
            "sizes": {"type": "array", "items": {"anyOf": titled}},
            "yes": {"type": "boolean"},
            "client_secret": {"type": "string"},
            "long": {"type": "string"},
        }
    )
    typed = {"size": "s", "sizes": ["s", "l"], "yes": True, "client_secret": "xyzzy", "long": "x" * 999}
    checked = await answers.check(form, typed)
    shown = {one.title: one.text for one in answers.said(form, checked.content, secrets=False)}
    assert shown == {
        "Size": "Small (s)",
        "sizes": "Small (s), l",
        "yes": "yes",
        "client_secret": "(not shown)",
        "long": "x" * 200 + "…",
    }
    review = {one.title: one.text for one in answers.said(form, checked.content, secrets=True)}
    assert (review["client_secret"], review["long"]) == ("xyzzy", "x" * 999)


async def test_an_enum_with_titles_is_what_both_allow() -> None:
    both = {"type": "string", "enum": ["a"], "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}
    assert await content(both, "a") == "a"
    assert await content(both, "b") == "is none of the values to choose from"
