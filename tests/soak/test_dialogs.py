"""Long turns of `tests/workspace/turns.py`: `TURNS=2000 SEED=7 make soak` says how many, from which seed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workspace.turns import play_turns

TURNS = int(os.environ.get("TURNS", "400"))
SEED = int(os.environ.get("SEED", "1000"))  # those below it are played by `make test`
BATCH = 50  # turns for one Neovim
STEPS = 8  # of the agent in one turn, at most
BATCHES = [range(first, min(first + BATCH, SEED + TURNS)) for first in range(SEED, SEED + TURNS, BATCH)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_nothing_is_asked_while_the_user_types(tmp_path: Path, seeds: range) -> None:
    assert play_turns(tmp_path, seeds, STEPS) == len(seeds)
