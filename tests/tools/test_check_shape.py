"""The shape check can fail, and says where."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.check_shape import problems

SCRIPT = Path(__file__).with_name("check_shape.py")


@pytest.fixture
def package(tmp_path):
    (tmp_path / "acp_nvim").mkdir()
    return tmp_path / "acp_nvim"


def test_a_good_file_passes(package):
    (package / "good.py").write_text('"""Does one thing."""\n\n\ndef short():\n    return 1\n')
    assert list(problems(package.parent)) == []


def test_a_generated_file_may_be_long(package):
    (package / "made.py").write_text('"""Types.\n\nGenerated from a schema by `make x`.\n"""\n' + "x = 1\n" * 400)
    (package / "long.py").write_text('"""Types, by hand."""\n' + "x = 1\n" * 400)
    assert list(problems(package.parent)) == ["acp_nvim/long.py:1: the file has 401 lines, more than 400"]


def test_a_long_function_is_found(package):
    (package / "long.py").write_text('"""Job."""\n\n\nasync def big():\n' + "    x = 1\n" * 60)
    assert list(problems(package.parent)) == ["acp_nvim/long.py:4: big has 61 lines, more than 60"]


def test_a_long_file_is_found(package):
    (package / "long.py").write_text('"""Job."""\n' + "x = 1\n" * 400)
    assert list(problems(package.parent)) == ["acp_nvim/long.py:1: the file has 401 lines, more than 400"]


def test_a_file_without_a_docstring_is_found(package):
    (package / "silent.py").write_text("x = 1\n")
    assert list(problems(package.parent)) == ["acp_nvim/silent.py:1: the module has no docstring"]


@pytest.mark.parametrize(
    "line",
    [
        "see https://py" + "pi.org/x",
        "in /wo" + "rk/main/x",
        "# TO" + "DO: more",
        "as issue " + "#12 says",
        "<" * 7 + " HEAD",
        "registry.npm" + "js.org",
    ],
)
def test_words_are_found_in_any_file(package, line):
    (package.parent / "notes.md").write_text(f"first\n{line}\n")
    assert [found.split(": ")[0] for found in problems(package.parent)] == ["notes.md:2"]


def test_the_exit_code_tells(package):
    command = [sys.executable, str(SCRIPT), str(package.parent)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    (package / "silent.py").write_text("x = 1\n")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
