"""Random sequences of what users, agents and other programs do to files: nothing the user typed is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.play import sequence_runner

BATCHES = [(range(0, 25), "save"), (range(25, 50), "save"), (range(50, 75), "save"), (range(75, 100), "buffer")]


@pytest.mark.parametrize(("seeds", "write"), BATCHES, ids=str)
def test_nothing_is_lost(tmp_path: Path, seeds: range, write: str) -> None:
    with sequence_runner(tmp_path, write) as runner:
        runner.play_seeds(seeds)
