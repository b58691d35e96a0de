"""The agent and the host killed at many moments, Neovim in many rounds: `POINTS=200 ROUNDS=1000 make soak` for more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.nvim.killing import Victim, play_all, points
from tests.nvim.leaving import rounds

POINTS = int(os.environ.get("POINTS", "50"))
BATCH = 10  # conversations in one Neovim
ROUNDS = int(os.environ.get("ROUNDS", "200"))
SECONDS = 5.0  # how long something may still run after the end of its Neovim
BATCHES = range(0, POINTS, BATCH)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", BATCHES)
@pytest.mark.parametrize("victim", ["agent", "host"])
def test_all_is_there_and_the_next_prompt_goes_on(tmp_path: Path, victim: Victim, first: int) -> None:
    play_all(tmp_path, victim, points(victim, POINTS)[first : first + BATCH], print)


@pytest.mark.timeout(3600)
def test_a_killed_neovim_leaves_nothing(tmp_path: Path) -> None:
    rounds(tmp_path, ROUNDS, print, SECONDS)
