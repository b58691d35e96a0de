"""Thousands of the sequences of `tests/attribution`: `ATTRIBUTION=9000 SEED=7 make soak` says how many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attribution.play import sequence_runner
from tests.soak.batches import batches

BATCHES = batches("ATTRIBUTION", 5000, 100)  # those below are played by `make system`


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_who_did_it_is_known_and_nothing_is_lost(tmp_path: Path, seeds: range) -> None:
    with sequence_runner(tmp_path) as runner:
        runner.play_seeds(seeds)
