"""Fixtures for all tests: Neovim with the plugin, with a screen and without."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.editor import HeadlessEditor
from tests.support.screen import ScreenEditor

# no clock decides whether a test passes, and each run tries the same cases
settings.register_profile("acp_nvim", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("acp_nvim")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more for each two processors: a third of the time a worker waits for Neovim, or for an agent."""
    count = os.cpu_count() or 1
    return count + (count + 1) // 2


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Callable[..., HeadlessEditor]]:
    """Starts headless Neovims: `editor(agents={...}, config={...})`. They are closed, and checked, at the end."""
    with contextlib.ExitStack() as stack:

        def start(**given) -> HeadlessEditor:
            started = HeadlessEditor(tmp_path, **given)
            stack.callback(started.close)
            return started

        yield start


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Callable[..., ScreenEditor]]:
    """Starts Neovims with a screen: `screen(columns=100, rows=30, agents={...})`."""
    with contextlib.ExitStack() as stack:

        def start(**given) -> ScreenEditor:
            started = ScreenEditor(tmp_path, **given)
            stack.callback(started.close)
            return started

        yield start
