"""What an agent knows after it read a part of a file: that part, and of the rest what it knew before."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.workspace.merge import Merge, merge
from acp_nvim.workspace.read_text_file import cut, shown

texts = st.lists(st.sampled_from("abcdefg"), max_size=12).map(lambda lines: "".join(line + "\n" for line in lines))
any_texts = st.text(alphabet="ab\n\r\ufeff", max_size=12)
lines_of_texts = st.none() | st.integers(-1, 14)
limits = st.none() | st.integers(0, 14)


@st.composite
def two_texts(draw) -> tuple[list[str], list[str], list[str], int, int]:
    """What was known; the text; what is known afterwards; the first and last line shown, each beside a kept one."""
    known, text, after, edges = [], [], [], [0]
    runs = draw(st.integers(1, 6))
    first, last = sorted(draw(st.tuples(st.integers(0, runs), st.integers(0, runs))))
    for number in range(runs + 1):
        old = [f"old {number}.{at}\n" for at in range(draw(st.integers(0, 3)))]
        new = [f"new {number}.{at}\n" for at in range(draw(st.integers(0, 3)))]
        kept = [f"kept {number}.{at}\n" for at in range(draw(st.sampled_from([2, 2, 40])))]
        edges.append(len(text) + len(new) + 1)
        known += old + kept
        text += new + kept
        after += (new if first <= number < last or number == first == last else old) + kept
    return known, text, after, edges[first] + 1, edges[max(last, first + 1)]


@given(two_texts())
def test_blocks_in_sight_are_known_and_others_are_not(given_texts) -> None:
    known, text, after, first, last = given_texts
    assert shown("".join(known), "".join(text), first, last - first + 1).splitlines() == "".join(after).splitlines()


@given(any_texts, any_texts)
def test_all_is_known_when_all_is_shown(known: str, text: str) -> None:
    for line in (None, 0, 1):
        assert shown(known, text, line, None) == text
    assert shown(known, text, 1, max(len(text), 1)) == text


@given(any_texts, any_texts, st.integers(0, 14))
def test_nothing_new_is_known_when_nothing_is_shown(known: str, text: str, line: int) -> None:
    for limit in (0, -1):
        assert shown(known, text, line, limit) == known
    assert shown(known, text, len(text) + 2, None) == known


@given(texts, texts, lines_of_texts, limits)
@example("a\nb\nc\n", "a\nx\ny\nz\nc\n", 3, 1)
def test_what_was_shown_is_known_in_one_piece(known: str, text: str, line: int | None, limit: int | None) -> None:
    part = cut(text, line, limit)
    after = shown(known, text, line, limit)
    assert ("\n" + part) in ("\n" + after)
    rest = Counter(after.splitlines()) - Counter(part.splitlines())
    assert rest <= Counter(known.splitlines())  # nothing else of the text


@given(texts, texts, st.integers(1, 14), st.integers(0, 1))
def test_a_known_line_is_missing_only_in_place_of_a_shown_one(known: str, text: str, line: int, limit: int) -> None:
    known, text = (f"first\n{lines}last\n" for lines in (known, text))  # removed lines are seen beside the edges
    missing = Counter(known.splitlines()) - Counter(shown(known, text, line, limit).splitlines())
    assert missing.total() <= len(cut(text, line, limit).splitlines())


@given(any_texts, any_texts, lines_of_texts, limits)
def test_any_text_goes(known: str, text: str, line: int | None, limit: int | None) -> None:
    assert shown(text, text, line, limit) == text
    after = shown(known, text, line, limit)
    assert set(after) <= {*known, *text}


OLD = "1\n2\n3\n4\n5\n6\n"


@pytest.mark.parametrize(
    ("text", "line", "limit", "after"),
    [
        ("1\nx\n3\n4\ny\n6\n", 1, 3, "1\nx\n3\n4\n5\n6\n"),
        ("1\nx\n3\n4\ny\n6\n", 4, None, "1\n2\n3\n4\ny\n6\n"),
        # removed lines: seen between two shown ones, at the beginning, at the end
        ("1\n2\n5\n6\n", 2, 2, "1\n2\n5\n6\n"),
        ("1\n2\n5\n6\n", 1, 2, OLD),
        ("1\n2\n5\n6\n", 3, None, OLD),
        ("3\n4\n5\n6\n", 1, 1, "3\n4\n5\n6\n"),
        ("3\n4\n5\n6\n", 2, 1, OLD),
        ("1\n2\n3\n4\n", 4, None, "1\n2\n3\n4\n"),
        ("1\n2\n3\n4\n", 1, 3, OLD),
        # inserted lines, of which a part is shown
        ("1\nx\ny\nz\n2\n3\n4\n5\n6\n", 3, 1, "1\ny\n2\n3\n4\n5\n6\n"),
        ("1\nx\ny\nz\n2\n3\n4\n5\n6\n", 1, 2, "1\nx\n2\n3\n4\n5\n6\n"),
        # changed lines, of which a part is shown
        ("1\nx\ny\nz\n5\n6\n", 1, 2, "1\nx\n3\n4\n5\n6\n"),
        ("1\nx\ny\nz\n5\n6\n", 3, 1, "1\n2\ny\n4\n5\n6\n"),
        ("1\nx\ny\nz\n5\n6\n", 4, None, "1\n2\n3\nz\n5\n6\n"),
        ("1\nx\n5\n6\n", 2, 1, "1\nx\n3\n4\n5\n6\n"),
        ("1\nx\n5\n6\n", 1, 3, "1\nx\n5\n6\n"),
        ("1\nx\ny\nz\n3\n4\n5\n6\n", 3, 3, "1\ny\nz\n3\n4\n5\n6\n"),
        ("1\nx\ny\nz\n3\n4\n5\n6\n", 1, 3, "1\nx\ny\n3\n4\n5\n6\n"),
        # all changed
        ("a\nb\nc\nd\ne\nf\n", 3, 2, "1\n2\nc\nd\n5\n6\n"),
    ],
)
def test_blocks_at_the_edge_of_what_is_shown(text: str, line: int, limit: int | None, after: str) -> None:
    assert shown(OLD, text, line, limit) == after


@pytest.mark.parametrize(
    ("known", "text", "line", "limit", "after"),
    [
        # who sees lines of another kind knows that all are; what else changed is unknown
        ("1\r\n2\r\n3\r\n", "1\n2\nx\n", 1, 1, "1\n2\n3\n"),
        ("1\n2\n3", "1\r2\rx\r", 1, 2, "1\r2\r3"),
        ("1\r2\r3\r", "1\r2\rx\r", 3, 1, "1\r2\rx\r"),
        ("1\r\n2\n3\r\n", "1\n2\nx\n", 1, 1, "1\n2\n3\r\n"),
        # the last line has no end
        ("1\n2", "1\n2\n3\n", 1, 1, "1\n2"),
        ("1\n2", "1\n2\n3\n", 3, 1, "1\n3\n"),
        ("1\n2", "1\nx\ny\nz\n", 3, 1, "1\n2\ny\n"),
        ("1\r2", "1\rx\ry\rz\r", 3, 1, "1\r2\ry\r"),
        ("1\n2\n3\n", "1\n2\n3", 3, 1, "1\n2\n3"),
        ("1\n2\n3\n", "1\n2\n3", 1, 2, "1\n2\n3\n"),
        # the byte order mark belongs to the first line
        ("1\n2\n", "\ufeff1\n2\n", 1, 1, "\ufeff1\n2\n"),
        ("1\n2\n", "\ufeff1\n2\n", 2, 1, "1\n2\n"),
        ("", "1\n2\n3\n", 2, 1, "2\n"),
    ],
)
def test_line_ends_and_marks(known: str, text: str, line: int, limit: int, after: str) -> None:
    assert shown(known, text, line, limit) == after


@pytest.mark.anyio
async def test_a_write_of_the_whole_file_does_not_overrule_what_was_not_shown() -> None:
    text = OLD.replace("2", "user").replace("6", "user too")
    known = shown(OLD, text, 1, 3)
    write = known.replace("user", "agent").replace("4\n", "4\nmore\n")
    assert await merge(known, text, write) == Merge(text.replace("user\n", "agent\n", 1).replace("4\n", "4\nmore\n"))


def test_of_long_texts_without_a_common_line_as_many_lines_change_places_as_are_shown() -> None:
    old, new = ([f"{name} {number}\n" for number in range(1000)] for name in ("old", "new"))
    after = shown("".join(old), "".join(new), 101, 50)
    assert after == "".join(old[:100] + new[100:150] + old[150:])
