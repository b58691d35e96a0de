"""Texts taken apart and put together again."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.workspace.read_text_file import cut
from acp_nvim.workspace.text_shape import MIXED, TextShape, is_mac, lines_with_ends, put_together, take_apart

texts = st.text(alphabet="ab\n\r\ufeff\u2028\x0c\0\udc80", max_size=12) | st.text()


@given(texts, st.none() | st.booleans())
@example("\ufeff", None)
@example("\ufeff\ufeff\r\r\n\n\r", True)
def test_what_was_taken_apart_is_put_together_exactly(text: str, lone_cr: bool | None) -> None:
    shape = take_apart(text, lone_cr)
    assert put_together(shape.bom, shape.lines, shape.ends) == text


@given(texts, st.none() | st.booleans())
def test_lines_hold_no_ends_and_only_the_last_can_lack_one(text: str, lone_cr: bool | None) -> None:
    shape = take_apart(text, lone_cr)
    assert not any("\n" in line for line in shape.lines)
    assert all(shape.ends[:-1])
    assert not shape.lines or shape.lines[-1] or shape.ends[-1]
    if lone_cr:
        assert not any("\r" in line for line in shape.lines)


@pytest.mark.parametrize(
    ("text", "bom", "lines", "ends", "kind", "ended"),
    [
        ("", False, [], [], "", None),
        ("\ufeff", True, [], [], "", None),
        ("a", False, ["a"], [""], "", False),
        ("\n", False, [""], ["\n"], "\n", True),
        ("a\nb", False, ["a", "b"], ["\n", ""], "\n", False),
        ("\ufeffa\n\n", True, ["a", ""], ["\n", "\n"], "\n", True),
        ("a\r\nb\r\n", False, ["a", "b"], ["\r\n", "\r\n"], "\r\n", True),
        ("a\rb\r\n", False, ["a\rb"], ["\r\n"], "\r\n", True),
        ("a\r\r\n", False, ["a\r"], ["\r\n"], "\r\n", True),
        ("a\rb", False, ["a", "b"], ["\r", ""], "\r", False),
        ("a\rb\n", False, ["a\rb"], ["\n"], "\n", True),
        ("a\r\nb\n", False, ["a", "b"], ["\r\n", "\n"], MIXED, True),
    ],
)
def test_each_kind_of_text(text: str, bom: bool, lines: list[str], ends: list[str], kind: str, ended: bool) -> None:
    shape = take_apart(text)
    assert shape == TextShape(bom, lines, ends)
    assert (shape.kind, shape.ended) == (kind, ended)


def test_a_lone_carriage_return_ends_a_line_where_it_is_asked_for() -> None:
    assert take_apart("a\rb\n", lone_cr=True).ends == ["\r", "\n"]
    assert take_apart("a\rb", lone_cr=False).lines == ["a\rb"]


@given(texts)
def test_lines_are_counted_as_in_reading_a_part(text: str) -> None:
    lines = lines_with_ends(text)
    assert "".join(lines) == text
    assert [cut(text, number, 1) for number in range(1, len(lines) + 2)] == [*lines, ""]


@given(texts)
def test_mac_is_what_has_carriage_returns_only(text: str) -> None:
    assert is_mac(text) == (take_apart(text).kind == "\r")
