""":checkhealth says what files need: a git that merges, and directories that can be written."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from acp_nvim import pythons
from tests.lua.conftest import LuaEditor

LOST = "the changes cannot be merged"


def section(editor: LuaEditor, name: str = "files") -> str:
    """What the report says of files, or of something else."""
    editor.command("checkhealth acp_nvim")
    _, found, after = editor.buffer_text().partition(f"acp_nvim: {name}")
    assert found
    return after.partition("\nacp_nvim: ")[0]


def pretend_git(editor: LuaEditor, script: str) -> None:
    """Let the PATH have nothing but a git with this script."""
    programs = editor.places.directory / "programs"
    programs.mkdir()
    git = programs / "git"
    git.write_text(f"#!/bin/sh\n{script}\n")
    git.chmod(0o755)
    editor.lua("vim.env.PATH = ...", str(programs))


def test_what_set_up_installs_is_all_that_the_host_needs(editor):
    report = section(editor, "Python host")
    assert "ERROR" not in report
    assert ("OK tree-sitter-bash" in report) is (pythons.newness() is None)
    assert ("gh-106052" in report) is pythons.has_defect()


PRETENDED = """
import re, sys
from importlib import metadata
version, match = metadata.version, re.match
sys.version_info = (3, 15, 2)
metadata.version = lambda name: version("no such package" if name.startswith("tree-sitter") else name)
re.match = lambda pattern, text: match("aca" if pattern == "(?:ab?c)*+" else pattern, text)
"""


def test_what_is_wrong_with_python_is_told_and_is_no_error(editor):
    python = editor.places.directory / "python"
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' -P -E -c '{PRETENDED}'\"$4\" \"$5\"\n")
    python.chmod(0o755)
    editor.lua("vim.g.acp_nvim = { python = ... }", str(python))
    report = section(editor, "Python host")
    assert "ERROR" not in report
    assert f"WARNING Python 3.15.2 at {sys.executable} has a defect of its regular expressions" in report
    assert f"WARNING Python 3.15.2 at {sys.executable} is newer than 3.14" in report
    assert report.count("Name another Python with g:python3_host_prog, and type :AcpBuild.") == 2
    for name in ("tree-sitter", "tree-sitter-bash"):
        assert f"WARNING the Python package {name} is not released for this Python" in report
    assert "OK msgspec" in report


@pytest.mark.parametrize(
    "version", ["2.20.0", "2.39.5 (Apple Git-154)", "2.100.1.windows.2", "2.20.rc1", "2.44.0-rc1", "3.0"]
)
def test_a_git_that_merges_is_well(editor, version):
    pretend_git(editor, f"echo 'git version {version}'")
    report = section(editor)
    assert f"OK git {version}: your unsaved edits are merged" in report
    assert LOST not in report


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'git version 2.19.6'", "git 2.19.6 is older than 2.20"),
        ("echo 'git version 1.99'", "git 1.99 is older than 2.20"),
        ("echo 'what?'", "git does not report its version: no answer that can be read"),
        ("echo 'git version x'", "git does not report its version: no answer that can be read"),
        ("echo 'no tools here' >&2; exit 1", "git does not report its version: no tools here"),
    ],
)
def test_a_git_that_does_not_merge_is_told_with_what_is_lost(editor, script, words):
    pretend_git(editor, script)
    report = section(editor)
    assert f"WARNING {words}" in report
    assert LOST in report
    assert "Install git 2.20 or newer" in report


def test_without_git_it_is_told_what_is_lost(editor, tmp_path):
    editor.lua("vim.env.PATH = ...", str(tmp_path))
    report = section(editor)
    assert "WARNING git was not found" in report
    assert LOST in report


def test_directories_that_can_be_written_are_named_and_left_as_they_were(editor):
    report = section(editor)
    for name in ("state", "cache"):
        path = Path(editor.lua("return vim.fn.stdpath(...)", name))
        assert f"OK {name} directory: {path}" in report
        assert [entry for entry in os.listdir(path) if "health" in entry] == []


@pytest.mark.parametrize("name", ["state", "cache"])
def test_a_directory_that_cannot_be_written_is_an_error(editor, tmp_path, name):
    file = tmp_path / "in the way"
    file.write_text("")
    editor.lua("local name, path = ... vim.env['XDG_' .. name:upper() .. '_HOME'] = path", name, str(file))
    path = editor.lua("return vim.fn.stdpath(...)", name)
    report = section(editor)
    assert f"ERROR the {name} directory cannot be written: {path}: ENOTDIR: not a directory" in report
    assert f"set $XDG_{name.upper()}_HOME" in report
    assert report.count("ERROR") == 1


def test_a_full_disk_is_an_error(editor):
    editor.lua('vim.uv.fs_write = function() return nil, "ENOSPC: no space left on device" end')
    report = section(editor)
    assert report.count("ENOSPC: no space left on device") == 2
    assert [entry for entry in os.listdir(editor.lua("return vim.fn.stdpath('cache')")) if "health" in entry] == []


def test_the_size_of_the_state_directory_is_told_without_worktrees(editor):
    root = Path(editor.lua('return vim.fn.stdpath("state")')) / "acp_nvim"
    for path, size in (
        ("workspaces/p/git/objects/x", 3_000_000),
        ("transcripts/t", 1_000_000),
        ("worktrees/w/f", 10**7),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"x" * size)
    report = " ".join(section(editor).split())
    assert f"OK 4 MB of at most 2000 MB are kept in {root}" in report
    assert "|acp_nvim-state|" in report
    editor.lua('require("acp_nvim").setup({ state = { megabytes = 3 } })')
    report = " ".join(section(editor).split())
    assert f"WARNING 4 MB of at most 3 MB are kept in {root}" in report
    assert f"quit all Neovims and delete directories in {root}/workspaces" in report
