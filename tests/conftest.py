"""Fixtures for all tests: Neovim with the plugin, with a screen and without."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support import contract
from tests.support.editor import HeadlessEditor
from tests.support.editor_tests import is_about_the_editor
from tests.support.examples import profile
from tests.support.places import compile_lua
from tests.support.quick import is_quick
from tests.support.released import unreleased
from tests.support.screen import ScreenEditor
from tests.support.system_tests import is_system, may_have

contract.is_checked = True

# Where Python is told to keep no bytecode, each worker rewrites all tests again, and each program that a test starts
# compiles the package again, which takes 0.4 s. Workers and programs inherit the environment.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

MEMORY = "/dev/shm"
"""Where Linux keeps files in memory: on a disk, tests of sessions take 30 % more processor time."""
MEMORY_BYTES = 4 << 30
"""What must be free there; a run leaves less than a tenth of it."""


def can_hold_tests(directory: str) -> bool:
    """Whether there is room in it, and programs can be started from it: containers often have neither."""
    try:
        place = os.statvfs(directory)
    except OSError:
        return False
    is_open = os.access(directory, os.W_OK) and not place.f_flag & os.ST_NOEXEC
    return is_open and place.f_bavail * place.f_frsize >= MEMORY_BYTES


settings.register_profile("acp_nvim", **profile())
settings.load_profile("acp_nvim")


def pytest_configure() -> None:
    """Keep the files of tests in memory; collect no garbage while tests are collected: there is none."""
    gc.disable()  # to look for it takes a fifth of that time
    if can_hold_tests(MEMORY):  # workers inherit it, or get a part of the first one's directory
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile all Lua before the workers start."""
    if "PYTEST_XDIST_WORKER" not in os.environ and not session.config.option.collectonly:
        compile_lua()


def pytest_collection_finish() -> None:
    """From now on the collector looks only at what tests make, and not at 10,000 tests each time."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two for each processor: a third of the time a worker waits for Neovim, for an agent, or for the disk."""
    return 2 * (os.cpu_count() or 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make quick` runs a part of the tests, CI another part again with another Neovim."""
    parser.addoption("--quick", action="store_true", help="only what is quick: for every edit")
    parser.addoption("--editor", action="store_true", help="only what another version of Neovim may break")
    parser.addoption("--gate", choices=("test", "system"), help="only the tests of `make test`, or of `make system`")


def gate_of(config: pytest.Config) -> str | None:
    """The gate whose tests are wanted; None: of both. Paths that are named are run, whatever their gate is."""
    if config.getoption("quick"):
        return "test"
    is_named = config.args_source is pytest.Config.ArgsSource.ARGS
    return None if is_named or config.getoption("editor") else config.getoption("gate")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files that are not wanted are not even read."""
    wanted = {"quick": is_quick, "editor": is_about_the_editor}
    chosen = [accepts for option, accepts in wanted.items() if config.getoption(option)]
    if collection_path.suffix != ".py":
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    if (gate := gate_of(config)) and not may_have(name, gate):
        return True
    return not all(accepts(name) for accepts in chosen) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Only tests of the gate stay. On a new Python, what needs a package that is not released for it cannot run."""
    if gate := gate_of(config):
        parts = {True: list[pytest.Item](), False: list[pytest.Item]()}
        for item in items:
            parts[is_system(item.nodeid) is (gate == "system")].append(item)
        items[:] = parts[True]
        config.hook.pytest_deselected(items=parts[False])
    for item in items:
        if reason := unreleased(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=reason))


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


@pytest.fixture
def bystander() -> Iterator[int]:
    """A process of the user's that is like those that escape from an agent: it has to stay."""
    with subprocess.Popen(["sleep", "1000"], env={}, start_new_session=True) as process:
        try:
            yield process.pid
        finally:
            process.kill()
