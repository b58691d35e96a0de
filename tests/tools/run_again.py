"""Runs pytest; a test of the system gate that is red is run once more by itself, and recorded if it is green then.

`python -m tests.tools.run_again [arguments of pytest]`. Red twice is red. So is whatever is no failure of such a test:
a file that cannot be collected, a run without tests, a process of pytest that died. That is never tried again.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.support import races
from tests.support.system_tests import is_system


class Run:
    """What happened in a run of pytest, which this is a plugin of."""

    def __init__(self) -> None:
        self.status = int(pytest.ExitCode.INTERNAL_ERROR)
        self.failures: dict[str, str] = {}
        """The first failure of each test that failed."""
        self.passed: set[str] = set()
        self.is_broken = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps what failed, also in a fixture, and what passed."""
        if report.failed:
            self.failures.setdefault(report.nodeid, what_matters(report))
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be collected has tests that nobody knows."""
        self.is_broken = self.is_broken or report.failed

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        """A process of pytest that died may have run more than the test that is named for it."""
        self.is_broken = self.is_broken or error is not None

    def may_be_chance(self) -> bool:
        """Whether tests of the system gate failed, and nothing else."""
        only_tests = self.status == pytest.ExitCode.TESTS_FAILED and not self.is_broken
        return only_tests and bool(self.failures) and all(map(is_system, self.failures))


def what_matters(report: pytest.TestReport) -> str:
    """The message of a failure, and where it was raised."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        return report.longreprtext
    path = Path(crash.path)
    where = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path.name
    return f"{where}:{crash.lineno}: {crash.message}"


def run(arguments: list[str]) -> Run:
    """Runs pytest in this process, which can do so once."""
    seen = Run()
    seen.status = int(pytest.main(arguments, plugins=[seen]))
    return seen


def main(arguments: list[str]) -> int:
    """Returns the exit code; the last lines say what failed by chance."""
    first = run(arguments)
    if not first.may_be_chance():
        return first.status
    print("system: what failed is run once more, one test after the other, with no other one beside it", flush=True)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        again = pool.submit(run, ["-n", "0", *first.failures]).result()
    red = [test for test in first.failures if test in again.failures or test not in again.passed]
    chance = {test: seen for test, seen in first.failures.items() if test not in red}
    races.record(Path.cwd(), chance, datetime.now().astimezone().date())
    for test in red:
        print(f"system: FAILED TWICE {test}")
    for test, seen in chance.items():
        print(f"system: FAILED, THEN PASSED BY ITSELF {test}\n    {' '.join(seen.split())[: races.SEEN]}")
    if chance:
        print(f"system: {races.RACES} has a row for each that passed by itself: commit it, or mend the race")
    return 1 if red or again.status else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
