"""Integers of more than 64 bits never get past decoding; everything else in a message stays byte by byte."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.jsonrpc.decoding import INT64, WIDE_NUMBERS, may_be_wide, narrowed
from acp_nvim.limits import SCANNED_BYTES

NUMBERS = st.integers() | st.integers(2**62, 2**66) | st.integers(-(2**66), -(2**62)) | st.floats(allow_nan=False)
TEXTS = st.text() | st.from_regex(r'[",: 0-9\\-]{0,40}', fullmatch=True)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS.filter(lambda one: not math.isinf(one)) | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=20,
)


def expected(value: Any) -> Any:
    match value:
        case bool():
            return value
        case int():
            return value if value in INT64 else float(value)
        case list():
            return [expected(one) for one in value]
        case dict():
            return {name: expected(one) for name, one in value.items()}
        case _:
            return value


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of the same types."""
    return json.dumps(one) == json.dumps(other)


@given(VALUES, st.sampled_from([(",", ":"), (", ", ": ")]))
def test_any_json(value: Any, separators: tuple[str, str]) -> None:
    text = json.dumps(value, separators=separators).encode()
    raw, found = narrowed(msgspec.Raw(text))
    assert same(json.loads(bytes(raw)), expected(value))
    if same(expected(value), value):
        assert (bytes(raw), found) == (text, [])
    else:
        assert found
        assert may_be_wide([text])


@pytest.mark.parametrize("start", range(12))
def test_one_is_found_anywhere_in_a_long_text(start: int) -> None:
    text = b'{"a": "%b", "b": %b}' % (b"x" * (SCANNED_BYTES + start), b"9" * 19)
    assert may_be_wide([text])
    assert narrowed(msgspec.Raw(text))[1] == ["9" * 19]
    assert not may_be_wide([text.replace(b"9999999", b"999.999")])


@pytest.mark.parametrize("before", range(495, 505))
def test_a_long_float_is_none_wherever_it_is_in_many_numbers(before: int) -> None:
    """Tokens are read a thousand at a time."""
    digits = b"1" * 25
    others = b",".join([b"7"] * before)
    for number in (b"%b.5" % digits, b"%bE-20" % digits, b"0.%b" % digits, b"1e-0%b" % digits[:19]):
        text = b'["a\\"7",%b,%b,"%b"]' % (others, number, digits)
        assert narrowed(msgspec.Raw(text))[1] == []
    raw, found = narrowed(msgspec.Raw(b"[%b,-%b]" % (others, digits)))
    assert found == [f"-{digits.decode()}"]
    assert json.loads(bytes(raw)) == [*[7] * before, -float(digits)]


@pytest.mark.parametrize("text", [r"\\", r"\"", r"\\\"", r"\\\\", r"\u0022", "1, ", r"\n\\"])
def test_digits_in_a_text_are_no_number(text: str) -> None:
    inside = f'{{"{text}": "{text}{"9" * 30}{text}", "b": {{"{text}, {"9" * 30}": 1}}}}'
    assert narrowed(msgspec.Raw(inside.encode())) == (msgspec.Raw(inside.encode()), [])
    beside = f'{{"{text}": {"9" * 30}, "b": "{text}"}}'
    raw, found = narrowed(msgspec.Raw(beside.encode()))
    assert (json.loads(bytes(raw)), len(found)) == (expected(json.loads(beside)), 1)


def test_what_no_float_can_hold_is_null() -> None:
    raw, found = narrowed(msgspec.Raw(b'{"a": ' + b"9" * 5000 + b', "b": -' + b"9" * 400 + b"}"))
    assert bytes(raw) == b'{"a": null, "b": null}'
    assert max(map(len, found)) < 50


def test_too_many_cost_the_whole_value() -> None:
    wide = b"[" + b",".join([b"9" * 20] * (WIDE_NUMBERS + 1)) + b"]"
    raw, found = narrowed(msgspec.Raw(wide))
    assert (bytes(raw), len(found)) == (b"null", WIDE_NUMBERS)
