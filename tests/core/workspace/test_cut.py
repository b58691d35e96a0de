"""The part of a text that `line` and `limit` ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.workspace.read_text_file import cut

texts = st.text(alphabet="ab\n\r\u2028\x0c", max_size=20)
numbers = st.none() | st.integers(-2, 12)


def plainly(text: str, line: int | None, limit: int | None) -> str:
    """Character by character: line numbers go up at newlines, and at nothing else."""
    first = line if line and line > 1 else 1
    kept, number = "", 1
    for character in text:
        if number >= first and (limit is None or number < first + limit):
            kept += character
        number += character == "\n"
    return kept


@given(texts, numbers, st.none() | st.integers(0, 12))
def test_it_is_what_counting_lines_gives(text: str, line: int | None, limit: int | None) -> None:
    assert cut(text, line, limit) == plainly(text, line, limit)


@given(texts, st.integers(0, 12))
def test_the_parts_of_a_text_make_the_whole(text: str, limit: int) -> None:
    assert cut(text, 1, limit) + cut(text, limit + 1, None) == text


@pytest.mark.parametrize(
    ("line", "limit", "part"),
    [
        (None, None, "a\nb\nc"),
        (1, 1, "a\n"),
        (0, 1, "a\n"),
        (2, 1, "b\n"),
        (3, 1, "c"),
        (2, None, "b\nc"),
        (None, 2, "a\nb\n"),
        (4, 1, ""),
        (1, 0, ""),
        (1, 2**31, "a\nb\nc"),
    ],
)
def test_lines_count_from_1_and_keep_their_ends(line: int | None, limit: int | None, part: str) -> None:
    assert cut("a\nb\nc", line, limit) == part


@pytest.mark.parametrize("limit", [-1, -100])
def test_a_negative_limit_is_no_line(limit: int) -> None:
    assert cut("a\nb\nc", 2, limit) == ""
