"""How much goes to Neovim at once, and when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.limits import BATCH_BYTES, FRAME_SECONDS
from acp_nvim.neovim.pace import BATCH_SECONDS, LEAST_BATCH_BYTES, MOST_BATCH_BYTES, REST_SHARE, Pace

SECONDS = st.floats(0, 10)


def test_what_is_no_backlog_waits_for_the_next_frame() -> None:
    assert Pace().next_at(100.0, 100.001, 0.001, more_waits=False) == 100.0 + FRAME_SECONDS


def test_a_backlog_waits_a_part_of_what_lua_took() -> None:
    assert Pace().next_at(100.0, 100.006, 0.004, more_waits=True) == pytest.approx(100.006 + 0.004 * REST_SHARE)


def test_when_lua_cannot_take_it_now_it_waits_for_the_next_frame() -> None:
    assert Pace().next_at(100.0, 100.001, None, more_waits=True) == 100.0 + FRAME_SECONDS


@given(SECONDS, SECONDS, st.booleans())
def test_nobody_waits_longer_than_a_frame_when_neovim_has_answered(rest: float, took: float, more_waits: bool) -> None:
    assert Pace().next_at(0.0, took + rest, took, more_waits) <= max(took + rest, FRAME_SECONDS)


@pytest.mark.parametrize("speed", [5e-9, 30e-9, 400e-9])  # seconds of Lua for a byte
def test_full_batches_become_as_large_as_lua_can_take_in_its_time(speed: float) -> None:
    pace = Pace()
    for _ in range(30):
        pace.applied(pace.room * speed, more_waits=True)
    wanted = min(max(BATCH_SECONDS / speed, LEAST_BATCH_BYTES), MOST_BATCH_BYTES)
    assert pace.room == pytest.approx(wanted, rel=0.01)


def test_batches_that_were_not_full_do_not_grow() -> None:
    pace = Pace()
    pace.applied(0.0, more_waits=False)
    assert pace.room == BATCH_BYTES
    pace.applied(BATCH_SECONDS * 1.25, more_waits=False)
    assert pace.room == pytest.approx(BATCH_BYTES / 1.25, rel=0.01)


def test_one_pause_of_something_else_halves_them_at_most() -> None:
    pace = Pace()
    pace.applied(10.0, more_waits=True)
    assert pace.room == BATCH_BYTES / 2


def test_nothing_is_learnt_when_neovim_does_not_say_how_long_it_took() -> None:
    pace = Pace()
    pace.applied(None, more_waits=True)
    assert pace.room == BATCH_BYTES


@given(st.lists(st.tuples(SECONDS, st.booleans())))
def test_they_stay_within_their_bounds(batches: list[tuple[float, bool]]) -> None:
    pace = Pace()
    for seconds, more_waits in batches:
        pace.applied(seconds, more_waits)
        assert LEAST_BATCH_BYTES <= pace.room <= MOST_BATCH_BYTES
