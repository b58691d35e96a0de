"""Set-up and the search for programs: what they say when something is missing, without the network."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.support import find_nvim
from tests.support.editor_tests import EDITOR, is_about_the_editor
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


def test_a_neovim_of_another_version_is_found_beside_the_one_that_is_used(tmp_path, monkeypatch):
    places = {name: tmp_path / name for name in ("used", "same", "other", "brought")}
    for place in places.values():
        place.mkdir()
    versions = {"used": "0.11.4", "same": "0.11.9", "other": "0.12.1", "brought": "0.13.0"}
    paths = {name: str(fake_nvim(places[name], version)) for name, version in versions.items()}
    monkeypatch.setenv("ACP_NVIM_NVIM", paths["used"])
    monkeypatch.setattr(find_nvim, "on_path", lambda: paths["same"])
    monkeypatch.setattr(find_nvim, "in_venv", lambda: paths["other"])
    monkeypatch.setattr(find_nvim, "BROUGHT", tmp_path / "brought/nvim")
    assert find_nvim.other_nvim() == paths["other"]
    monkeypatch.setattr(find_nvim, "in_venv", lambda: None)
    assert find_nvim.other_nvim() == paths["brought"]
    monkeypatch.setattr(find_nvim, "BROUGHT", tmp_path / "none")
    with pytest.raises(find_nvim.NeovimMissing, match="of another version"):
        find_nvim.other_nvim()


@pytest.fixture
def set_up_other(tmp_path):
    """Runs the search for another Neovim in a copy of the repository, with only these programs: name -> shell."""
    root, programs = tmp_path / "root", tmp_path / "programs"
    for name in ("tests/tools/setup_other_nvim.sh", "tests/support/find_nvim.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    programs.mkdir()

    def run(**bodies: str) -> subprocess.CompletedProcess[str]:
        for name in ("sh", "cat", "cut", "dirname", "find", "grep", "head", "id", "mkdir", "mv", "rm", "sed", "sort",
                     "tail", "tr"):  # fmt: skip
            if not (programs / name).exists():
                (programs / name).symlink_to(str(shutil.which(name)))
        venv = root / ".venv/bin"
        venv.mkdir(parents=True, exist_ok=True)
        for name, body in bodies.items():
            path = venv / name if name == "python" else programs / name.replace("_", "-")
            path.write_text(f"#!{shutil.which('sh')}\n{body}\n")
            path.chmod(0o755)
        command = [str(programs / "sh"), str(root / "tests/tools/setup_other_nvim.sh")]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": str(programs)})

    return run


NONE = "exit 1"


def test_set_up_says_in_one_line_that_there_is_no_other_neovim(set_up_other):
    said = set_up_other(python=NONE)
    words = "acp_nvim: no other Neovim to test with: there is none on PATH, and no apt-get here\n"
    assert (said.returncode, said.stdout, said.stderr) == (0, words, "")


def test_set_up_does_not_fail_where_another_neovim_cannot_be_brought(set_up_other):
    said = set_up_other(python=NONE, apt_get="echo 'no network' >&2; exit 100", apt_cache="exit 0", dpkg="exit 0")
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.splitlines()[1].startswith("acp_nvim: no other Neovim to test with: ")
    assert said.stdout.splitlines()[1].endswith("(.cache/other_nvim/log)")


def test_set_up_takes_another_neovim_that_is_there(set_up_other, tmp_path):
    path = fake_nvim(tmp_path, "0.12.4")
    said = set_up_other(python=f"echo '{path}'")
    assert (said.returncode, said.stdout) == (0, "acp_nvim: another version beside it: NVIM v0.12.4\n")


def made(*arguments: str, **env: str) -> str:
    """What `make test` would run; the make that runs this test, and Neovim, do not reach it."""
    command = ["make", "-n", "test", *arguments]
    env = {"PATH": os.environ["PATH"], **env}
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=env).stdout


def test_a_chosen_neovim_runs_the_tests():
    shown = made("NVIM=some/nvim", "PYTEST_ARGS=--editor")
    assert f'ACP_NVIM_NVIM="{ROOT}/some/nvim" .venv/bin/python -m pytest' in shown
    assert "--editor" in shown
    assert "ACP_NVIM_NVIM" not in made(NVIM="/run/nvim.sock")  # the NVIM of a terminal in Neovim


def test_the_files_that_are_run_with_another_neovim_exist():
    for name in EDITOR:
        path = ROOT / name
        assert path.is_dir() if name.endswith("/") else path.is_file(), name
        assert is_about_the_editor(name)
    assert not is_about_the_editor("tests/core/test_layers.py")
