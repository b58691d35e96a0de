"""What a snapshot of a large repository costs; the floor is `git status` in the user's own repository."""

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
MANY_FILES = 100_000
CHANGED = 5
"""The number of files that a turn changes."""


@dataclass(frozen=True)
class Round:
    """Seconds. Later snapshots: of nothing new, and with a few changed files."""

    first: float
    first_status: float
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


@dataclass(frozen=True)
class First:
    """Seconds of a first snapshot, and of `git status` before it."""

    ours: float
    status: float


def make_many(root: Path) -> None:
    """Commit as many small files as a large project has, in one pack."""
    dice = random.Random(1)
    for number in range(MANY_FILES // 25):
        directory = root / f"part{number % 20}" / f"module{number}"
        directory.mkdir(parents=True)
        for file in range(25):
            (directory / f"file{file}.py").write_bytes(b"%d\n" % dice.getrandbits(64) * dice.randrange(5, 60))
    git(root, "init", "-q")
    git(root, "config", "gc.auto", "0")
    git(root, "add", "-A")
    git(root, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", "all")


async def measure_first(directory: Path, packed: bool, rounds: int) -> list[First]:
    """`git status` and a first snapshot in turns, each with a new shadow repository."""
    root = directory / "many"
    make_many(root)
    if packed:
        git(root, "repack", "-a", "-d", "-q")
    await anyio.sleep(2)  # files as old as the index would be read by both
    git(root, "status")
    found = []
    for number in range(rounds):
        status = timed(lambda: git(root, "status"))
        shadow = Shadow(directory / f"state{number}" / "git", str(root))
        start = time.perf_counter()
        await shadow.take()
        found.append(First(time.perf_counter() - start, status))
        shadow.close()
    return found


def git(root: Path, *words: str) -> None:
    """Run git without reading its output."""
    subprocess.run(["git", *words], cwd=root, check=True, stdout=subprocess.DEVNULL)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


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
    git(root, "status")  # writes what it has found out
    status = timed(lambda: git(root, "status"))
    shadow = Shadow(directory / "state" / "git", str(root))
    start = time.perf_counter()
    last = await shadow.take()
    found = Round(time.perf_counter() - start, status, [], [], [], [], [])
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
    """Measure in a directory of its own."""
    return anyio.run(measure, directory.resolve())


def first(directory: Path, packed: bool, rounds: int) -> list[First]:
    """Measure first snapshots in a directory of their own."""
    return anyio.run(measure_first, directory.resolve(), packed, rounds)


def median(seconds: list[float]) -> float:
    """Return the median in milliseconds."""
    return statistics.median(seconds) * 1000
