"""Whatever directories change their places, renaming them back gives the tree of before, and its undo that of after."""

from __future__ import annotations

import os
import tempfile
from itertools import count
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.review.directory_renames import rename_directories
from acp_nvim.snapshots.renames import Moves, after, back, ordered
from acp_nvim.snapshots.snapshot import DirectoryMove

NAMES = ("a", "b", "a/a", "a/b", "b/a", "b/a/c", "a/b/c")
Steps = list[tuple[int, int, bool]]


def directories(top: Path) -> dict[str, str]:
    """Where the directory with each number is: a file in it says which it is."""
    return {path.read_text(): str(path.parent) for path in sorted(top.rglob("number"))}


def move(top: Path, first: str, second: str, swaps: bool) -> None:
    """Swap two directories, or put one into the other; nothing if one is in the other."""
    if os.path.commonpath([first, second]) in (first, second):
        return
    if not swaps:
        free = next(name for number in count() if not os.path.lexists(name := os.path.join(second, f"moved{number}")))
        os.rename(first, free)
        return
    os.rename(first, top / "away")
    os.rename(second, first)
    os.rename(top / "away", second)


def made(before: dict[str, str], now: dict[str, str]) -> Moves:
    """What a scan finds: each directory with its earlier and its present name."""
    return ordered(DirectoryMove(before[number], now[number]) for number in before)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.booleans()), min_size=1, max_size=5))
@example([(1, 2, True), (1, 4, True)])
@example([(0, 1, True), (2, 1, True), (3, 4, False)])
def test_they_come_back(steps: Steps) -> None:
    with tempfile.TemporaryDirectory() as directory:
        top = Path(os.path.realpath(directory))
        for number, name in enumerate(NAMES):
            (top / name).mkdir(parents=True, exist_ok=True)
            (top / name / "number").write_text(str(number))
        before = directories(top)
        for first, second, swaps in steps:
            now = directories(top)
            move(top, now[str(first)], now[str(second)], swaps)
        done = directories(top)
        moves = made(before, done)
        assert all(after(before[one] + os.sep, moves) == done[one] + os.sep for one in before)
        for _ in range(2):
            undoing = back(moves)
            if undoing:
                rename_directories(undoing)
            assert directories(top) == before
            moves, before, done = ordered(undoing), done, before
        assert not [one for one in os.listdir(top) if "acp_nvim" in one]
