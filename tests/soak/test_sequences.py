"""Thousands of the sequences of `tests/workspace`: `SEQUENCES=9000 SEED=7 make soak` says how many, from which seed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workspace.play import company

SEQUENCES = int(os.environ.get("SEQUENCES", "2000"))
SEED = int(os.environ.get("SEED", "100"))  # those below it are played by `make test`
BATCH = 100  # sequences for one Neovim
BATCHES = [range(first, min(first + BATCH, SEED + SEQUENCES)) for first in range(SEED, SEED + SEQUENCES, BATCH)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_nothing_is_lost(tmp_path: Path, seeds: range) -> None:
    with company(tmp_path, "buffer" if seeds.start // BATCH % 4 == 3 else "save") as players:
        players.play_seeds(seeds)
