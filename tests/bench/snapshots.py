"""What a snapshot of a large repository costs; the floor is what plain git does in the user's own repository."""

from __future__ import annotations

import random
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from acp_nvim.snapshots.shadow import Shadow

FILES = 20_000
DIRECTORIES = 800
WORDS = [b"def ", b"return ", b"import ", b"self.", b" = ", b"\n", b"    ", b"(", b")", b"if ", b"else:", b"value"]
CHANGED = 5
"""Files that a turn changes."""


@dataclass(frozen=True)
class Round:
    """Seconds. Later snapshots: of nothing new, and with a few changed files."""

    first: float
    add: float
    same: list[float]
    changed: list[float]
    status_same: list[float]
    status_changed: list[float]
    changes: list[float]


def make(root: Path) -> None:
    """Files like sources, 1 to 20 kB, committed, and older than anything that looks at them."""
    dice = random.Random(1)
    for number in range(DIRECTORIES):
        directory = root / f"part{number % 20}" / f"module{number}"
        directory.mkdir(parents=True)
        for file in range(FILES // DIRECTORIES):
            size = int(1000 * 20 ** dice.random())
            words = (dice.choice(WORDS) + b"%d" % dice.getrandbits(20) for _ in range(size // 10))
            (directory / f"file{file}.py").write_bytes(b"".join(words))
    git(root, "init", "-q")
    git(root, "config", "gc.auto", "0")  # it would go on in the background
    git(root, "add", "-A")
    git(root, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", "all")


def git(root: Path, *words: str) -> None:
    """Its output is not read."""
    subprocess.run(["git", *words], cwd=root, check=True, stdout=subprocess.DEVNULL)


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def floor_first(root: Path, place: Path) -> float:
    """All files into a new repository, with git's own settings."""
    subprocess.run(["git", "init", "-q", "--bare", str(place)], check=True)
    words = [f"--git-dir={place}", f"--work-tree={root}", "-c", "core.bare=false"]
    return timed(lambda: (git(root, *words, "add", "-A"), git(root, *words, "write-tree")))


def edit(root: Path, turn: int) -> None:
    """What an agent does in a turn."""
    for number in range(CHANGED):
        module = turn * CHANGED + number
        with (root / f"part{module % 20}" / f"module{module}" / "file0.py").open("a") as file:
            file.write("# edited\n")


async def measure(directory: Path, turns: int = 5) -> Round:
    """One repository, one shadow repository; ours and the floor in turns."""
    root = directory / "project"
    make(root)
    add = floor_first(root, directory / "floor")
    shadow = Shadow(directory / "state" / "git", str(root))
    start = time.perf_counter()
    last = await shadow.take()
    found = Round(time.perf_counter() - start, add, [], [], [], [], [])
    git(root, "status")  # writes what it has found out
    for turn in range(turns):
        for into, into_status in ((found.same, found.status_same), (found.changed, found.status_changed)):
            into_status.append(timed(lambda: git(root, "status")))
            start = time.perf_counter()
            now = await shadow.take()
            into.append(time.perf_counter() - start)
            if into is found.same:
                edit(root, turn)
        start = time.perf_counter()
        assert len(await shadow.changes(last, now)) == CHANGED
        found.changes.append(time.perf_counter() - start)
        last = now
    shadow.close()
    return found


def run(directory: Path) -> Round:
    """In a directory of its own."""
    return anyio.run(measure, directory.resolve())


def median(seconds: list[float]) -> float:
    """In milliseconds."""
    return statistics.median(seconds) * 1000
