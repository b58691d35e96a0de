"""Random work trees: what agents do there is told, rejected as a whole, and costs the user nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attribution.trees.play import sequence_runner

BATCHES = [range(first, first + 25) for first in range(0, 300, 25)]


@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_what_agents_do_in_any_work_tree(tmp_path: Path, seeds: range) -> None:
    with sequence_runner(tmp_path) as runner:
        runner.play_seeds(seeds)
