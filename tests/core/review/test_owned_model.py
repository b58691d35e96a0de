"""Texts whose lines differ from each other, edited by an agent and a user, are exactly what the plain rule says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.hunks.reviewed_text import ReviewedText
from tests.core.review.owned_model import OwnedModel

numbers = st.integers(0, 30)
steps = st.lists(
    st.tuples(
        st.sampled_from(["agent", "agent", "agent whole", "user", "user", "user whole", "again", "keep", "reject"]),
        numbers,
        st.integers(0, 4),
        st.integers(0, 3),
    ),
    max_size=15,
)


def text_of(lines: list[str]) -> str:
    """Return the text of these lines."""
    return "".join(line + "\n" for line in lines)


def edit(model: OwnedModel, reviewed: ReviewedText, step: tuple[str, int, int, int], fresh: Iterator[str]) -> None:
    """Make one edit in the model and in the reviewed text."""
    kind, place, size, more = step
    first = place % (len(model.current) + 1)
    gone = len(model.current[first : first + size])
    lines = [next(fresh) for _ in range(more)]
    if kind == "again":
        removed = [line for old, _ in model.hunks for line in old]
        if not removed:
            return
        lines = [*lines[:1], removed[place % len(removed)]]
        hunk = next(old for old, _ in model.hunks if lines[-1] in old)
        first, gone = start_of(model, hunk), 0
    now = [*model.current[:first], *lines, *model.current[first + gone :]]
    if kind.startswith("agent"):
        model.agent(first, gone, lines)
        reviewed.apply_agent(text_of(now))
    elif kind == "user whole":
        model.user(first, gone, lines)
        reviewed.apply_user(text_of(now))
    else:
        model.user(first, gone, lines)
        reviewed.apply_user_lines(first, gone, lines)


def start_of(model: OwnedModel, removed: list[str]) -> int:
    """The current line at which the hunk with these removed lines begins."""
    at = 0
    for item in model.items:
        if not isinstance(item, str) and item[0] == removed:
            return at
        at += 1 if isinstance(item, str) else len(item[1])
    raise AssertionError


def decide(model: OwnedModel, reviewed: ReviewedText, kind: str, chosen: int) -> None:
    """Keep or reject those hunks whose bits are set in `chosen`."""
    which = [number for number in range(len(model.hunks)) if chosen >> number % 5 & 1]
    ids = [reviewed.hunks[number].id for number in which]
    if kind == "keep":
        model.keep(which)
        reviewed.keep(ids)
        return
    model.reject(which)
    text = reviewed.rejected(ids)
    assert text == text_of(model.current)
    reviewed.apply_agent(text)


def contents(reviewed: ReviewedText) -> dict[int, tuple[list[str], list[str]]]:
    """The old and the new lines of each hunk."""
    return {hunk.id: (reviewed.old_lines(hunk), reviewed.new_lines(hunk)) for hunk in reviewed.hunks}


@given(st.integers(0, 12), steps)
@example(1, [("agent", 1, 0, 1), ("user", 0, 1, 0)])
@example(1, [("agent", 1, 0, 1), ("agent", 0, 0, 1), ("user", 0, 2, 0)])
@example(6, [("agent", 4, 2, 0), ("agent", 0, 3, 1), ("again", 17, 0, 0), ("user", 1, 2, 0)])
@example(7, [("agent", 4, 2, 0), ("agent", 0, 3, 1), ("again", 17, 0, 0), ("user", 1, 3, 1)])
def test_every_line_is_whose_the_rule_says(size: int, given_steps) -> None:
    fresh = map("line {}".format, count())
    lines = [next(fresh) for _ in range(size)]
    model, reviewed = OwnedModel(lines), ReviewedText(text_of(lines), text_of(lines))
    for step in given_steps:
        before = contents(reviewed)
        if step[0] in ("keep", "reject"):
            decide(model, reviewed, step[0], step[1])
        else:
            edit(model, reviewed, step, fresh)
        assert (reviewed.base, reviewed.current) == (text_of(model.base), text_of(model.current))
        after = contents(reviewed)
        assert list(after.values()) == model.hunks
        ids = {str(lines): number for number, lines in before.items()}
        assert all(ids.get(str(lines), number) == number for number, lines in after.items())
        assert (reviewed.added, reviewed.removed) == (
            sum(len(new) for _, new in model.hunks),
            sum(len(old) for old, _ in model.hunks),
        )


@given(st.integers(0, 12), steps, st.permutations(range(30)), st.integers(0, 2**30))
def test_kept_and_rejected_in_any_order_it_is_what_a_plain_merge_gives(size, given_steps, order, kept) -> None:
    fresh = map("line {}".format, count())
    lines = [next(fresh) for _ in range(size)]
    model, reviewed = OwnedModel(lines), ReviewedText(text_of(lines), text_of(lines))
    for step in given_steps:
        if step[0] not in ("keep", "reject"):
            edit(model, reviewed, step, fresh)
    hunks = list(reviewed.hunks)
    wanted = OwnedModel([])
    wanted.items = list(model.items)
    keep = [number for number in range(len(hunks)) if kept >> number & 1]
    wanted.keep(keep)
    wanted.reject(range(len(wanted.hunks)))
    for number in [number for number in order if number < len(hunks)]:
        if number in keep:
            reviewed.keep([hunks[number].id])
        else:
            reviewed.apply_agent(reviewed.rejected([hunks[number].id]))
    assert (reviewed.base, reviewed.current) == (text_of(wanted.current), text_of(wanted.current))
    assert (list(reviewed.hunks), reviewed.shape) == ([], None)
