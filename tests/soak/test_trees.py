"""Thousands of the work trees of `tests/attribution/trees`: `TREES=9000 SEED=7 make soak` says how many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attribution.trees.play import sequence_runner
from tests.soak.batches import batches

BATCHES = batches("TREES", 5000, 300)  # those below are played by `make system`


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_what_agents_do_in_any_work_tree(tmp_path: Path, seeds: range) -> None:
    with sequence_runner(tmp_path) as runner:
        runner.play_seeds(seeds)
