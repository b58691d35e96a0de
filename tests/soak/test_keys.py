"""Long sequences of `tests/workspace/keys.py`: `KEYS=2000 SEED=7 make soak` says how many, from which seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.batches import batches
from tests.workspace.keys import play_keys

STEPS = 5
BATCHES = batches("KEYS", 1000, 100, 50)  # those below are played by `make system`


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seeds", BATCHES, ids=str)
def test_no_sequence_of_keys_reaches_a_text(tmp_path: Path, seeds: range) -> None:
    assert play_keys(tmp_path, seeds, STEPS) == len(seeds)
