"""A snapshot during which names have changed is taken again: half of a rename is none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.snapshots import newness, work_tree
from acp_nvim.snapshots import shadow as module
from acp_nvim.snapshots.index import Differences, Index
from tests.core.snapshots.workspaces import repository, shadow_of, told, write

pytestmark = pytest.mark.anyio

Change = Callable[[Path], object]
LONG = "".join(f"line {number}\n" for number in range(50))


def swap(root: Path) -> None:
    os.rename(root / "a.txt", root / "away")
    os.rename(root / "build" / "b.txt", root / "a.txt")
    os.rename(root / "away", root / "build" / "b.txt")


CASES: dict[str, tuple[Change, Change, list[str]]] = {
    "a file is on its way": (
        lambda root: os.rename(root / "a.txt", root / ".away"),
        lambda root: os.rename(root / ".away", root / "z.txt"),
        ["R a.txt -> z.txt"],
    ),
    "a directory is on its way": (
        lambda root: os.rename(root / "build", root / ".away"),
        lambda root: os.rename(root / ".away", root / "z"),
        ["R build/b.txt -> z/b.txt"],
    ),
    "two files change places": (
        lambda root: write(root / "new", "new"),
        swap,
        ["M a.txt", "M build/b.txt", "A new"],
    ),
    "a new file comes from a name that nobody has seen": (
        lambda root: write(root / "build" / ".tmp", "new"),
        lambda root: os.rename(root / "build" / ".tmp", root / "build" / "new"),
        ["A build/new"],
    ),
    "new rules hide a file that was ignored elsewhere": (
        lambda root: (os.rename(root / "old.log", root / "shown"), write(root / "new", "new")),
        lambda root: write(root / ".gitignore", "*.log\nshown\n"),
        ["M .gitignore", "A new", "M shown"],
    ),
    "one that was outside comes, and is not new": (
        lambda root: os.rename(root / ".." / "outside", root / ".away"),
        lambda root: os.rename(root / ".away", root / "inside"),
        ["M inside"],
    ),
}


@pytest.mark.parametrize("fold", [0, 100], ids=["in the index", "beside it"])
@pytest.mark.parametrize(("before", "meanwhile", "seen"), CASES.values(), ids=CASES)
async def test_what_is_done_while_git_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: Change, meanwhile: Change, seen: list[str], fold: int
) -> None:
    monkeypatch.setattr(work_tree, "FOLD_FILES", fold)
    monkeypatch.setattr(newness, "CLOCK_NS", 0)  # the file outside is hardly older than the first snapshot
    root = repository(tmp_path / "w", **{"a.txt": LONG, "build__b.txt": LONG + "b", ".gitignore": "*.log\n"})
    write(root / "old.log", "mine")
    write(tmp_path / "outside", "only")
    ask = Index.differences
    looks: list[str] = []

    async def differences(index: Index, room: int) -> Differences:
        found = await ask(index, room)
        if not looks:
            meanwhile(root)
        looks.append("look")
        return found

    async with shadow_of(root) as shadow:
        first = await shadow.take()
        before(root)
        monkeypatch.setattr(Index, "differences", differences)
        second = await shadow.take(first)
        assert len(looks) == 2
        assert told(root, await shadow.changes(first, second)) == seen
        assert told(root, await shadow.changes(second, await shadow.take(second))) == []
        assert len(looks) == 3


async def test_names_that_change_all_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "w", file="1")
    ask = Index.differences
    looks: list[str] = []

    async def differences(index: Index, room: int) -> Differences:
        looks.append("look")
        write(root / f"new{len(looks)}", "x")
        return await ask(index, room)

    async with shadow_of(root) as shadow:
        first = await shadow.take()
        monkeypatch.setattr(Index, "differences", differences)
        monkeypatch.setattr(module, "RETAKE_NS", 0)
        assert told(root, await shadow.changes(first, await shadow.take(first))) == ["A new1"]
        assert len(looks) == 1
