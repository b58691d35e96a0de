"""The tokens of a turn, whether the agent reports those of the turn or those of the session so far."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.answers import TurnTokens
from acp_nvim.transcript.metadata import TURNS_WITHOUT_FALL, TurnCounts

turns = st.lists(
    st.builds(lambda a, b: TurnTokens(a + b, a, b, cached_read=a), st.integers(1, 9000), st.integers(1, 900)),
    min_size=1,
    max_size=12,
)


def sums(said: list[TurnTokens]) -> list[TurnTokens]:
    """What an agent reports that counts from the beginning of the session."""
    return list(
        accumulate(
            said,
            lambda a, b: TurnTokens(
                a.total + b.total, a.input + b.input, a.output + b.output, cached_read=a.input + b.input
            ),
        )
    )


def counts(is_known: bool, is_fresh: bool = True) -> TurnCounts:
    """Return the counts of a process that has just begun."""
    found = TurnCounts()
    found.begin(is_known, is_fresh)
    return found


@given(turns)
def test_sums_of_a_known_agent_are_subtracted_from_the_first_turn_on(said: list[TurnTokens]) -> None:
    known = counts(is_known=True)
    assert [known.of_turn(one) for one in sums(said)] == said
    again = counts(is_known=True, is_fresh=False)  # it has counted before
    assert [again.of_turn(one) for one in sums(said)] == [None, *said[1:]]


@given(turns)
def test_sums_of_any_agent_are_found_out(said: list[TurnTokens]) -> None:
    unknown = counts(is_known=False)
    assert [unknown.of_turn(one) for one in sums(said)][TURNS_WITHOUT_FALL - 1 :] == said[TURNS_WITHOUT_FALL - 1 :]


@given(turns, turns, st.booleans())
def test_what_falls_is_of_the_turn(before: list[TurnTokens], after: list[TurnTokens], is_known: bool) -> None:
    some = counts(is_known)
    for one in (*before, TurnTokens(30_000, 20_000, 10_000), TurnTokens(3, 2, 1)):
        some.of_turn(one)
    assert [some.of_turn(one) for one in after] == after
    assert "of turns" in repr(some)


def test_a_turn_that_has_used_nothing_tells_nothing() -> None:
    known = counts(is_known=True)
    assert known.of_turn(TurnTokens(3, 2, 1)) == TurnTokens(3, 2, 1)
    assert known.of_turn(TurnTokens(0, 0, 0)) is None
    assert known.of_turn(TurnTokens(3, 2, 1)) is None
    assert known.of_turn(TurnTokens(9, 6, 3, thought=1)) == TurnTokens(6, 4, 2, thought=1)
