"""Thousands of the work trees of `tests/whose/trees`: `TREES=9000 SEED=7 make soak` says how many, from which seed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.whose.trees.play import company

COUNT = int(os.environ.get("TREES", "5000"))
SEED = int(os.environ.get("SEED", "300"))  # those below it are played by `make test`
BATCH = 100  # trees for one host
BATCHES = [range(first, min(first + BATCH, SEED + COUNT)) for first in range(SEED, SEED + COUNT, BATCH)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_what_agents_do_in_any_work_tree(tmp_path: Path, seeds: range) -> None:
    with company(tmp_path) as players:
        players.play_seeds(seeds)
