"""The table of races, `tests/races.md`: tests of the system gate that were red, and green when run by themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.system_tests import is_system

RACES: Final = "tests/races.md"
MOST: Final = 10
"""How many races there may be: with more of them, red does not mean anything."""
RELEASES: Final = 2
"""A race that is older than so many releases has to be mended."""
SEEN: Final = 300
"""The characters of a failure that are kept."""


class Race(NamedTuple):
    """One row of the table."""

    test: str
    """The node id of the test."""
    seen: str
    """The failure, on one line."""
    since: str
    """The day of the first failure, as in 2026-01-31."""

    def row(self) -> str:
        """Return the line of the table."""
        cells = (f"`{self.test}`", " ".join(self.seen.split())[:SEEN], self.since)
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def read(text: str) -> list[Race]:
    """The races of a table; a line that is no row of three cells is none."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) == 5 and cells[1].startswith("`"):
            found.append(Race(cells[1].strip("`"), *cells[2:4]))
    return found


def record(root: Path, failures: dict[str, str], today: date) -> None:
    """Adds tests with what was seen of them; a test that has a row keeps it."""
    text = (root / RACES).read_text(encoding="utf-8")
    known = {race.test for race in read(text)}
    new = [Race(test, seen, today.isoformat()) for test, seen in failures.items() if test not in known]
    (root / RACES).write_text(text + "".join(f"{race.row()}\n" for race in new), encoding="utf-8")


def problems(root: Path) -> Iterator[str]:
    """What has to be mended before anything else: too many races, old ones, and names of tests that are gone."""
    text = (root / RACES).read_text(encoding="utf-8")
    races = read(text)
    if len(races) != sum(line.startswith("|") for line in text.splitlines()) - 2:
        yield f"{RACES}: a row has not three cells, or no `test` in the first one"
    if len(races) > MOST:
        yield f"there are {len(races)} races, more than {MOST}"
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[[^]]+\] - (\d{4}-\d{2}-\d{2})$", changes, re.MULTILINE)
    for race in races:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", race.since):
            yield f"{race.test}: {race.since!r} is no day"
        elif race.since < min(released[:RELEASES], default=""):
            yield f"{race.test}: it races since {race.since}, before the last {RELEASES} releases"
        if not is_system(race.test):
            yield f"{race.test}: it is not of the system gate, where a test may race"
        elif not exists(root, race.test):
            yield f"{race.test}: there is no such test"


def exists(root: Path, test: str) -> bool:
    """Whether there is a folder (`folder/`), a file, or a test (`file::test`, also with the id of a case)."""
    name, _, function = test.partition("::")
    path = root / name
    if not function:
        return path.is_dir() if name.endswith("/") else path.is_file()
    if not path.is_file():
        return False
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tests = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return function.partition("[")[0] in tests
