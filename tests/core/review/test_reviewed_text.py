"""Texts under review: what is a hunk, what is shape, and whose is what the user types there."""

from __future__ import annotations

import pytest

from acp_nvim.hunks.reviewed_text import ReviewedText

BOM = "\ufeff"


def shown(reviewed: ReviewedText) -> list[tuple[int, list[str], list[str]]]:
    """The first row, the old and the new lines of each hunk."""
    return [(hunk.block.j1, reviewed.old_lines(hunk), reviewed.new_lines(hunk)) for hunk in reviewed.hunks]


@pytest.mark.parametrize(
    ("base", "current", "hunks", "shape"),
    [
        ("", "", [], None),
        ("", "a\nb\n", [(0, [], ["a", "b"])], None),
        ("a\nb\n", "", [(0, ["a", "b"], [])], None),
        ("a\nb\nc\n", "a\nB\nc\n", [(1, ["b"], ["B"])], None),
        ("a\nb\nc\n", "a\nc\n", [(1, ["b"], [])], None),
        ("a\nb\n", "a\nb\nc\n", [(2, [], ["c"])], None),
        # changes that are in no line
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
    assert reviewed.apply_user_lines(0, 1, ["user"]) is False
    assert (reviewed.base, reviewed.current) == ("user\rb\r", "user\rc\r")
    assert reviewed.set_fileformat(None)
    assert shown(reviewed) == [(0, ["user\rb\r"], ["user\rc\r"])]


def test_a_buffer_that_shows_the_carriage_returns_has_them_in_its_lines() -> None:
    reviewed = ReviewedText("a\r\nb\r\n", "a\r\nc\r\n", "unix")
    assert shown(reviewed) == [(1, ["b\r"], ["c\r"])]
    reviewed.apply_user_lines(0, 1, ["user\r"])
    assert (reviewed.base, reviewed.current) == ("user\r\nb\r\n", "user\r\nc\r\n")
    assert reviewed.set_fileformat("dos")
    assert shown(reviewed) == [(1, ["b"], ["c"])]
    assert not reviewed.set_fileformat("dos")


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
    reviewed.apply_user(user)
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
    reviewed.apply_user_lines(first, count, lines)
    assert (shown(reviewed), reviewed.base) == (hunks, base)


def test_a_line_that_one_hunk_lost_and_another_one_got_is_none_when_they_meet() -> None:
    reviewed = ReviewedText("moved\n1\n2\n", "1\n2\nmoved\n")
    assert len(reviewed.hunks) == 2
    assert reviewed.apply_user_lines(0, 2, [])
    assert (shown(reviewed), reviewed.base) == ([], "moved\n")


def test_a_hunk_beside_the_first_of_two_changes_is_looked_at() -> None:
    reviewed = ReviewedText("1\n2\n3\n4\n5\n6\n7\n", "1\nX\n4\n5\n6\n7\n")
    reviewed.apply_user_lines(2, 3, ["3", "5", "user"])
    assert (shown(reviewed), reviewed.base) == ([(1, ["2"], ["X"])], "1\n2\n3\n5\nuser\n7\n")


def test_newlines_in_lines_end_lines() -> None:
    reviewed = ReviewedText("1\n2\n", "1\nX\n")
    reviewed.apply_user_lines(0, 1, ["a\nb"])
    assert shown(reviewed) == [(2, ["2"], ["X"])]


def test_an_empty_last_line_that_has_no_end_is_lost_in_the_buffer_but_not_to_be_accepted() -> None:
    reviewed = ReviewedText("a", "a\nb")
    reviewed.apply_user_lines(2, 0, [""])
    assert (reviewed.base, reviewed.current) == ("a\n\n", "a\nb\n")
    assert reviewed.rejected([hunk.id for hunk in reviewed.hunks]) == "a\n"


def test_a_new_file_whose_line_ends_the_agent_changes_has_the_same_hunk() -> None:
    reviewed = ReviewedText("", "a\nb\n")
    before = reviewed.hunks[0].id
    reviewed.apply_agent("a\r\nb\r\n")
    assert (shown(reviewed), reviewed.hunks[0].id, reviewed.shape) == ([(0, [], ["a", "b"])], before, None)


def test_the_nearest_of_the_same_removed_lines_is_there_again() -> None:
    reviewed = ReviewedText("1\n\n2\n\n3\n\n4\n", "a\nb\nc\nd\ne\n")
    reviewed.apply_user_lines(3, 0, [""])
    assert shown(reviewed) == [(0, ["1", "", "2"], ["a", "b", "c"]), (4, ["3", "", "4"], ["d", "e"])]


def test_ids_last_while_the_agent_changes_other_lines() -> None:
    base = "".join(f"{number}\n" for number in range(50))
    one = base.replace("10\n", "ten\n").replace("30\n", "thirty\n")
    reviewed = ReviewedText(base, one)
    first, last = (hunk.id for hunk in reviewed.hunks)
    assert reviewed.apply_agent(one.replace("20\n", "twenty\n"))
    assert [hunk.id for hunk in reviewed.hunks][::2] == [first, last]
    assert reviewed.apply_agent(one.replace("20\n", "twenty\n").replace("thirty", "other"))
    assert reviewed.hunks[0].id == first
    assert last not in [hunk.id for hunk in reviewed.hunks]
    assert not reviewed.apply_agent(reviewed.current)


def test_ids_stay_in_order() -> None:
    reviewed = ReviewedText("1\n2\n", "x\n1\ny\n2\n")
    first, last = (hunk.id for hunk in reviewed.hunks)
    reviewed.apply_agent("y\n1\nx\n2\n")
    assert reviewed.hunks[0].id == last
    assert reviewed.hunks[1].id not in (first, last)


def test_typing_far_from_hunks_moves_them_and_is_no_news() -> None:
    reviewed = ReviewedText("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nX\n")
    before = reviewed.hunks[0]
    assert reviewed.apply_user_lines(0, 1, ["a", "b", "c"]) is False
    assert reviewed.hunks[0].id == before.id
    assert reviewed.hunks[0].block.j1 == before.block.j1 + 2
    assert reviewed.apply_user_lines(6, 1, ["X", "user"]) is False
    assert reviewed.apply_user_lines(6, 1, ["user"]) is True


def test_rows_that_are_not_there_are_not_replaced() -> None:
    reviewed = ReviewedText("", "")
    reviewed.apply_user_lines(0, 1, ["a"])  # the one empty line that Neovim shows
    assert reviewed.current == "a\n"
    reviewed.apply_user_lines(9, 9, ["b"])
    assert (reviewed.base, reviewed.current) == ("a\nb\n", "a\nb\n")


def test_ids_of_other_hunks_are_passed_over() -> None:
    reviewed = ReviewedText("a\n", "b\n")
    assert reviewed.rejected([99]) == "b\n"
    reviewed.keep([99])
    assert reviewed.base == "a\n"


def test_repr_counts_lines_and_hunks() -> None:
    assert repr(ReviewedText("a\n", "b\nc\n")) == "<ReviewedText 2 lines, 1 hunks>"
