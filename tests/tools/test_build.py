"""requirements/build.py: a build is complete or changes nothing, whatever happens meanwhile."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.places import ROOT

INSTALL = """
import os, pathlib, sys
reason = pathlib.Path(__file__).with_name("fails")
if reason.exists():
    sys.exit("acp_nvim: " + reason.read_text())
(pathlib.Path(os.environ["NEW"]) / "installed").touch()
"""


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, for a plugin in tmp_path, where making an environment and installing are pretended."""
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/run.txt").write_text("one==1.0\n")
    (tmp_path / "requirements/install.py").write_text(INSTALL)
    spec = importlib.util.spec_from_file_location("build_of_the_host", ROOT / "requirements/build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", ["build.py"])
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "FINISHED", tmp_path / ".venv")
    monkeypatch.setattr(module, "LOCK", tmp_path / "requirements/run.txt")
    monkeypatch.setattr(module.venv, "create", make)
    monkeypatch.setenv("NEW", str(tmp_path / f".venv-{os.getpid()}"))
    return module


def make(new: Path, **given: Any) -> None:
    """Make an environment, in place of `venv.create`."""
    (new / "bin").mkdir(parents=True)
    (new / "bin/python").symlink_to(sys.executable)


def environments(root: Path) -> list[str]:
    """The names of all environments."""
    return sorted(path.name for path in root.glob(".venv*"))


def test_it_builds_once_and_again_when_other_packages_are_locked(build, tmp_path):
    assert build.main() == 0
    assert (tmp_path / ".venv/installed").exists()
    (tmp_path / ".venv/installed").unlink()
    assert build.main() == 0
    assert not (tmp_path / ".venv/installed").exists()
    (tmp_path / "requirements/run.txt").write_text("one==1.1\n")
    assert build.main() == 0
    assert (tmp_path / ".venv/installed").exists()
    assert environments(tmp_path) == [".venv"]


def test_a_failure_changes_nothing_and_says_why(build, tmp_path, capfd):
    build.main()
    (tmp_path / ".venv/mine").touch()
    (tmp_path / "requirements/fails").write_text("no network.")
    sys.argv.append("again")
    with pytest.raises(SystemExit) as ended:
        build.main()
    assert ended.value.code == 1
    assert capfd.readouterr().err == "acp_nvim: no network.\n"
    assert (tmp_path / ".venv/mine").exists()
    assert environments(tmp_path) == [".venv"]


def test_what_interrupted_builds_left_is_removed_and_never_used(build, tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (f".venv-{ended.pid}", f".venv-{ended.pid}-old", f".venv-{os.getppid()}"):
        make(tmp_path / name)
    assert build.main() == 0
    assert environments(tmp_path) == [".venv", f".venv-{os.getppid()}"]  # that process still runs
    assert (tmp_path / ".venv/installed").exists()


def test_another_neovim_that_was_faster_is_right(build, tmp_path, monkeypatch):
    """Its environment appears in the moment between the two renames."""
    rename = Path.rename

    def rename_late(self: Path, target: Path) -> Path:
        if target == tmp_path / ".venv":
            make(target)
            (target / "requirements.txt").write_text("one==1.0\n")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", rename_late)
    assert build.main() == 0
    assert not (tmp_path / ".venv/installed").exists()
    assert environments(tmp_path) == [".venv"]


def test_a_directory_that_cannot_be_written_is_named(build, tmp_path, monkeypatch, capsys):
    def refuse(new: Path, **given: Any) -> None:
        raise PermissionError(13, "Permission denied", str(new))

    monkeypatch.setattr(build.venv, "create", refuse)
    assert build.main() == 1
    said = capsys.readouterr().err
    assert f"acp_nvim: {tmp_path}/.venv-{os.getpid()} cannot be written: Permission denied." in said
    assert "the option `python`" in said


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (
            b"Traceback\nNo module named pip\nsubprocess.CalledProcessError: much\n",
            "No module named pip. Install Python's",
        ),
        (b"ERROR: [Errno 28] No space left on device\nCalledProcessError\n", "acp_nvim: the disk is full. Make room"),
        (b"", "cannot make environments: it does not say why. Install Python's venv module"),
    ],
)
def test_a_venv_module_that_does_not_work_is_told(build, monkeypatch, capsys, output, words):
    def fail(new: Path, **given: Any) -> None:
        raise subprocess.CalledProcessError(1, "ensurepip", output=output)

    monkeypatch.setattr(build.venv, "create", fail)
    assert build.main() == 1
    assert words in capsys.readouterr().err
