"""Random work trees: what agents do there is told, rejected as a whole, and costs the user nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.whose.trees.play import company

BATCHES = [range(first, first + 25) for first in range(0, 300, 25)]


@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_what_agents_do_in_any_work_tree(tmp_path: Path, seeds: range) -> None:
    with company(tmp_path) as players:
        players.play_seeds(seeds)
