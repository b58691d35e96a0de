"""Random sequences of what users, agents and git do to files: nothing of the user's is the agent's, or lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attribution.play import sequence_runner

BATCHES = [range(first, first + 25) for first in range(0, 100, 25)]


@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_who_did_it_is_known_and_nothing_is_lost(tmp_path: Path, seeds: range) -> None:
    with sequence_runner(tmp_path) as runner:
        runner.play_seeds(seeds)
