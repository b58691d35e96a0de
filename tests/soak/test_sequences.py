"""Thousands of the sequences of `tests/workspace`: `SEQUENCES=9000 SEED=7 make soak` says how many, from which seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.batches import batches
from tests.workspace.play import sequence_runner

BATCH = 100  # sequences for one Neovim
BATCHES = batches("SEQUENCES", 2000, 100)  # those below are played by `make system`


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_nothing_is_lost(tmp_path: Path, seeds: range) -> None:
    with sequence_runner(tmp_path, "buffer" if seeds.start // BATCH % 4 == 3 else "save") as runner:
        runner.play_seeds(seeds)
