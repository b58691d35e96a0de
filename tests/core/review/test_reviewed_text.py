"""Texts under review, whatever their lines: what is shown makes one text of the other, and nothing of them is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.review.reviewed_text import ReviewedText

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
    """What holds at each moment."""
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
def test_whatever_happens_both_texts_are_exact(base: str, current: str, fileformat, given_steps) -> None:
    reviewed = ReviewedText(base, current, fileformat)
    assert reviewed.base == base
    check(reviewed, current)
    for kind, text, first, count, lines in given_steps:
        before = reviewed.base
        ids, contents = [hunk.id for hunk in reviewed.hunks], dict(zip(reviewed.hunks, shown(reviewed), strict=True))
        seen = ids, reviewed.shape
        if kind == "agent":
            changed = reviewed.agent(text)
            assert reviewed.base == before
        elif kind == "user":
            changed = reviewed.user(text)
        elif kind == "lines":
            changed = reviewed.user_lines(first, count, lines)
            text = reviewed.current
        elif kind == "held as":
            changed, text = reviewed.held_as([None, "unix", "dos", "mac"][first % 4]), current
            assert reviewed.base == before
        elif kind == "keep":
            changed, text = None, current
            reviewed.keep(ids[::2])
            assert [hunk.id for hunk in reviewed.hunks] == ids[1::2]
        else:
            changed, text = None, reviewed.rejected(ids[::2])
            reviewed.agent(text)
            assert reviewed.base == before
        if changed is not None and kind != "lines":
            assert changed == (seen != ([hunk.id for hunk in reviewed.hunks], reviewed.shape))
        current = text
        check(reviewed, current)
        now = {hunk.id: lines for hunk, lines in zip(reviewed.hunks, shown(reviewed), strict=True)}
        if kind != "held as" and "\r" not in before + current:
            assert all(now[hunk.id][1:] == lines[1:] for hunk, lines in contents.items() if hunk.id in now)


@given(few_lines, few_lines, st.integers(0, 9), st.integers(0, 4), st.lists(st.sampled_from("ab"), max_size=3))
@example("a\r\n", "", 0, 0, ["a"])
def test_lines_that_the_user_changed_are_the_text_that_the_editor_has(base, current, first, count, lines) -> None:
    reviewed = ReviewedText(base, current, "unix")
    rows = current.removesuffix("\n").split("\n") if current else []
    reviewed.user_lines(first, count, lines)
    rows[first : first + count] = lines
    assert reviewed.current == "".join(row + "\n" for row in rows)


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_a_dos_buffer_has_no_carriage_returns_in_its_lines(base: list[str], lines: list[str]) -> None:
    text = "".join(line + "\r\n" for line in lines)
    for old in ("".join(line + "\r\n" for line in base), "a", "x\r\ny\n"):
        reviewed = ReviewedText(old, text, "dos")
        reviewed.user_lines(1, 1, ["user"])
        wanted = "\r\n".join([*lines[:1], "user", *lines[2:]])
        assert reviewed.current == (wanted if old == "a" and not lines else wanted + "\r\n")


@pytest.mark.parametrize(
    ("base", "current", "hunks", "shape"),
    [
        ("", "", [], None),
        ("", "a\nb\n", [(0, [], ["a", "b"])], None),
        ("a\nb\n", "", [(0, ["a", "b"], [])], None),
        ("a\nb\nc\n", "a\nB\nc\n", [(1, ["b"], ["B"])], None),
        ("a\nb\nc\n", "a\nc\n", [(1, ["b"], [])], None),
        ("a\nb\n", "a\nb\nc\n", [(2, [], ["c"])], None),
        # what is in no line
        ("a\nb\n", "a\r\nb\r\n", [], "line ends: LF -> CRLF"),
        ("a\r\nb\r\n", "a\nB\n", [(1, ["b"], ["B"])], "line ends: CRLF -> LF"),
        ("a\n", BOM + "a\n", [], "byte order mark added"),
        (BOM + "a\n", "b\n", [(0, ["a"], ["b"])], "byte order mark removed"),
        ("a\nb\n", "a\nb", [], "no end of the last line"),
        ("a\nb", "a\nb\n", [], "end of the last line added"),
        (BOM + "a\r\nb", "a\nb\n", [], "line ends: CRLF -> LF, byte order mark removed, end of the last line added"),
        # a text too short to have it
        ("", "a\r\nb", [(0, [], ["a", "b"])], None),
        ("a\r\n", "b", [(0, ["a"], ["b"])], "no end of the last line"),
        # mixed kinds: lines have their carriage returns
        ("a\r\nb\r\n", "a\r\nx\nb\r\n", [(1, [], ["x"])], None),
        ("a\r\nb\nc\n", "a\nb\nc\n", [(0, ["a\r"], ["a"])], None),
        ("a\nb\n", "a\r\nb\n", [(0, ["a"], ["a\r"])], None),
        # a carriage return alone ends no line, as Neovim reads files
        ("a\rb\r", "a\rc\r", [(0, ["a\rb\r"], ["a\rc\r"])], None),
    ],
)
def test_hunks_and_shape(base: str, current: str, hunks, shape: str | None) -> None:
    reviewed = ReviewedText(base, current)
    assert (shown(reviewed), reviewed.shape) == (hunks, shape)
    assert (reviewed.added, reviewed.removed) == (
        sum(len(new) for _, _, new in hunks),
        sum(len(old) for _, old, _ in hunks),
    )


def test_a_carriage_return_ends_a_line_of_a_mac_buffer() -> None:
    reviewed = ReviewedText("a\rb\r", "a\rc\r", "mac")
    assert shown(reviewed) == [(1, ["b"], ["c"])]
    assert reviewed.user_lines(0, 1, ["user"]) is False
    assert (reviewed.base, reviewed.current) == ("user\rb\r", "user\rc\r")
    assert reviewed.held_as(None)
    assert shown(reviewed) == [(0, ["user\rb\r"], ["user\rc\r"])]


@given(st.lists(st.sampled_from("ab"), max_size=4), st.integers(0, 4), st.integers(0, 4), st.lists(st.just("user")))
@example(["a"], 1, 0, ["user"])
@example(["a", "b"], 1, 1, [])
def test_a_dos_buffer_whose_last_line_has_no_end(lines: list[str], first: int, count: int, new: list[str]) -> None:
    reviewed = ReviewedText("x\r\ny\n", "\r\n".join(lines), "dos")
    reviewed.user_lines(first, count, new)
    lines[first : first + count] = new
    assert reviewed.current.removesuffix("\r\n") == "\r\n".join(lines)


def test_a_buffer_that_shows_the_carriage_returns_has_them_in_its_lines() -> None:
    reviewed = ReviewedText("a\r\nb\r\n", "a\r\nc\r\n", "unix")
    assert shown(reviewed) == [(1, ["b\r"], ["c\r"])]
    reviewed.user_lines(0, 1, ["user\r"])
    assert (reviewed.base, reviewed.current) == ("user\r\nb\r\n", "user\r\nc\r\n")
    assert reviewed.held_as("dos")
    assert shown(reviewed) == [(1, ["b"], ["c"])]
    assert not reviewed.held_as("dos")


@pytest.mark.parametrize(
    ("base", "current", "user", "new_base", "shape"),
    [
        # what the user changes beside lines is accepted too
        ("a\nb\n", "a\nB\n", "a\r\nB\r\n", "a\r\nb\r\n", None),
        ("a\nb\n", "a\r\nB\r\n", BOM + "a\r\nB\r\n", BOM + "a\nb\n", "line ends: LF -> CRLF"),
        ("a\nb\n", "a\nB\n", "a\nB", "a\nb", None),
        ("a\nb\n", "a\r\nB\r\n", "a\nB\n", "a\nb\n", None),
        ("a\nb", "a\nb\n", "a\nb", "a\nb", None),
        ("a\r\nb\r\n", "a\r\nB\r\n", "a\r\nB\r\nuser\n", "a\r\nb\r\nuser\n", None),
    ],
)
def test_the_users_changes_of_the_shape_are_carried(base, current, user, new_base, shape) -> None:
    reviewed = ReviewedText(base, current)
    reviewed.user(user)
    assert (reviewed.base, reviewed.current, reviewed.shape) == (new_base, user, shape)


@pytest.mark.parametrize(
    ("base", "current"), [("a\nb\n", "a\nb\nc"), ("a\nb", "a\nc\n"), ("a\nb\nc", "a\nb\n"), ("a\n", ""), ("", "a")]
)
def test_with_the_last_lines_goes_how_they_end(base: str, current: str) -> None:
    reviewed = ReviewedText(base, current)
    assert len(reviewed.hunks) == 1
    ids = [reviewed.hunks[0].id]
    assert reviewed.rejected(ids) == base
    reviewed.keep(ids)
    assert (reviewed.base, reviewed.current, list(reviewed.hunks)) == (current, current, [])


@pytest.mark.parametrize(
    ("current", "first", "count", "lines", "hunks", "base"),
    [
        # base 1 2 3 4 5
        ("1\nX\nY\nZ\n5\n", 2, 1, ["user"], [(1, ["2", "3"], ["X"]), (3, ["4"], ["Z"])], "1\n2\n3\nuser\n4\n5\n"),
        ("1\nX\nY\nZ\n5\n", 2, 0, ["user"], [(1, ["2"], ["X"]), (3, ["3", "4"], ["Y", "Z"])], "1\n2\nuser\n3\n4\n5\n"),
        ("1\nX\n5\n", 2, 0, ["user"], [(1, ["2", "3", "4"], ["X"])], "1\n2\n3\n4\nuser\n5\n"),
        ("1\nX\n5\n", 1, 0, ["user"], [(2, ["2", "3", "4"], ["X"])], "1\nuser\n2\n3\n4\n5\n"),
        ("1\nX\n5\n", 1, 1, ["user"], [(1, ["2", "3", "4"], [])], "1\n2\n3\n4\nuser\n5\n"),
        ("1\n5\n", 1, 0, ["user"], [(1, ["2", "3", "4"], [])], "1\n2\n3\n4\nuser\n5\n"),
        # typed again what was deleted
        ("1\n5\n", 1, 0, ["3"], [(1, ["2"], []), (2, ["4"], [])], "1\n2\n3\n4\n5\n"),
        ("1\n5\n", 1, 0, ["2", "user", "4"], [(2, ["3"], [])], "1\n2\n3\nuser\n4\n5\n"),
        ("1\nX\n5\n", 1, 1, ["2", "3", "4"], [], "1\n2\n3\n4\n5\n"),
        # the lines between two hunks
        ("1\nX\n3\nY\n5\n", 2, 1, [], [(1, ["2", "4"], ["X", "Y"])], "1\n2\n4\n5\n"),
        ("1\nX\n3\nY\n5\n", 2, 1, ["user"], [(1, ["2"], ["X"]), (3, ["4"], ["Y"])], "1\n2\nuser\n4\n5\n"),
        ("1\nX\n3\nY\n5\n", 0, 5, ["user"], [(0, ["2", "4"], [])], "2\n4\nuser\n"),
    ],
)
def test_what_the_user_types_in_a_hunk(current: str, first: int, count: int, lines, hunks, base: str) -> None:
    reviewed = ReviewedText("1\n2\n3\n4\n5\n", current)
    reviewed.user_lines(first, count, lines)
    assert (shown(reviewed), reviewed.base) == (hunks, base)


def test_a_line_that_one_hunk_lost_and_another_one_got_is_none_when_they_meet() -> None:
    reviewed = ReviewedText("moved\n1\n2\n", "1\n2\nmoved\n")
    assert len(reviewed.hunks) == 2
    assert reviewed.user_lines(0, 2, [])
    assert (shown(reviewed), reviewed.base) == ([], "moved\n")


def test_a_hunk_beside_the_first_of_two_changes_is_looked_at() -> None:
    reviewed = ReviewedText("1\n2\n3\n4\n5\n6\n7\n", "1\nX\n4\n5\n6\n7\n")
    reviewed.user_lines(2, 3, ["3", "5", "user"])
    assert (shown(reviewed), reviewed.base) == ([(1, ["2"], ["X"])], "1\n2\n3\n5\nuser\n7\n")


def test_newlines_in_lines_end_lines() -> None:
    reviewed = ReviewedText("1\n2\n", "1\nX\n")
    reviewed.user_lines(0, 1, ["a\nb"])
    assert shown(reviewed) == [(2, ["2"], ["X"])]


def test_an_empty_last_line_that_has_no_end_is_lost_in_the_buffer_but_not_to_be_accepted() -> None:
    reviewed = ReviewedText("a", "a\nb")
    reviewed.user_lines(2, 0, [""])
    assert (reviewed.base, reviewed.current) == ("a\n\n", "a\nb\n")
    assert reviewed.rejected([hunk.id for hunk in reviewed.hunks]) == "a\n"


def test_a_new_file_whose_line_ends_the_agent_changes_has_the_same_hunk() -> None:
    reviewed = ReviewedText("", "a\nb\n")
    before = reviewed.hunks[0].id
    reviewed.agent("a\r\nb\r\n")
    assert (shown(reviewed), reviewed.hunks[0].id, reviewed.shape) == ([(0, [], ["a", "b"])], before, None)


def test_the_nearest_of_the_same_removed_lines_is_there_again() -> None:
    reviewed = ReviewedText("1\n\n2\n\n3\n\n4\n", "a\nb\nc\nd\ne\n")
    reviewed.user_lines(3, 0, [""])
    assert shown(reviewed) == [(0, ["1", "", "2"], ["a", "b", "c"]), (4, ["3", "", "4"], ["d", "e"])]


def test_ids_last_while_the_agent_changes_other_lines() -> None:
    base = "".join(f"{number}\n" for number in range(50))
    one = base.replace("10\n", "ten\n").replace("30\n", "thirty\n")
    reviewed = ReviewedText(base, one)
    first, last = (hunk.id for hunk in reviewed.hunks)
    assert reviewed.agent(one.replace("20\n", "twenty\n"))
    assert [hunk.id for hunk in reviewed.hunks][::2] == [first, last]
    assert reviewed.agent(one.replace("20\n", "twenty\n").replace("thirty", "other"))
    assert reviewed.hunks[0].id == first
    assert last not in [hunk.id for hunk in reviewed.hunks]
    assert not reviewed.agent(reviewed.current)


def test_ids_stay_in_order() -> None:
    reviewed = ReviewedText("1\n2\n", "x\n1\ny\n2\n")
    first, last = (hunk.id for hunk in reviewed.hunks)
    reviewed.agent("y\n1\nx\n2\n")
    assert reviewed.hunks[0].id == last
    assert reviewed.hunks[1].id not in (first, last)


def test_typing_far_from_hunks_moves_them_and_is_no_news() -> None:
    reviewed = ReviewedText("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nX\n")
    before = reviewed.hunks[0]
    assert reviewed.user_lines(0, 1, ["a", "b", "c"]) is False
    assert reviewed.hunks[0].id == before.id
    assert reviewed.hunks[0].block.j1 == before.block.j1 + 2
    assert reviewed.user_lines(6, 1, ["X", "user"]) is False
    assert reviewed.user_lines(6, 1, ["user"]) is True


def test_rows_that_are_not_there_are_not_replaced() -> None:
    reviewed = ReviewedText("", "")
    reviewed.user_lines(0, 1, ["a"])  # the one empty line that Neovim shows
    assert reviewed.current == "a\n"
    reviewed.user_lines(9, 9, ["b"])
    assert (reviewed.base, reviewed.current) == ("a\nb\n", "a\nb\n")


def test_ids_of_other_hunks_are_passed_over() -> None:
    reviewed = ReviewedText("a\n", "b\n")
    assert reviewed.rejected([99]) == "b\n"
    reviewed.keep([99])
    assert reviewed.base == "a\n"


def test_it_shows_what_it_is() -> None:
    assert repr(ReviewedText("a\n", "b\nc\n")) == "<ReviewedText 2 lines, 1 hunks>"
