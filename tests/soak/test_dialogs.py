"""Long turns of `tests/workspace/turns.py`: `TURNS=2000 SEED=7 make soak` says how many, from which seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.batches import batches
from tests.workspace.turns import play_turns

STEPS = 8  # of the agent in one turn, at most
BATCHES = batches("TURNS", 400, 1000, 50)  # those below are played by `make system`


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_nothing_is_asked_while_the_user_types(tmp_path: Path, seeds: range) -> None:
    assert play_turns(tmp_path, seeds, STEPS) == len(seeds)
