"""What is wrong with the Python that runs this is told by what it does, and in words."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from types import SimpleNamespace
from typing import Any

import pytest

from acp_nvim import pythons
from tests.support import released
from tests.support.places import ROOT

PROBE = ROOT / "requirements/probe.py"


@pytest.fixture
def defective(monkeypatch: pytest.MonkeyPatch) -> None:
    """`re` matches as it does in CPython 3.11.2: what the last iteration has consumed stays consumed."""

    def match(pattern: str, text: str) -> re.Match[str] | None:
        assert (pattern, text) == ("(?:ab?c)*+", "aca")
        return re.compile("aca").match(text)

    monkeypatch.setattr(pythons, "re", SimpleNamespace(match=match))


def test_an_atomic_group_is_right_in_each_version() -> None:
    found = re.match("(?>(?:ab?c)*)", "aca")
    assert found is not None
    assert found.end() == 2


@pytest.mark.usefixtures("defective")
def test_a_defect_is_told_with_what_to_do() -> None:
    said = pythons.defect()
    assert said is not None
    version = ".".join(map(str, sys.version_info[:3]))
    assert said.startswith(f"Python {version} at {sys.executable} has a defect of its regular expressions (gh-106052).")
    assert "install the updates of this Python, or use another one" in said


@pytest.mark.parametrize("end", ["ac", "aca", ""])
def test_only_the_right_match_is_no_defect(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setattr(pythons, "re", SimpleNamespace(match=lambda *_: re.match(end, "aca")))
    assert pythons.has_defect() is (end != "ac")
    assert (pythons.defect() is None) is (end == "ac")


@pytest.mark.parametrize(("version", "is_newer"), [((3, 11, 0), False), ((3, 14, 9), False), ((3, 15, 0), True)])
def test_a_newer_version_is_told_with_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int], is_newer: bool
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    said = pythons.newness()
    assert (said is not None) is is_newer
    if said:
        assert said.startswith(f"Python 3.15.0 at {sys.executable} is newer than 3.14")
        assert "each command is asked for" in said


def test_the_packages_of_the_newest_version_are_those_that_are_locked() -> None:
    """A package that newer versions lack is marked in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    markers = {one.partition("; ")[2] for one in wanted if ";" in one}
    assert markers == {f"python_version < '{pythons.NEWEST[0]}.{pythons.NEWEST[1] + 1}'"}


def probed() -> tuple[int, list[str]]:
    """The exit code of the probe in this Python, and what it prints."""
    done = subprocess.run([sys.executable, "-E", "-B", PROBE], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_the_probe_tells_the_same() -> None:
    code, [version, *words] = probed()
    assert version == ".".join(map(str, sys.version_info[:3]))
    newness, defect = pythons.newness(), pythons.defect()
    assert code == (6 if newness else 5 if defect else 0)
    assert words == [said for said in (newness or defect,) if said is not None]


def test_the_probe_runs_in_any_python() -> None:
    """It uses the syntax of old versions; newer modules are imported after the check of the version."""
    tree = ast.parse(PROBE.read_text(encoding="utf-8"), feature_version=(3, 4))
    nodes: list[Any] = list(ast.walk(tree))
    assert [node.module for node in nodes if isinstance(node, ast.ImportFrom)] == ["acp_nvim"]
    assert not [node for node in nodes if isinstance(node, ast.FunctionDef) and (node.returns or node.args.args)]


@pytest.mark.parametrize(("version", "code"), [("3, 9, 2", 3), ("3, 12, 2", 4)])
def test_the_probe_names_an_old_version_and_a_missing_venv(version: str, code: int) -> None:
    program = f"""
import runpy, sys
sys.version_info = ({version})
sys.modules["venv"] = sys.modules["acp_nvim"] = None
runpy.run_path({str(PROBE)!r}, run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, version.replace(", ", ".") + "\n", "")


def test_only_a_version_without_the_packages_leaves_tests_out(monkeypatch: pytest.MonkeyPatch) -> None:
    parser, sdk = (
        "tests/core/permissions/test_shells_agree.py::test_it[x]",
        "tests/peers/test_turns.py::test_it[python]",
    )
    others = ["tests/core/permissions/test_glob.py::test_it", "tests/peers/test_turns.py::test_it[v1]"]
    for version, installed, left_out in (
        ((3, 14, 9), None, []),
        ((3, 15, 0), "installed", []),
        ((3, 15, 0), None, [parser, sdk]),
    ):
        monkeypatch.setattr(sys, "version_info", version)
        monkeypatch.setattr(released, "find_spec", lambda _, installed=installed: installed)
        assert [test for test in (parser, sdk, *others) if released.unreleased(test)] == left_out
    for name in released.PARSER:
        file, _, test = name.partition("::")
        assert f"def {test}" in (ROOT / "tests" / file).read_text(encoding="utf-8")
