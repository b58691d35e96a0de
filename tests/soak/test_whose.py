"""Thousands of the sequences of `tests/whose`: `WHOSE=9000 SEED=7 make soak` says how many, from which seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.batches import batches
from tests.whose.play import company

BATCHES = batches("WHOSE", 5000, 100)  # those below are played by `make system`


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_who_did_it_is_known_and_nothing_is_lost(tmp_path: Path, seeds: range) -> None:
    with company(tmp_path) as players:
        players.play_seeds(seeds)
