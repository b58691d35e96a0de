"""The validator against `jsonschema_rs`: schemas of all shapes of the specification, and any values."""

from __future__ import annotations

import re
from typing import Any

import anyio
import jsonschema_rs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_nvim.elicitation import answers, patterns
from tests.core.elicitation.schemas import FORMATTED, PROPERTIES, TEXTS, TYPED, form_of, values_for
from tests.support.examples import examples


def allows(schema: dict[str, Any], value: Any) -> bool:
    """Whether `jsonschema_rs` accepts the value."""
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(value)


async def matches_here(pairs: list[tuple[str, str]]) -> list[bool | None]:
    """What the process of its own says, without one: these patterns are harmless, and there are many."""
    return [re.search(pattern, text) is not None for pattern, text in pairs]


@pytest.fixture(autouse=True)
def _no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "matches", matches_here)


@given(schema=PROPERTIES, data=st.data())
@settings(max_examples=examples(200))
def test_a_value_is_wrong_for_us_where_it_is_wrong_for_jsonschema_and_nowhere_else(
    schema: dict[str, Any], data: st.DataObject
) -> None:
    value = data.draw(values_for(schema))
    plain = {name: member for name, member in schema.items() if name not in ("pattern", "format")}
    [field] = form_of({"x": plain}).fields
    assert (answers.problem(field, value) is None) == allows(plain, value)


@given(schema=FORMATTED, value=TEXTS)
def test_no_text_of_a_format_passes_that_jsonschema_refuses(schema: dict[str, Any], value: Any) -> None:
    [field] = form_of({"x": schema}).fields
    if answers.problem(field, value) is None:
        assert allows(schema, value)


@given(
    properties=st.dictionaries(st.sampled_from("abcd"), PROPERTIES, max_size=3),
    typed=st.dictionaries(st.sampled_from("abcd"), TYPED),
    data=st.data(),
)
@example(properties={"a": {"type": "integer"}}, typed={"a": "9" * 30}, data=None)
def test_what_we_send_is_what_jsonschema_accepts(
    properties: dict[str, Any], typed: dict[str, Any], data: st.DataObject | None
) -> None:
    names = sorted(properties)
    required = data.draw(st.lists(st.sampled_from(names), unique=True)) if names and data else []
    form = form_of(properties, required)
    checked = anyio.run(answers.check, form, typed)
    schema = {"type": "object", "properties": properties, "required": required}
    if not checked.problems:
        assert allows(schema, checked.content), (schema, checked.content)
    for problem in checked.problems:
        assert problem.field in properties
        assert problem.text
    for name in {*properties} - {one.field for one in checked.problems} & {*checked.content}:
        assert name not in checked.content or allows(properties[name], checked.content[name])


@given(schema=PROPERTIES, typed=TYPED)
def test_what_is_right_and_not_empty_is_sent(schema: dict[str, Any], typed: Any) -> None:
    """What the user typed is sent, or the user is told why not."""
    checked = anyio.run(answers.check, form_of({"x": schema}), {"x": typed})
    if isinstance(typed, str) and typed.strip() and schema["type"] in ("string", "integer", "number"):
        assert checked.problems or "x" in checked.content
    if isinstance(typed, bool) and schema["type"] == "boolean":
        assert checked.content == {"x": typed}
    if isinstance(typed, str) and schema["type"] == "string" and not checked.problems and typed:
        assert checked.content == {"x": typed}
