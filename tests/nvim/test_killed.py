"""Whenever the agent or the host is killed, what is on the screen stays, and goes on; `make soak` has more moments."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nvim.killing import Victim, play_all, points
from tests.nvim.leaving import rounds


@pytest.mark.parametrize("victim", ["agent", "host"])
def test_all_is_there_and_the_next_prompt_goes_on(tmp_path: Path, victim: Victim) -> None:
    play_all(tmp_path, victim, points(victim, 5), print)


def test_a_killed_neovim_leaves_nothing(tmp_path: Path) -> None:
    rounds(tmp_path, 5, print)
