"""README.md and the help: their length, and that the commands, tags and Lua snippets in them are real."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.find_nvim import find_nvim
from tests.support.places import ROOT

README = ROOT / "README.md"
HELP = sorted((ROOT / "doc").glob("*.txt"))
README_LINES = 170  # three screens
SNIPPETS = ["--clean", "--headless", "-l", str(ROOT / "tests" / "tools" / "check_snippets.lua")]


def run_snippets(*files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([find_nvim(), *SNIPPETS, *map(str, files)], capture_output=True, text=True, check=False)


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= README_LINES


def test_every_snippet_works() -> None:
    result = run_snippets(README, *HELP)
    assert result.returncode == 0, result.stdout + result.stderr
    assert int(re.findall(r"(\d+) snippets", result.stdout)[-1]) > 25


WRONG = {
    'vim.g.acp_nvim = { default_agnet = "claude" }': "default_agnet",
    "permissions = { rules = { { comand = 'x', action = 'allow' } } }": "comand",
    'require("acp_nvim").chta()': "chta",
    'vim.keymap.set("n", "x", "<Plug>(AcpChta)")': "AcpChta",
    "if then": "unexpected",
}


def test_wrong_snippets_are_noticed(tmp_path: Path) -> None:
    document = tmp_path / "wrong.md"
    document.write_text("".join(f"```lua\n{snippet}\n```\n" for snippet in WRONG), encoding="utf-8")
    result = run_snippets(document)
    assert result.returncode == 1
    for problem in WRONG.values():
        assert problem in result.stdout


@pytest.mark.parametrize("file", [README, *HELP], ids=lambda file: file.name)
def test_every_command_that_is_named_exists(file: Path) -> None:
    commands = set(re.findall(r'\bcommand\(\s*"(Acp\w+)"', (ROOT / "plugin" / "acp_nvim.lua").read_text("utf-8")))
    named = set(re.findall(r":(?:\[range\]|'<,'>|%|\d+,\d+)?(Acp[A-Z]\w+)", file.read_text(encoding="utf-8")))
    assert len(named) > 5
    assert named <= commands


def test_every_link_leads_to_a_tag(tmp_path: Path) -> None:
    """Neovim makes the tags itself, which also finds a tag that exists twice."""
    doc = tmp_path / "doc"
    doc.mkdir()
    for file in HELP:
        shutil.copy(file, doc)
    builtin = "io.write(vim.env.VIMRUNTIME .. '/doc/tags')"
    tags_file = subprocess.run(
        [find_nvim(), "--clean", "--headless", "-c", f"helptags {doc}", "-c", f"lua {builtin}", "-c", "qall!"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    tags = {
        line.split("\t")[0]
        for file in (doc / "tags", Path(tags_file))
        for line in file.read_text(encoding="utf-8").splitlines()
    }
    for file in HELP:
        links = set(re.findall(r"(?<![\w|`])\|([^\s|`*]+)\|(?![\w|`])", file.read_text(encoding="utf-8")))
        assert len(links) > 20
        assert links <= tags, f"{file.name}: {sorted(links - tags)}"
    for tag in re.findall(r":help ([\w.:-]+)", README.read_text(encoding="utf-8")):
        assert tag in tags
