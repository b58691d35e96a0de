"""The system gate's second try: red twice is red, red and then green is recorded, and nothing else is tried again."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from tests.support import races
from tests.support.places import ROOT
from tests.support.races import MOST, Race

HEADER = "# Races\n\n| test | what was seen | since |\n|---|---|---|\n"
FILE = "tests/attribution/test_it.py"
GREEN = "def test_green(): pass\n"
CHANCE = """
import os, pathlib, pytest

@pytest.mark.parametrize("case", ["a|b", "é c::d [1]"])
def test_chance(case):
    tries = pathlib.Path(f"tries{ord(case[0])}")
    tries.write_text(f"{tries.read_text() if tries.exists() else ''}{os.environ.get('PYTEST_XDIST_WORKER', 'alone')} ")
    assert tries.read_text().count(" ") == 2, "waited in vain\\nfor a | pig"
"""
IN_A_FIXTURE = """
import pathlib, pytest

@pytest.fixture
def late():
    yield
    tried = pathlib.Path("tried")
    tried.touch() if not tried.exists() else tried.unlink()
    assert not tried.exists()

def test_late(late): pass
"""
RED = "def test_red(): assert 1 == 2\n"
DIES = "import os\ndef test_dies(): os._exit(7)\n"
NO_MODULE = "import nothing_of_that_name\n"
SKIPPED = """
import pathlib, pytest

def test_skipped():
    if pathlib.Path("tried").exists():
        pytest.skip("no more")
    pathlib.Path("tried").touch()
    assert False
"""


class Gate:
    """A small repository, and what a run in it says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.table = root / races.RACES
        self.table.parent.mkdir()
        self.table.write_text(HEADER)
        (root / "pytest.ini").write_text("[pytest]\n")

    def run(self, *arguments: str, **files: str) -> subprocess.CompletedProcess[str]:
        """Run these tests: `folder_name` becomes tests/folder/test_name.py."""
        for name, text in files.items():
            path = self.root / f"tests/{name.replace('_', '/test_', 1)}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        command = [sys.executable, "-m", "tests.tools.run_again", "-p", "no:cacheprovider", *(arguments or ("-n", "0"))]
        env |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.root, env=env)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


def test_green_is_green_and_writes_nothing(gate: Gate) -> None:
    done = gate.run(attribution_a=GREEN)
    assert done.returncode == 0, done.stdout
    assert "system:" not in done.stdout
    assert gate.table.read_text() == HEADER


def test_red_then_green_passes_says_so_and_is_recorded_once(gate: Gate) -> None:
    done = gate.run("-n", "1", attribution_a=CHANCE, attribution_b=IN_A_FIXTURE + GREEN)
    assert done.returncode == 0, done.stdout
    assert {path.read_text() for path in gate.root.glob("tries*")} == {"gw0 alone "}
    table = gate.table.read_text()
    found = {race.test: race for race in races.read(table)}
    a, b = r"tests/attribution/test_a.py::test_chance", "tests/attribution/test_b.py::test_late"
    assert set(found) == {f"{a}[a|b]", f"{a}[\\xe9 c::d [1]]", b}
    assert found[f"{a}[a|b]"].seen.startswith(
        "tests/attribution/test_a.py:8: AssertionError: waited in vain for a | pig"
    )
    assert found[b].since in (date.today().isoformat(), found[b].since)
    for test in found:
        assert f"system: FAILED, THEN PASSED BY ITSELF {test}\n    {found[test].seen}" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("system: tests/races.md has a row for each that passed")
    for path in gate.root.glob("tries*"):
        path.unlink()
    assert gate.run(attribution_a=CHANCE).returncode == 0
    assert gate.table.read_text() == table  # the first failure stays


def test_red_twice_fails_and_what_was_chance_beside_it_is_recorded(gate: Gate) -> None:
    done = gate.run(attribution_a=CHANCE, attribution_b=RED, attribution_c=SKIPPED)
    assert done.returncode == 1
    said = [line for line in done.stdout.splitlines() if "FAILED TWICE" in line]
    assert [line.split("::")[1] for line in sorted(said)] == ["test_red", "test_skipped"]
    assert {race.test.split("[")[0] for race in races.read(gate.table.read_text())} == {
        "tests/attribution/test_a.py::test_chance"
    }


@pytest.mark.parametrize(
    ("files", "arguments", "code"),
    [
        ({"attribution_b": NO_MODULE}, "-n 1", pytest.ExitCode.TESTS_FAILED),
        ({"attribution_b": NO_MODULE}, "-n 0", pytest.ExitCode.INTERRUPTED),
        ({"attribution_b": NO_MODULE}, "-n 0 --continue-on-collection-errors", pytest.ExitCode.TESTS_FAILED),
        ({}, "-n 0 -k no_such_test", pytest.ExitCode.NO_TESTS_COLLECTED),
        ({}, "--no-such-option", pytest.ExitCode.USAGE_ERROR),
        ({"attribution_b": DIES}, "-n 1", pytest.ExitCode.TESTS_FAILED),
        ({"attribution_b": DIES}, "-n 0", 7),
        ({"core_b": RED}, "-n 0", pytest.ExitCode.TESTS_FAILED),
    ],
    ids=["collection", "collection by itself", "collection is passed over", "no tests", "usage", "a worker dies",
         "pytest dies", "the other gate"],
)  # fmt: skip
def test_nothing_else_is_tried_again(gate: Gate, files: dict[str, str], arguments: str, code: int) -> None:
    done = gate.run(*arguments.split(), attribution_a=CHANCE, **files)
    assert done.returncode == code
    assert "system:" not in done.stdout
    assert gate.table.read_text() == HEADER


def test_a_crash_of_the_second_try_fails(gate: Gate) -> None:
    done = gate.run(
        attribution_a=CHANCE, attribution_b=SKIPPED.replace('pytest.skip("no more")', '__import__("os")._exit(0)')
    )
    assert done.returncode == 1
    assert "BrokenProcessPool" in done.stderr
    assert gate.table.read_text() == HEADER


# --- the table -------------------------------------------------------------------------------------------------------

CHANGES = "## [Unreleased]\n\n## [0.3.0] - 2026-03-01\n\n## [0.2.0] - 2026-02-01\n\n## [0.1.0] - 2026-01-01\n"


def found(root: Path, *rows: Race, changes: str = CHANGES) -> list[str]:
    """What is wrong with a table of these rows."""
    (root / FILE).parent.mkdir(parents=True, exist_ok=True)
    (root / FILE).write_text("async def test_it(): pass\n")
    (root / "CHANGELOG.md").write_text(changes)
    (root / races.RACES).write_text(HEADER + "".join(f"{row.row()}\n" for row in rows))
    return [problem.removeprefix(f"{FILE}::test_it: ") for problem in races.problems(root)]


def test_the_table_of_this_repository_is_right() -> None:
    assert list(races.problems(ROOT)) == []


def test_there_may_be_few_races_and_none_that_is_old_or_gone(tmp_path: Path) -> None:
    good = Race(f"{FILE}::test_it[x|y]", "it | was\nseen" + "." * 400, "2026-02-01")
    assert found(tmp_path, good, good._replace(test=f"{FILE}::test_it")) == []
    [read] = races.read(good.row())
    assert (read.test, read.since, len(read.seen)) == (good.test, good.since, races.SEEN)
    assert read.seen.startswith("it | was seen...")
    good = good._replace(test=f"{FILE}::test_it")
    assert found(tmp_path, *[good] * (MOST + 1)) == [f"there are {MOST + 1} races, more than {MOST}"]
    assert found(tmp_path, good._replace(since="2026-01-31")) == [
        "it races since 2026-01-31, before the last 2 releases"
    ]
    assert found(tmp_path, good._replace(since="2026-01-31"), changes="## [Unreleased]\n") == []
    assert found(tmp_path, good._replace(since="lately")) == ["'lately' is no day"]
    (tmp_path / races.RACES).write_text(f"{HEADER}{good.row()}\n| {good.test} | seen | {good.since} |\n")
    assert "a row has not three cells" in next(races.problems(tmp_path))
    for test in ("tests/attribution/test_it.py::test_other", "tests/attribution/test_other.py::test_it"):
        assert found(tmp_path, good._replace(test=test)) == [f"{test}: there is no such test"]
    [problem] = found(tmp_path, good._replace(test="tests/core/test_it.py::test_it"))
    assert "not of the system gate" in problem
