"""build.lua, without the network: what it runs, and what it says when that fails."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.support.find_nvim import find_nvim
from tests.support.places import ROOT

PYTHON = """#!/bin/sh
echo "$@" >>"$LOG"
case "$*" in
  *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  *install.py*) [ -z "$OFFLINE" ] || { echo "no route to host" >&2; exit 1; } ;;
esac
"""


@pytest.fixture
def build(tmp_path):
    """Runs build.lua of a copy, with a pretended Python; returns the result and what that Python was asked."""
    plugin = tmp_path / "a plugin"
    bin_directory = tmp_path / "bin"
    plugin.mkdir()
    bin_directory.mkdir()
    shutil.copy(ROOT / "build.lua", plugin)
    log = tmp_path / "log"

    def run(*arguments: str, python: bool = True, **env: str) -> tuple[subprocess.CompletedProcess[str], str]:
        if python:
            (bin_directory / "python3").write_text(PYTHON)
            (bin_directory / "python3").chmod(0o755)
        for name in ("sh", "mkdir", "cp"):
            link = bin_directory / name
            if not link.exists():
                link.symlink_to(shutil.which(name))
        command = [find_nvim(), "--clean", "--headless", *(arguments or ("-l", str(plugin / "build.lua")))]
        environment = {
            **os.environ,
            "PATH": str(bin_directory),
            "LOG": str(log),
            "OFFLINE": "",
            "HOME": str(tmp_path),
            **env,
        }
        answer = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
        return answer, log.read_text() if log.exists() else ""

    run.plugin = plugin
    return run


def test_makes_the_environment_and_installs(build):
    answer, asked = build()
    assert answer.returncode == 0, answer.stderr
    assert "ready" in answer.stdout
    assert f"-m venv --clear {build.plugin}/.venv" in asked
    assert f"{build.plugin}/requirements/install.py run" in asked


def test_the_second_time_keeps_the_environment(build):
    build()
    answer, asked = build()
    assert answer.returncode == 0, answer.stderr
    assert asked.count("-m venv") == 1


def test_without_python_it_says_so(build):
    answer, _ = build(python=False)
    assert answer.returncode == 1
    assert "no Python >= 3.11" in answer.stderr


def test_offline_it_says_why(build):
    answer, _ = build(OFFLINE="1")
    assert answer.returncode == 1
    assert "installing the host's packages failed" in answer.stderr
    assert "no route to host" in answer.stderr


def test_in_lazy_it_yields_its_progress(build):
    driver = (
        "package.loaded['lazy.async'] = {} local said = {} "
        f"local co = coroutine.create(assert(loadfile('{build.plugin}/build.lua'))) "
        "local function step() local ok, words = coroutine.resume(co) assert(ok, words) "
        "if words then table.insert(said, words) end return coroutine.status(co) == 'dead' end "
        "assert(vim.wait(10000, step)) io.stdout:write(table.concat(said, '|'))"
    )
    answer, _ = build("-c", f"lua {driver}", "-c", "qall!")
    assert answer.stdout.split("|") == [
        "making .venv with python3",
        "installing the host's packages into .venv",
        "ready; see :checkhealth acp_nvim",
    ]
