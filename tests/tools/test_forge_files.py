"""The files that editors and a forge read say the same as the rest of the repository."""

from __future__ import annotations

import configparser
import re
import tomllib

from tests.support.places import ROOT

HELP = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "doc").glob("*.txt"))
WORKFLOW = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")


def test_editors_indent_and_break_as_the_formatters_do() -> None:
    said = configparser.ConfigParser()
    said.read_string("[top]\n" + (ROOT / ".editorconfig").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    stylua = tomllib.loads((ROOT / ".stylua.toml").read_text(encoding="utf-8"))
    width, indent = said["*"]["max_line_length"], said["*"]["indent_size"]
    assert {int(width)} == {stylua["column_width"], project["tool"]["ruff"]["line-length"]}
    assert (int(indent), said["*"]["indent_style"]) == (stylua["indent_width"], "space")
    assert said["*.py"]["indent_size"] == "4"  # ruff has no other value


def test_the_forge_runs_what_everybody_runs() -> None:
    assert re.findall(r"\brun: (.*)", WORKFLOW) == [".ci/run"]
    least = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    pythons = re.search(r"python: \[(.*)\]", WORKFLOW)
    assert pythons is not None
    assert f">={pythons[1].split(',')[0].strip().strip(chr(34))}" == least


def test_the_help_that_is_named_exists() -> None:
    files = [ROOT / "SECURITY.md", ROOT / "README.md", *(ROOT / ".github/ISSUE_TEMPLATE").iterdir()]
    named = {tag for file in files for tag in re.findall(r":help (acp_nvim[\w.-]*)", file.read_text(encoding="utf-8"))}
    assert len(named) > 6
    assert {tag for tag in named if f"*{tag}*" not in HELP} == set()
