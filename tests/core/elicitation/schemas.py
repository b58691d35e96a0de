"""Random schemas of all shapes that the specification has, and values for them, right and wrong."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import strategies as st

from acp_nvim.acp.elicitation import ElicitationAsked, Form
from acp_nvim.acp.v1 import DialectV1

PATTERNS = ["^a", "[0-9]+$", "^[a-z]{2,4}$", "a|b", r"\d", "^$", "x*"]
FORMATS = ["email", "uri", "date", "date-time", "x-other"]
WORDS = st.text("ab1é \n", max_size=6)
VALUES = st.sampled_from(["red", "green", "blue", "", "é", "#00ff00"])
NUMBERS = st.integers(-20, 20) | st.floats(-20, 20).map(lambda number: round(number, 2))
LENGTHS = st.integers(0, 5)


def given_some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A strategy for dictionaries with some of these members."""
    return st.fixed_dictionaries({}, optional=members)


def titled(values: list[str]) -> list[dict[str, str]]:
    return [{"const": one, "title": f"The {one}"} for one in values]


def with_type(name: str, **members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    about = {"title": st.just("Title"), "description": st.just("About it")}
    return given_some(**about, **members).map(lambda schema: {"type": name, **schema})


CHOICES = st.lists(VALUES, min_size=1, max_size=4, unique=True)
STRINGS = with_type("string", minLength=LENGTHS, maxLength=LENGTHS, pattern=st.sampled_from(PATTERNS))
FORMATTED = with_type("string", format=st.sampled_from(FORMATS))
ENUMS = with_type("string", enum=CHOICES, minLength=LENGTHS) | with_type("string", oneOf=CHOICES.map(titled))
WHOLE = with_type("integer", minimum=st.integers(-9, 9), maximum=st.integers(-9, 9))
FRACTIONS = with_type("number", minimum=NUMBERS, maximum=NUMBERS)
ITEMS = CHOICES.map(lambda values: {"type": "string", "enum": values}) | CHOICES.map(
    lambda values: {"anyOf": titled(values)}
)
MANY = st.tuples(with_type("array", minItems=st.integers(0, 3), maxItems=st.integers(0, 3)), ITEMS).map(
    lambda pair: {**pair[0], "items": pair[1]}
)
PROPERTIES = STRINGS | FORMATTED | ENUMS | WHOLE | FRACTIONS | with_type("boolean") | MANY

TEXTS = WORDS | VALUES | st.sampled_from(
    ["a@b.org", "@", "a b@c", "https://x.org/é", "https://x.org", "2024-02-29", "2023-02-29", "20240101",
     "2024-01-01T10:00:00Z", "2024-01-01T25:00:00Z", "2024-01-01 10:00:00", "12", "-3", "4.5", "1e3", "1e999",
     "nan", "٣"]
)  # fmt: skip
JSON = TEXTS | NUMBERS | st.booleans() | st.none() | st.lists(TEXTS, max_size=4) | st.lists(NUMBERS, max_size=2)


def values_for(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values near to what the schema allows, and sometimes anything."""
    match schema["type"]:
        case "string":
            near = st.text("ab1", max_size=6) | TEXTS
        case "array":
            near = st.lists(VALUES, max_size=4)
        case "boolean":
            near = st.booleans()
        case _:
            bounds = [schema[name] for name in ("minimum", "maximum") if name in schema] or [0]
            steps = st.sampled_from([-1, -0.5, 0, 0.5, 1])
            near = NUMBERS | st.builds(lambda bound, step: bound + step, st.sampled_from(bounds), steps)
    return st.one_of(near, near, near, JSON)


TYPED = TEXTS | st.booleans() | st.lists(VALUES, max_size=4) | st.none()
"""What Lua may say that was filled in."""


def form_of(properties: dict[str, Any], required: list[str] | None = None) -> Form:
    """Decode a form with these properties from the JSON that an agent sends."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required is not None:
        schema["required"] = required
    params = {"sessionId": "s", "mode": "form", "message": "m", "requestedSchema": schema}
    _, asked = DialectV1().asked("elicitation/create", msgspec.Raw(json.dumps(params).encode()))
    assert isinstance(asked, ElicitationAsked)
    assert isinstance(asked.what, Form)
    return asked.what
