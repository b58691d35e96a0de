"""Thousands of the work trees of `tests/whose/trees`: `TREES=9000 SEED=7 make soak` says how many, from which seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.batches import batches
from tests.whose.trees.play import company

BATCHES = batches("TREES", 5000, 300)  # those below are played by `make system`


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_what_agents_do_in_any_work_tree(tmp_path: Path, seeds: range) -> None:
    with company(tmp_path) as players:
        players.play_seeds(seeds)
