"""While the user types a prompt, agents write files that are open: Neovim asks nothing, and no key or line is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.turns import play_turns

TURNS = 60  # `make soak` plays more, and longer ones
STEPS = 3  # of the agent in one turn, at most


@pytest.mark.timeout(300)
def test_nothing_is_asked_while_the_user_types(tmp_path: Path) -> None:
    assert play_turns(tmp_path, range(TURNS), STEPS) == TURNS
