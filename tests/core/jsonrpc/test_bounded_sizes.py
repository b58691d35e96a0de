"""Messages around each real bound, in the pieces of a pipe, are cut as a plain reference implementation cuts them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_nvim.jsonrpc.framing import LineFramer, SkippedLine
from acp_nvim.limits import LEFT_OUT, LIST_ENTRIES, SCANNED_BYTES, STRING_BYTES, TAKEN_BYTES
from tests.support.examples import examples

TEXTS = st.text(alphabet='ab,,[]{}:"\\\né', max_size=12)
"""What prose, CSV, minified JSON and programs consist of."""
UNITS = st.recursive(
    st.integers(-9, 99) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXTS.filter(lambda text: text != ""), inner, max_size=3)
    ),
    max_leaves=5,
)
COUNTS = st.sampled_from([LIST_ENTRIES - 1, LIST_ENTRIES, LIST_ENTRIES + 1, LIST_ENTRIES + 200])


def message(before: Any, unit: Any, count: int, text: str, after: Any) -> dict[str, Any]:
    """A notification with a list of `count` units, and a text with as many commas, between other values."""
    return {"before": before, "list": [unit] * count, "text": f"{text}, " * count, "after": [after, text]}


def cut(value: dict[str, Any]) -> dict[str, Any]:
    """Cut the member `list` to `LIST_ENTRIES` entries, after decoding."""
    missing = len(value["list"]) - LIST_ENTRIES
    kept = {**value, "list": value["list"][:LIST_ENTRIES]}
    return {**kept, LEFT_OUT: {"list": missing}} if missing > 0 else kept


def received(line: bytes, first: int) -> Any:
    """Return what the framer makes of a line: a piece of `first` bytes, then pieces of the size of a pipe."""
    framer = LineFramer()
    found = framer.feed(line[:first])
    for start in range(first, len(line), TAKEN_BYTES):
        found += framer.feed(line[start : start + TAKEN_BYTES])
    [lines] = filter(None, found)
    assert not isinstance(lines, SkippedLine), lines.why
    return json.loads(lines[0])


@settings(max_examples=examples(40))
@given(
    before=UNITS,
    unit=st.integers(-9, 99) | TEXTS,
    count=COUNTS,
    text=TEXTS,
    after=UNITS,
    compact=st.booleans(),
    first=st.integers(1, 2 * TAKEN_BYTES),
)
@example(before=[], unit="a, b", count=LIST_ENTRIES + 1, text='"x", [y', after={"k": [1]}, compact=True, first=100)
def test_a_list_is_cut_at_its_bound_and_nothing_else(
    before: Any, unit: Any, count: int, text: str, after: Any, compact: bool, first: int
) -> None:
    value = message(before, unit, count, text, after)
    line = json.dumps(value, separators=(",", ":") if compact else None, ensure_ascii=False).encode() + b"\n"
    assert len(line) > SCANNED_BYTES
    assert received(line, first) == cut(value)


@settings(max_examples=examples(40))
@given(
    lines=st.lists(TEXTS, max_size=60),
    elements=st.lists(TEXTS, min_size=1, max_size=4),
    count=COUNTS,
    first=st.integers(1, 2 * TAKEN_BYTES),
)
@example(lines=["x = 1"] * 50, elements=["1", '"a"', "[2]"], count=LIST_ENTRIES + 200, first=100)
def test_a_text_with_more_commas_than_a_list_may_have_is_whole(
    lines: list[str], elements: list[str], count: int, first: int
) -> None:
    """A file with a long list in brackets after some lines: its commas and brackets are characters of a text."""
    many = (elements * (count // len(elements) + 1))[:count]
    content = "\n".join([*lines, f"x = [{','.join(many)}]", *lines])
    for method in ("fs/write_text_file", "session/request_permission"):
        value = {"id": 1, "method": method, "params": {"path": "/f", "content": content, "after": [1, {"b": content}]}}
        assert received(json.dumps(value).encode() + b"\n", first) == value


@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("unit", ["a", ",", '"', "\\", "\n", "\x01", "é"])
def test_the_end_of_a_text_beyond_its_bound_is_counted(unit: str, extra: int) -> None:
    written = json.dumps(unit).encode()[1:-1]
    count = STRING_BYTES // len(written) + extra
    line = b'{"before":[1,2],"text":"%b","after":","}\n' % (written * count)
    kept = received(line, 10)
    missing = kept.pop(LEFT_OUT, {"text": 0})["text"]
    assert (missing > 0) is (len(written) * count > STRING_BYTES)
    assert kept == {"before": [1, 2], "text": unit * (count - missing), "after": ","}
