"""The two gates: which tests each one takes, that every test is in one of them, and what CI runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import races
from tests.support.places import ROOT
from tests.support.system_tests import REASONS, SYSTEM, WHOLE, is_system, may_have

COLLECTS = """
import sys
import pytest

class Seen:
    def pytest_collection_finish(self, session):
        print("COLLECTED", *sorted(item.nodeid for item in session.items))

for line in sys.stdin:
    pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", "--rootdir=.", *line.split()], plugins=[Seen()])
"""
FOLDER = "tests/workspace/test_dialogs.py::test_a"
FILE = "tests/core/process/test_guard.py::test_b"
ONE = "tests/core/test_file_time.py::test_a_file_that_is_being_emptied_has_no_earlier_time"
PARTS = [f"{ONE}[{case}]" for case in ("x", "y")]
BESIDE = "tests/core/test_file_time.py::test_d"
PLAIN = "tests/core/test_e.py::test_e"
DETERMINISTIC, NEEDS_THE_MACHINE = [BESIDE, PLAIN], [FILE, *PARTS, FOLDER]


@pytest.mark.parametrize("entry", SYSTEM)
def test_each_entry_is_there_and_is_the_only_one(entry: str) -> None:
    assert races.exists(ROOT, entry)
    assert [one for one in WHOLE if entry.startswith(one)] == [entry] * ("::" not in entry)
    assert sum(f"tests/{one}" == entry for entries in REASONS.values() for one in entries) == 1


def test_a_test_is_in_one_gate() -> None:
    for test in (*DETERMINISTIC, *NEEDS_THE_MACHINE):
        file = test.partition("::")[0]
        assert is_system(test) is (test in NEEDS_THE_MACHINE)
        assert may_have(file, "system" if is_system(test) else "test")
    assert not may_have("tests/workspace/test_dialogs.py", "test")
    assert not may_have("tests/core/test_e.py", "system")


def test_what_is_named_is_run_and_the_rest_is_of_one_gate(tmp_path: Path) -> None:
    """The whole of pytest, with the hooks of `tests/conftest.py`, in a small tree."""
    hooks = "pytest_addoption, pytest_collection_modifyitems, pytest_ignore_collect"
    (tmp_path / "conftest.py").write_text(f"from tests.conftest import {hooks}\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    for test in (FOLDER, FILE, ONE, BESIDE, PLAIN):
        name, _, function = test.partition("::")
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        cases = '@__import__("pytest").mark.parametrize("case", "xy")\n' if test == ONE else ""
        with path.open("a") as file:
            file.write(f"{cases}def {function}({'case' if cases else ''}): pass\n")
    wanted = {
        "": DETERMINISTIC + NEEDS_THE_MACHINE,
        "--gate test": DETERMINISTIC,
        "--gate system": NEEDS_THE_MACHINE,
        f"--gate test {FILE} {PLAIN}": [FILE, PLAIN],
        "--gate test tests/core": [FILE, *PARTS, BESIDE, PLAIN],
        "--quick tests/core tests/workspace": [PLAIN],
        "--gate test --editor": [FOLDER],
    }
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    said = subprocess.run(
        [sys.executable, "-c", COLLECTS],
        input="\n".join(wanted),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**env, "PYTHONPATH": str(ROOT)},
    ).stdout
    found = [line.split()[1:] for line in said.splitlines() if line.startswith("COLLECTED")]
    assert found == [sorted(tests) for tests in wanted.values()]


@pytest.mark.parametrize("fails", ["", "make test", "make system", "make check"])
def test_ci_runs_all_of_it_also_when_something_fails(tmp_path: Path, fails: str) -> None:
    log, programs = tmp_path / "log", tmp_path / "bin"
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci")
    for path, body in {
        programs / "timeout": f'echo "$*" >>{log}; shift 2; exec "$@"',
        programs / "make": f'test "make $1" != "{fails}"',
        tmp_path / ".venv/bin/python": f"echo {programs}/nvim",
        programs / "nvim": "echo NVIM v0.12.4",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    env = {"PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / ".ci/run"], capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stderr) == ((1, "ci: failed\n") if fails else (0, ""))
    run = [line.split(" ", 2) for line in log.read_text().splitlines()]
    again = f"make test NVIM={programs}/nvim PYTEST_ARGS=--editor"
    assert [command for _, _, command in run] == ["make test", "make system", again, "make check"]
    minutes = re.search(r"timeout-minutes: (\d+)", (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    assert minutes
    assert sum(int(seconds) for _, seconds, _ in run) < 60 * int(minutes[1])
