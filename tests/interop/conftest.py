"""The results of a run, and the table that they become."""

from __future__ import annotations

import os

import pytest

from tests.interop import table
from tests.interop.agent_file import NAMES

RESULTS = pytest.StashKey[table.Results]()


def pytest_configure(config: pytest.Config) -> None:
    """One collection of results for the whole run."""
    config.stash[RESULTS] = table.Results()


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest) -> table.Results:
    return request.config.stash[RESULTS]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the table, and writes it when all agents went through all steps."""
    results = config.stash[RESULTS]
    terminalreporter.write_line(results.text())
    if results.whole and not os.environ.get(NAMES):
        table.write(results)
