"""What is generated into the help: it goes to its place, is not too wide, and without its place nothing is written."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.find_nvim import find_nvim
from tests.support.places import ROOT
from tests.tools.contract import __main__ as contract
from tests.tools.contract import help as status_help

HELP = (ROOT / "doc" / "acp_nvim.txt").read_text(encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The help and what its lists are made from."""
    (tmp_path / "doc").mkdir()
    for name in ("acp_nvim.txt", "generate.lua"):
        shutil.copy(ROOT / "doc" / name, tmp_path / "doc")
    shutil.copytree(ROOT / "lua", tmp_path / "lua")
    return tmp_path


def generate(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [find_nvim(), "--clean", "--headless", "-l", str(root / "doc" / "generate.lua"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def change(file: Path, old: str, new: str) -> str:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file.name}"
    file.write_text(text.replace(old, new), encoding="utf-8")
    return text.replace(old, new)


def test_the_lists_are_put_between_the_words_around_them(copy: Path) -> None:
    file = copy / "doc" / "acp_nvim.txt"
    change(file, "    Whether the terminal's bell rings", "    Whether a bell of the terminal rings")
    change(file, "vibe        Mistral Vibe: `vibe-acp`\n", "")
    assert generate(copy, "--check").returncode == 1
    assert generate(copy).returncode == 0
    assert file.read_text(encoding="utf-8") == HELP
    assert generate(copy, "--check").returncode == 0


def test_words_around_a_list_may_change(copy: Path) -> None:
    file = copy / "doc" / "acp_nvim.txt"
    change(file, "nearest to it.\n\nEach option", "nearest to it. Another sentence.\n\nEach option")
    new = change(file, "Agents see files and run commands. What", "What")
    assert generate(copy).returncode == 0
    assert file.read_text(encoding="utf-8") == new


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("\nBuilt-in agents:\n", "\nThe agents:\n", 'has no line "Built-in agents:"'),
        ("\nBuilt-in agents:\n", "\nBuilt-in agents:\nBuilt-in agents:\n", "has more than one line"),
        ("\nBuilt-in agents:\n\n", "\nBuilt-in agents:\n", "has no empty line below"),
        ("*acp_nvim-mcp*", "*acp_nvim-mcp-tools*", 'has no *acp_nvim-mcp* after "Built-in agents:"'),
        ("\nEach option, with its values and its default:\n", "\n", 'has no line "Each option, with its values'),
        ("=====\n", "====\n", "has no ====="),
    ],
)
def test_without_its_place_a_list_is_not_written(copy: Path, old: str, new: str, words: str) -> None:
    file = copy / "doc" / "acp_nvim.txt"
    file.write_text(HELP.replace(old, new), encoding="utf-8")
    done = generate(copy)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"doc/acp_nvim.txt {words}" in done.stderr
    assert "stack traceback" not in done.stderr
    assert file.read_text(encoding="utf-8") == HELP.replace(old, new)


def test_a_long_list_of_values_or_commands_is_wrapped(copy: Path) -> None:
    long = ", ".join(f'"value number {number}"' for number in range(9))
    change(copy / "lua" / "acp_nvim" / "config" / "schema.lua", '{ "turn", "command" }', f'{{ "turn", {long} }}')
    catalogue = copy / "lua" / "acp_nvim" / "config" / "catalogue.lua"
    change(
        catalogue, '{ "vibe-acp" }', '{ "vibe-acp" }, { "another-name-of-it", "--with", "options" }, { "a-third-name" }'
    )
    assert generate(copy).returncode == 0
    lines = (copy / "doc" / "acp_nvim.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 79] == []
    at = next(number for number, line in enumerate(lines) if line.startswith("follow.resume  ("))
    assert {line[: len("follow.resume  (")].strip() for line in lines[at + 1 : at + 4]} == {""}
    assert lines[at + 4].strip().startswith("When following resumes")
    assert any(line.startswith("vibe        Mistral Vibe: `vibe-acp`, or `another") for line in lines)


def test_the_fields_of_a_status_follow_those_by_hand() -> None:
    first = "\n    `agent`                 string\n"
    assert status_help.replaced(HELP) == HELP
    assert status_help.replaced(HELP.replace(first, "\n")) == HELP
    for old, missing in (("    `subagents`  ", "no field `subagents`"), (status_help.AFTER, "no `require")):
        with pytest.raises(LookupError, match=missing):
            status_help.replaced(HELP.replace(old, old.replace("`", "").replace("statusline", "status_line")))


def test_a_place_that_is_missing_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "acp_nvim.txt"
    file.write_text(HELP.replace("    `subagents`  ", "    subagents  "), encoding="utf-8")
    monkeypatch.setattr(status_help, "FILE", file)
    assert contract.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("doc/acp_nvim.txt has no field `subagents`, below which")
    assert list(tmp_path.iterdir()) == [file]
