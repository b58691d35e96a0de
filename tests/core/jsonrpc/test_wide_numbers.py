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
    """Also of the same types."""
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


def test_what_no_float_can_hold_is_null() -> None:
    raw, found = narrowed(msgspec.Raw(b'{"a": ' + b"9" * 5000 + b', "b": -' + b"9" * 400 + b"}"))
    assert bytes(raw) == b'{"a": null, "b": null}'
    assert max(map(len, found)) < 50


def test_too_many_cost_the_whole_value() -> None:
    wide = b"[" + b",".join([b"9" * 20] * (WIDE_NUMBERS + 1)) + b"]"
    raw, found = narrowed(msgspec.Raw(wide))
    assert (bytes(raw), len(found)) == (b"null", WIDE_NUMBERS)
