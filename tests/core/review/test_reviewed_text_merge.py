"""What the user changes of a text under review is merged into what is accepted as git would merge it."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from acp_nvim.hunks.reviewed_text import ReviewedText

RUNS = 12


def written(lines: list[str]) -> str:
    """Return the text of these lines."""
    return "".join(line + "\n" for line in lines)


def changed(chance: random.Random, who: str, lines: list[str], turn: int) -> list[str]:
    """`lines`, some of them changed: of each four of the base, if it is that one's turn, those in the middle."""
    made: list[str] = []
    for line in lines:
        number = int(line.split()[-1])
        is_mine = line.startswith("line") and number // 4 % 2 == turn and number % 4 in (1, 2)
        own = f"{who} {number}"
        made += chance.choice([[], [own], [line, own], [line]]) if is_mine else [line]
    return made


def git_merge(directory: Path, ours: str, ancestor: str, theirs: str) -> str:
    """The merge of three texts, without conflicts."""
    for name, text in (("ours", ours), ("ancestor", ancestor), ("theirs", theirs)):
        (directory / name).write_text(text)
    argv = ["git", "merge-file", "-p", "ours", "ancestor", "theirs"]
    return subprocess.run(argv, cwd=directory, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("seed", range(RUNS))
@pytest.mark.parametrize("is_told_by_lines", [False, True])
def test_the_users_changes_of_other_lines(tmp_path: Path, seed: int, is_told_by_lines: bool) -> None:
    chance = random.Random(seed)
    base = [f"line {number}" for number in range(4 * chance.randrange(1, 20))]
    current = changed(chance, "agent", base, 0)
    user = changed(chance, "user", current, 1)
    reviewed = ReviewedText(written(base), written(current))
    hunks = [(reviewed.old_lines(hunk), reviewed.new_lines(hunk)) for hunk in reviewed.hunks]
    if is_told_by_lines:
        reviewed.apply_user_lines(0, len(current), user)
    else:
        reviewed.apply_user(written(user))
    assert reviewed.current == written(user)
    assert reviewed.base == git_merge(tmp_path, written(base), written(current), written(user))
    assert [(reviewed.old_lines(hunk), reviewed.new_lines(hunk)) for hunk in reviewed.hunks] == hunks
