"""Texts under review, whatever their lines: what is shown makes one text of the other, and nothing of them is lost."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.hunks.reviewed_text import ReviewedText
from acp_nvim.workspace.line_differences import difference

BOM = "\ufeff"
fileformats = st.sampled_from([None, None, "unix", "dos", "mac"])
few_lines = st.lists(st.sampled_from(["a\n", "b\n", "\n", "a\r\n", "\r\n"]), max_size=8).map("".join)
texts = (
    few_lines | st.lists(st.sampled_from(["a\n", "b\n"]), max_size=9).map("".join) | st.text("ab\n\r\ufeff", max_size=9)
)
steps = st.lists(
    st.tuples(
        st.sampled_from(["agent", "user", "lines", "lines", "lines", "keep", "reject", "held as"]),
        texts,
        st.integers(0, 9),
        st.integers(0, 4),
        st.lists(st.sampled_from(["a", "b", "", "a\r"]), max_size=3),
    ),
    max_size=10,
)


def shown(reviewed: ReviewedText) -> list[tuple[int, list[str], list[str]]]:
    """The first row, the old and the new lines of each hunk."""
    return [(hunk.block.j1, reviewed.old_lines(hunk), reviewed.new_lines(hunk)) for hunk in reviewed.hunks]


def check(reviewed: ReviewedText, current: str) -> None:
    """Check what holds after every step."""
    assert reviewed.current == current
    assert reviewed.rejected(None) == reviewed.base
    assert reviewed.rejected([]) == current
    ids = [hunk.id for hunk in reviewed.hunks]
    assert len({*ids}) == len(ids)
    blocks = [hunk.block for hunk in reviewed.hunks]
    assert all((block.i1, block.j1) != (block.i2, block.j2) for block in blocks)
    assert all(one.i2 < two.i1 and two.i1 - one.i2 == two.j1 - one.j2 for one, two in pairwise(blocks))
    assert not blocks or blocks[0].i1 == blocks[0].j1
    if reviewed.shape is None:
        assert reviewed.rejected(ids) == reviewed.base
        assert blocks or reviewed.base == current
    copy = ReviewedText(reviewed.base, current)
    copy.keep(None)
    assert (copy.base, list(copy.hunks), copy.shape) == (current, [], None)


@given(texts, texts, fileformats, steps)
@example("", BOM, None, [])
@example("a\n", "\n", None, [])
@example("a", "a\n", "mac", [])
@example("", "a", None, [("lines", "", 0, 1, [""])])
@example("a", "a", None, [("lines", "", 1, 0, [""]), ("agent", "b\n", 0, 0, []), ("lines", "", 0, 1, ["c"])])
def test_whatever_happens_both_texts_are_exact(base: str, current: str, fileformat, given_steps) -> None:
    reviewed = ReviewedText(base, current, fileformat)
    assert reviewed.base == base
    check(reviewed, current)
    for kind, text, first, count, lines in given_steps:
        before = reviewed.base
        ids, contents = [hunk.id for hunk in reviewed.hunks], dict(zip(reviewed.hunks, shown(reviewed), strict=True))
        seen = ids, reviewed.shape
        if kind == "agent":
            changed = reviewed.apply_agent(text)
            assert reviewed.base == before
        elif kind == "user":
            changed = reviewed.apply_user(text)
        elif kind == "lines":
            changed = reviewed.apply_user_lines(first, count, lines)
            text = reviewed.current
        elif kind == "held as":
            changed, text = reviewed.set_fileformat([None, "unix", "dos", "mac"][first % 4]), current
            assert reviewed.base == before
        elif kind == "keep":
            changed, text = None, current
            reviewed.keep(ids[::2])
            assert [hunk.id for hunk in reviewed.hunks] == ids[1::2]
        else:
            changed, text = None, reviewed.rejected(ids[::2])
            reviewed.apply_agent(text)
            assert reviewed.base == before
        if changed is not None and kind != "lines":
            assert changed == (seen != ([hunk.id for hunk in reviewed.hunks], reviewed.shape))
        current = text
        check(reviewed, current)
        now = {hunk.id: lines for hunk, lines in zip(reviewed.hunks, shown(reviewed), strict=True)}
        if kind != "held as" and "\r" not in before + current:
            assert all(now[hunk.id][1:] == lines[1:] for hunk, lines in contents.items() if hunk.id in now)


@given(few_lines, few_lines, fileformats, steps)
def test_a_change_that_is_known_does_what_comparing_does(base: str, current: str, fileformat, given_steps) -> None:
    one, other = ReviewedText(base, current, fileformat), ReviewedText(base, current, fileformat)
    for kind, text, first, count, lines in given_steps:
        if kind == "agent":
            assert one.apply_agent(text) == other.apply_agent(text, difference(other.current, text))
        elif kind == "user":
            assert one.apply_user(text) == other.apply_user(text)
        elif kind == "lines":
            assert one.apply_user_lines(first, count, lines) == other.apply_user_lines(first, count, lines)
        elif kind == "held as":
            for reviewed in (one, other):
                reviewed.set_fileformat([None, "unix", "dos", "mac"][first % 4])
        check(other, one.current)
        assert (one.base, one.shape, one.hunks, shown(one)) == (other.base, other.shape, other.hunks, shown(other))


@given(few_lines, few_lines, st.integers(0, 9), st.integers(0, 4), st.lists(st.sampled_from("ab"), max_size=3))
@example("a\r\n", "", 0, 0, ["a"])
def test_lines_that_the_user_changed_are_the_text_that_the_editor_has(base, current, first, count, lines) -> None:
    reviewed = ReviewedText(base, current, "unix")
    rows = current.removesuffix("\n").split("\n") if current else []
    reviewed.apply_user_lines(first, count, lines)
    rows[first : first + count] = lines
    assert reviewed.current == "".join(row + "\n" for row in rows)


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_a_dos_buffer_has_no_carriage_returns_in_its_lines(base: list[str], lines: list[str]) -> None:
    text = "".join(line + "\r\n" for line in lines)
    for old in ("".join(line + "\r\n" for line in base), "a", "x\r\ny\n"):
        reviewed = ReviewedText(old, text, "dos")
        reviewed.apply_user_lines(1, 1, ["user"])
        wanted = "\r\n".join([*lines[:1], "user", *lines[2:]])
        assert reviewed.current == (wanted if old == "a" and not lines else wanted + "\r\n")


@given(st.lists(st.sampled_from("ab"), max_size=4), st.integers(0, 4), st.integers(0, 4), st.lists(st.just("user")))
@example(["a"], 1, 0, ["user"])
@example(["a", "b"], 1, 1, [])
def test_a_dos_buffer_whose_last_line_has_no_end(lines: list[str], first: int, count: int, new: list[str]) -> None:
    reviewed = ReviewedText("x\r\ny\n", "\r\n".join(lines), "dos")
    reviewed.apply_user_lines(first, count, new)
    lines[first : first + count] = new
    assert reviewed.current.removesuffix("\r\n") == "\r\n".join(lines)
