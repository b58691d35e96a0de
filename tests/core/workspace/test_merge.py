"""Merges of lines: both sides' changes, all of the user's, or none."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.workspace.merge import CONFLICT, Merge, merge

pytestmark = pytest.mark.anyio


@st.composite
def apart(draw) -> tuple[str, str, str, str]:
    """A text, the same with edits of each side, and with all of them; two lines at least between two edits."""
    base, ours, theirs, both = [], [], [], []
    for number in range(draw(st.integers(1, 6))):
        kept = [f"line {number}.{at}\n" for at in range(draw(st.integers(2, 4)))]
        old = [f"old {number}.{at}\n" for at in range(draw(st.integers(0, 2)))]
        who = draw(st.sampled_from(["user", "agent"]))
        new = [f"{who} {number}.{at}\n" for at in range(draw(st.integers(0, 3)))]
        base += kept + old
        both += kept + new
        ours += kept + (new if who == "user" else old)
        theirs += kept + (new if who == "agent" else old)
    end = ["the end\n"] * draw(st.integers(0, 1))
    return "".join(base + end), "".join(ours + end), "".join(theirs + end), "".join(both + end)


@st.composite
def edited(draw, base: list[str], mark: str) -> list[str]:
    """`base` with a few lines replaced, inserted and removed; `mark` may stand in new ones."""
    lines = list(base)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 2))] = draw(
            st.lists(st.sampled_from(["a", "b", mark, mark + "2"]), max_size=2)
        )
    return lines


@st.composite
def any_edits(draw) -> tuple[list[str], list[str], list[str]]:
    """A text of few different lines, and two others made of it."""
    base = draw(st.lists(st.sampled_from("abcdef"), min_size=4, max_size=20))
    return base, draw(edited(base, "user")), draw(edited(base, "agent"))


def joined(lines: list[str]) -> str:
    """Return the text of these lines."""
    return "".join(line + "\n" for line in lines)


@given(apart())
async def test_edits_that_lie_apart_are_all_in_it_and_nothing_else(texts: tuple[str, str, str, str]) -> None:
    base, ours, theirs, both = texts
    assert await merge(base, ours, theirs) == Merge(both)


@given(apart())
async def test_a_side_that_has_it_all_already_changes_nothing(texts: tuple[str, str, str, str]) -> None:
    base, ours, theirs, both = texts
    assert await merge(base, both, theirs) == Merge(both)
    assert await merge(base, ours, both) == Merge(both)


@given(any_edits())
async def test_new_lines_of_one_side_are_in_it_as_often_as_there_or_it_is_a_conflict(texts) -> None:
    base, ours, theirs = texts
    merged = await merge(*map(joined, texts))
    if merged.text is None:
        assert merged.why == CONFLICT
        return
    count, lines = Counter(merged.text.splitlines()), {*base, *ours, *theirs}
    assert set(count) <= lines
    for side, other in ((ours, theirs), (theirs, ours)):
        for line in lines - {*base, *other}:
            assert count[line] == side.count(line)


@given(any_edits())
async def test_it_does_not_matter_who_is_who(texts) -> None:
    base, ours, theirs = map(joined, texts)
    assert await merge(base, ours, theirs) == await merge(base, theirs, ours)


@given(any_edits())
async def test_who_changed_nothing_gets_the_others_text(texts) -> None:
    base, ours, theirs = map(joined, texts)
    assert await merge(base, base, theirs) == Merge(theirs)
    assert await merge(base, ours, base) == Merge(ours)
    assert await merge(base, ours, ours) == Merge(ours)


BASE = "".join(f"{number}\n" for number in range(1, 10))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("2\n=user\n", "2\n=agent\n"),  # both replace a line
        ("2\n=", "2\n=agent\n"),  # one removes what the other changes
        ("2\n=2\nuser\n", "2\n=2\nagent\n"),  # both insert at one place
        ("2\n=user\n", "3\n=agent\n"),  # lines next to each other
        ("9\n=9\nuser\n", "9\n=9\nagent\n"),  # at the end
        ("1\n=user\n1\n", "1\n=agent\n1\n"),  # at the beginning
    ],
)
async def test_changes_of_the_same_lines_are_a_conflict_in_words(ours: str, theirs: str) -> None:
    texts = [BASE.replace(*change.split("=")) for change in (ours, theirs)]
    assert len({BASE, *texts}) == 3
    assert await merge(BASE, *texts) == Merge(None, CONFLICT)


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [("", "a\n", "b\n"), ("a", "b", "c"), ("a", "", "b"), ("a\n", "a\nb", "a\nc"), ("a\r\n", "b\r\n", "c\r\n")],
)
async def test_short_texts_conflict_too(base: str, ours: str, theirs: str) -> None:
    assert await merge(base, ours, theirs) == Merge(None, CONFLICT)


async def test_many_conflicts_are_a_conflict() -> None:
    numbers = range(2000)
    texts = ["".join(f"{number}\n{who if number % 2 else ''}\n\n" for number in numbers) for who in ("x", "y", "z")]
    assert await merge(*texts) == Merge(None, CONFLICT)


@pytest.mark.parametrize(
    "line",
    [
        "<<<<<<< ours",
        "=======",
        ">>>>>>> theirs",
        "ä☃\U0001f600",
        "\udc80\ud800",
        "\0",
        "\u2028\x0b\x0c\x85",
        "a\rb",
        "tab\t \x1b[31m",
        "1",
        "-1",
        "x" * 100_000,
    ],
    ids=lambda line: ascii(line)[:20],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_any_character_may_be_in_a_line(line: str, end: str) -> None:
    line = line.replace("\r", "") if end == "\r" else line  # there `\r` ends a line
    base = end.join([line, "2", "3", "4", "5", line, ""])
    ours, theirs = base.replace("2", line + "user"), base.replace("5", line + "agent")
    both = end.join([line, line + "user", "3", "4", line + "agent", line, ""])
    assert await merge(base, ours, theirs) == Merge(both)


async def test_twenty_thousand_lines_with_four_hundred_changes() -> None:
    chance = random.Random(4)
    base = [f"{chance.randrange(3000)}\n" for _ in range(20_000)]
    ours, theirs, both = list(base), list(base), list(base)
    for number in range(400):
        side = (ours, theirs)[number % 2]
        side[number * 50] = both[number * 50] = f"new {number}\n"
    assert await merge(*map("".join, (base, ours, theirs))) == Merge("".join(both))
