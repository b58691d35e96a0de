"""build.lua, with pretended Pythons: what it runs, and what it says when that fails."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.find_nvim import find_nvim
from tests.support.places import ROOT

RUNTIME = str(Path(find_nvim()).parents[1] / "share/nvim/runtime")
PYTHON = """#!/bin/sh
case "$*" in
  *build.py*) echo "$@" >>"$LOG"; echo "one step"; [ -z "$FAILS" ] || { echo "$FAILS" >&2; exit 1; } ;;
  *) echo VERSION; echo "in words"; echo "SAID" >&2; exit CODE ;;
esac
"""


@pytest.fixture
def build(tmp_path):
    """Runs build.lua of a copy, with pretended Pythons; returns the result and how build.py was run."""
    plugin = tmp_path / "a plugin"
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    lua = ("build.lua", "lua/acp_nvim/host/environment.lua", "lua/acp_nvim/names.lua")
    for part in (*lua, "requirements/run.txt", "doc/acp_nvim.txt"):
        (plugin / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, plugin / part)
    (bin_directory / "sh").symlink_to(shutil.which("sh"))
    log = tmp_path / "log"

    def python(name: str, version: str = "3.12.1", code: int = 0, said: str = "") -> None:
        script = PYTHON.replace("VERSION", version).replace("CODE", str(code)).replace("SAID", said)
        (bin_directory / name).write_text(script.replace("build.py*)", f'build.py*) echo "{name}" >>"$LOG.by";'))
        (bin_directory / name).chmod(0o755)

    def run(*arguments: str, **env: str) -> tuple[subprocess.CompletedProcess[str], str]:
        command = arguments or (find_nvim(), "--clean", "--headless", "-l", str(plugin / "build.lua"))
        environment = {**os.environ, "PATH": str(bin_directory), "LOG": str(log), "FAILS": "", "HOME": str(tmp_path)}
        answer = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment | env, cwd=tmp_path
        )
        return answer, log.read_text() if log.exists() else ""

    run.plugin, run.python = plugin, python
    return run


def test_builds_with_the_first_good_python_and_makes_the_help_tags(build):
    build.python("python3", "3.9.2", 3)
    build.python("python3.13", "3.13.0")
    answer, asked = build()
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() == ["acp_nvim: one step", "acp_nvim: ready; see :checkhealth acp_nvim"]
    assert asked == f"-I {build.plugin}/requirements/build.py\n"
    assert "acp_nvim-setup\t" in (build.plugin / "doc/tags").read_text()


def built_by(build) -> str:
    """The name of the Python that has built last."""
    assert build()[0].returncode == 0
    return (build.plugin.parent / "log.by").read_text().split()[-1]


def test_a_python_that_lacks_something_is_taken_only_if_there_is_no_other(build):
    build.python("python3", "3.15.2", 6)
    assert built_by(build) == "python3"
    build.python("python3.11", "3.11.2", 5)
    assert built_by(build) == "python3.11"
    build.python("python", "3.14.1")
    assert built_by(build) == "python"


def test_the_python_that_the_user_has_named_is_taken_if_it_can_be(build):
    build.python("python3")
    for name, code, by in (("defective", 5, "defective"), ("newer", 6, "newer"), ("old", 3, "python3")):
        build.python(name, code=code)
        chosen = f"lua vim.g.python3_host_prog = '{name}'"
        answer, _ = build(find_nvim(), "--clean", "--headless", "--cmd", chosen, "-l", str(build.plugin / "build.lua"))
        assert answer.returncode == 0, answer.stderr
        assert (build.plugin.parent / "log.by").read_text().split()[-1] == by


def failed(answer: subprocess.CompletedProcess[str]) -> str:
    assert answer.returncode == 1
    assert "traceback" not in answer.stderr.lower()
    assert answer.stderr.startswith("acp_nvim: the Python environment was not built: ")
    assert answer.stderr.rstrip().endswith("Then type :AcpBuild.")
    return answer.stderr


def test_without_python_it_says_so(build):
    assert "no Python was found: the host needs Python 3.11 or newer" in failed(build()[0])


def test_what_a_python_says_that_does_not_run_is_told(build):
    build.python("python3.12", code=127, said="pyenv: python3.12: command not found\nThese have it:")
    words = "bin/python3.12 does not run: pyenv: python3.12: command not found. Install it"
    assert words in failed(build()[0])
    build.python("python3", "3.9.2", 3)
    assert words.replace("it", "one beside it") in failed(build()[0])
    build.python("python3.12", code=1)
    assert "bin/python3.12 does not run: exit code 1. Install one" in failed(build()[0])


def test_an_old_python_is_named(build):
    build.python("python", "2.7.18", 3)
    assert "Python 2.7.18 (" in failed(build()[0])
    assert "bin/python) is too old: the host needs Python 3.11 or newer" in failed(build()[0])


def test_a_missing_venv_module_is_named(build):
    build.python("python3.11", "3.9.1", 3)
    build.python("python3", "3.11.2", 4)
    assert "bin/python3) cannot make environments: its venv module is missing" in failed(build()[0])


def test_the_reason_of_the_script_is_told_without_what_pip_says(build):
    build.python("python3")
    answer, _ = build(FAILS="WARNING: much\nacp_nvim: no network.\n          Check it.")
    assert (
        failed(answer) == "acp_nvim: the Python environment was not built: no network. Check it. Then type :AcpBuild.\n"
    )


def refused(build, *arguments: str, **env: str) -> None:
    answer, asked = build(*arguments, **env)
    assert answer.returncode == 1
    assert f"To update it, type `make setup` in {build.plugin}" in answer.stderr
    assert asked == ""


def test_the_environment_of_development_is_kept(build):
    build.python("python3")
    (build.plugin / ".venv").mkdir()
    (build.plugin / ".venv/.stamp").write_text("what make setup has installed")
    refused(build)


def test_an_environment_with_the_running_neovim_is_kept(build):
    """`make demo` brings one when the machine has none."""
    build.python("python3")
    nvim = build.plugin / ".venv/lib/nvim"
    nvim.parent.mkdir(parents=True)
    shutil.copy(find_nvim(), nvim)
    refused(build, str(nvim), "--clean", "-l", str(build.plugin / "build.lua"), VIMRUNTIME=RUNTIME)


@pytest.mark.parametrize("fails", ["", "acp_nvim: no network."])
def test_in_lazy_it_yields_its_progress(build, fails):
    """lazy.nvim's loader: `loadfile`, and the chunk runs in a coroutine whose yields are shown and that may raise."""
    build.python("python3")
    driver = (
        "package.loaded['lazy.async'] = {} local said = {} "
        f"local co = coroutine.create(assert(loadfile('{build.plugin}/build.lua'))) "
        "local function step() local ok, words = coroutine.resume(co) "
        "if words then table.insert(said, words) end return coroutine.status(co) == 'dead' end "
        "assert(vim.wait(10000, step)) io.stdout:write(table.concat(said, '|'))"
    )
    answer, _ = build(find_nvim(), "--clean", "--headless", "-c", f"lua {driver}", "-c", "qall!", FAILS=fails)
    last = "acp_nvim: the Python environment was not built: no network. Then type :AcpBuild." if fails else None
    assert answer.stdout.split("|") == ["one step", last or "ready; see :checkhealth acp_nvim"]
