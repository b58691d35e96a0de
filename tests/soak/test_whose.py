"""Thousands of the sequences of `tests/whose`: `WHOSE=9000 SEED=7 make soak` says how many, from which seed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.whose.play import company

COUNT = int(os.environ.get("WHOSE", "5000"))
SEED = int(os.environ.get("SEED", "100"))  # those below it are played by `make test`
BATCH = 100  # sequences for one pair of Neovims
BATCHES = [range(first, min(first + BATCH, SEED + COUNT)) for first in range(SEED, SEED + COUNT, BATCH)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_who_did_it_is_known_and_nothing_is_lost(tmp_path: Path, seeds: range) -> None:
    with company(tmp_path) as players:
        players.play_seeds(seeds)
