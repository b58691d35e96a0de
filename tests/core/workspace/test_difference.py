"""Changes of lines: small, and exactly what was meant."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract.editor import LineChange, WholeText
from acp_nvim.workspace.line_differences import common_head, difference
from tests.support.fake_editor import applied

LINE = st.text(alphabet="ab \n\r\ufeffé", max_size=4)
TEXT = st.lists(LINE, max_size=8).map("".join)


@given(TEXT, TEXT)
def test_it_makes_the_new_text_of_the_old(old: str, new: str) -> None:
    assert applied(old, difference(old, new)) == new


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), st.integers(0, 8), st.sampled_from("ax"))
def test_a_changed_line_is_one_line(lines: list[str], at: int, line: str) -> None:
    at %= len(lines)
    old = "".join(one + "\n" for one in lines)
    change = difference(old, "".join(f"{line if n == at else one}\n" for n, one in enumerate(lines)))
    assert isinstance(change, LineChange)
    same = lines[at] == line
    assert (change.count, list(change.lines)) == ((0, []) if same else (1, [line]))
    assert same or change.first == at


@given(TEXT, TEXT)
def test_the_common_head_is_the_longest(old: str, new: str) -> None:
    head = common_head(old, new)
    assert old[:head] == new[:head]
    assert head == min(len(old), len(new)) or old[head] != new[head]


@given(st.integers(1, 3), st.integers(0, 40_000), st.integers(0, 40_000))
def test_long_texts_are_compared_block_by_block(length: int, head: int, tail: int) -> None:
    line = "é" * (length - 1) + "\n"
    old = line * (head // length) + "old\n" + line * (tail // length)
    new = line * (head // length) + "new, longer\nand more\n" + line * (tail // length)
    change = difference(old, new)
    assert change == LineChange(head // length, 1, ["new, longer", "and more"])


def test_line_ends_and_boms_change_everything() -> None:
    pairs = [("a\n", "a"), ("a\r\n", "b\r\n"), ("a\n", "\ufeffa\n"), ("", "a\n"), ("a\n", ""), ("a\n", "a\r\n")]
    for old, new in pairs:
        assert difference(old, new) == WholeText(new)
