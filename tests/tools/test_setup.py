"""Set-up and the search for programs: what they say when something is missing, without the network."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.support import find_nvim
from tests.support.places import ROOT


@pytest.fixture
def find_python(tmp_path):
    """Runs the search with pretended Pythons: name -> body of a shell script."""

    def run(chosen: str = "", **pythons: str) -> subprocess.CompletedProcess[str]:
        shutil.copy(shutil.which("sh"), tmp_path / "sh")
        for name, body in pythons.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
            (tmp_path / name).chmod(0o755)
        env = {"PATH": str(tmp_path), "ACP_NVIM_PYTHON": chosen}
        command = [str(tmp_path / "sh"), str(ROOT / "tests/tools/find_python.sh")]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env)

    return run


def test_the_first_good_python_is_taken(find_python, tmp_path):
    found = find_python(python3="exit 3", **{"python3.12": "exit 0", "python3.11": "exit 0"})
    assert found.stdout.strip() == str(tmp_path / "python3.12")
    assert found.stderr == ""


DEFECTIVE = "echo 3.11.2; echo 'it has a defect'; exit 5"
NEWER = "echo 3.15.2; echo 'it is newer'; exit 6"


def test_one_with_a_defect_or_without_some_packages_is_taken_only_if_there_is_no_other(find_python, tmp_path):
    found = find_python(python3=NEWER, **{"python3.11": DEFECTIVE})
    assert (found.stdout, found.stderr) == (f"{tmp_path}/python3.11\n", "acp_nvim: it has a defect\n")
    found = find_python("python3", python3=NEWER)
    assert (found.stdout, found.stderr) == (f"{tmp_path}/python3\n", "acp_nvim: it is newer\n")
    found = find_python(python="exit 0")
    assert (found.stdout, found.stderr) == (f"{tmp_path}/python\n", "")


def test_no_python(find_python):
    found = find_python()
    assert found.returncode == 1
    assert "no Python >= 3.11 found" in found.stderr


def test_what_a_python_says_that_does_not_run_is_told(find_python):
    found = find_python(python3="echo 'pyenv: version `3.12.9` is not installed' >&2; exit 1", python="exit 3")
    assert found.returncode == 1
    assert "no Python >= 3.11 found" in found.stderr
    assert "python3 does not run: pyenv: version `3.12.9` is not installed" in found.stderr


def test_no_venv_module(find_python):
    found = find_python(python3="exit 4")
    assert found.returncode == 1
    assert "its venv module is missing" in found.stderr


def test_the_chosen_python_is_the_only_one_tried(find_python):
    found = find_python("mine", python3="exit 0", mine="exit 3")
    assert found.returncode == 1
    assert "mine is not a Python >= 3.11" in found.stderr
    found = find_python("mine", mine="exit 127")
    assert (found.returncode, found.stderr) == (1, "acp_nvim: mine does not run: it does not say why\n")


def fake_nvim(directory, version):
    path = directory / "nvim"
    path.write_text(f"#!/bin/sh\necho 'NVIM v{version}'\n")
    path.chmod(0o755)
    return path


def test_the_environment_chooses_neovim(tmp_path, monkeypatch):
    path = fake_nvim(tmp_path, "0.12.0-dev")
    monkeypatch.setenv("ACP_NVIM_NVIM", str(path))
    assert find_nvim.find_nvim() == str(path)


def test_an_old_neovim_is_refused_in_words(tmp_path, monkeypatch):
    monkeypatch.setenv("ACP_NVIM_NVIM", str(fake_nvim(tmp_path, "0.10.4")))
    with pytest.raises(find_nvim.NeovimMissing, match=r"is not a Neovim >= 0\.11"):
        find_nvim.find_nvim()


def test_no_neovim_at_all_is_said(monkeypatch):
    monkeypatch.delenv("ACP_NVIM_NVIM", raising=False)
    monkeypatch.setattr(find_nvim, "on_path", lambda: None)
    monkeypatch.setattr(find_nvim, "in_venv", lambda: None)
    with pytest.raises(find_nvim.NeovimMissing, match="make setup"):
        find_nvim.find_nvim()
