"""Releases of a temporary repository: what prevents one, what CI says, and what is in the archive and the rockspec."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from acp_nvim import __version__
from tests.support.find_nvim import find_nvim
from tests.support.places import ROOT
from tests.tools import release

CHANGES = f"# Changelog\n\n## [Unreleased]\n\n## [{__version__}] - 2026-01-31\n\nThe first one.\n"
TOP = f"acp_nvim-{__version__}"
LOADS_ROCKSPEC = """
local spec = {}
assert(loadfile(_G.arg[1], "t", spec))()
io.write(vim.json.encode(spec))
"""
LOADS_PLUGIN = """
vim.opt.rtp:prepend(_G.arg[1])
vim.cmd.runtime("plugin/acp_nvim.lua")
vim.cmd.help("acp_nvim")
io.write(vim.json.encode({
  vim.api.nvim_buf_get_name(0), vim.fn.exists(":AcpChat"), require("acp_nvim.host.version"),
  require("acp_nvim.host.python").argv(_G.arg[2]),
}))
"""


def commit(root: Path) -> None:
    """Commits all that is there, at one time."""
    release.git(root, "add", "--all")
    release.git(root, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message=it")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A repository with this plugin; of its tests it has one."""
    root: Path = tmp_path_factory.mktemp("release") / "a repository"
    names = release.git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    for name in filter(None, names):
        if (not name.startswith("tests/") or name == "tests/__init__.py") and (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    (root / "CHANGELOG.md").write_text(CHANGES)
    release.git(root, "init", "--quiet")
    commit(root)
    return root


@pytest.fixture(scope="module")
def packed(whole) -> bytes:
    """Return the archive of that repository."""
    return release.archive(whole, __version__)


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """A repository with only what a release needs; its CI does what a file says."""
    for name, text in {
        release.VERSION_FILE: f'__version__ = "{__version__}"\n',
        release.ROCKSPEC: (ROOT / release.ROCKSPEC).read_text(encoding="utf-8"),
        "CHANGELOG.md": CHANGES,
        "doc/acp_nvim.txt": "*acp_nvim*\n",
        ".gitignore": "dist/\nuntracked\n",
        ".ci/run": '#!/bin/sh\ncd "$(dirname "$0")/.." && test ! -e untracked -a ! -e broken -a -z "$PYTEST_ARGS"\n',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".ci/run").chmod(0o755)
    (tmp_path / "untracked").touch()
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    release.git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def tags(root: Path) -> list[str]:
    """The annotated tags of a repository."""
    return release.git(root, "tag", "--list", "--format=%(objecttype) %(refname:short)").splitlines()


def nvim(script: str, directory: Path, *arguments: str) -> str:
    """What a script prints in a Neovim without a configuration."""
    file = directory / "script.lua"
    file.write_text(script)
    command = [find_nvim(), "--clean", "--headless", "-l", str(file), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_good_commit_gets_a_tag_and_its_files(small, capsys, monkeypatch) -> None:
    monkeypatch.setenv("PYTEST_ARGS", "-k none")  # for the tests of a clone it does not count
    assert release.release(small, __version__, dry_run=False) == []
    assert tags(small) == [f"tag v{__version__}"]
    assert f"made the tag v{__version__}" in capsys.readouterr().out
    assert sorted(path.name for path in (small / "dist").iterdir()) == [f"{TOP}-1.rockspec", f"{TOP}.tar.gz"]
    assert "the tag" in release.release(small, __version__, dry_run=False)[0]


def test_a_dry_run_makes_the_files_only(small, capsys) -> None:
    (small / "broken").touch()
    commit(small)
    assert release.release(small, __version__, dry_run=True) == []
    assert "CI was not run" in capsys.readouterr().out
    assert tags(small) == []
    assert release.release(small, __version__, dry_run=False) == ["CI fails on this commit, see above"]
    assert tags(small) == []


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("new", "", "is not clean"),
        (release.VERSION_FILE, '__version__ = "0.0.1"\n', "__init__.py says 0.0.1"),
        ("CHANGELOG.md", CHANGES.replace(" - 2026-01-31", ""), "does not say when"),
        ("CHANGELOG.md", CHANGES.replace("The first one.", ""), "or what changed"),
        ("CHANGELOG.md", CHANGES.replace(__version__, "0.0.1"), "does not begin with"),
        ("CHANGELOG.md", CHANGES.replace("[Unreleased]\n", "[Unreleased]\n\n- new\n"), "unreleased changes"),
    ],
)
def test_what_is_wrong_is_said_and_there_is_no_tag(small, name, text, problem) -> None:
    (small / name).write_text(text)
    if name != "new":
        commit(small)
    assert problem in "\n".join(release.release(small, __version__, dry_run=False))
    assert tags(small) == []
    assert not (small / "dist").exists()


def test_only_a_version_is_one(small) -> None:
    assert "is no version" in release.release(small, "1.0", dry_run=True)[0]


def test_the_same_commit_gives_the_same_bytes_later(small, monkeypatch) -> None:
    now = release.archive(small, __version__)
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)
    assert release.archive(small, __version__) == now


def test_the_archive_has_what_runs(packed, tmp_path) -> None:
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
        tar.extractall(tmp_path)
    root = tmp_path / TOP
    directories = sorted(path.name for path in root.iterdir() if path.is_dir())
    assert directories == ["acp_nvim", "doc", "lua", "plugin", "requirements", "rplugin"]
    assert sorted(path.name for path in (root / "requirements").iterdir()) == [
        "build.py",
        "install.py",
        "probe.py",
        "run.txt",
    ]
    assert sorted(path.name for path in (root / "doc").iterdir()) == [
        "acp_nvim.txt",
        "acp_nvim_guide.txt",
        "interop.md",
        "tags",
    ]
    assert {"build.lua", "README.md", "LICENSE"} <= {path.name for path in root.iterdir()}
    shown = json.loads(nvim(LOADS_PLUGIN, tmp_path, str(root), sys.executable))
    assert shown[:3] == [str(root / "doc/acp_nvim.txt"), 2, __version__]
    command = [part.replace("main()", "import acp_nvim; print(acp_nvim.__file__)") for part in shown[3]]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert loaded.strip() == str(root / "acp_nvim/__init__.py")


def test_a_rock_has_the_directories_of_the_archive(packed, tmp_path) -> None:
    spec = json.loads(nvim(LOADS_ROCKSPEC, tmp_path, str(ROOT / release.ROCKSPEC)))
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        directories = {name.split("/")[1] for name in tar.getnames() if name.count("/") > 1}
    assert set(spec["build"]["copy_directories"]) == directories - {"lua"}
    assert (spec["package"], spec["version"], spec["rockspec_format"]) == ("acp_nvim", "scm-1", "3.0")
    # otherwise lazy.nvim would build with LuaRocks
    assert spec["build"]["type"] == "builtin"
    assert "modules" not in spec["build"]
    assert spec["dependencies"] == ["lua == 5.1"]


def test_the_rockspec_of_a_release_has_its_archive(small, tmp_path) -> None:
    files = release.build(small, __version__)
    spec = json.loads(nvim(LOADS_ROCKSPEC, tmp_path, str(files[1])))
    ours = json.loads(nvim(LOADS_ROCKSPEC, tmp_path, str(ROOT / release.ROCKSPEC)))
    assert spec["version"] == f"{__version__}-1"
    assert spec["source"]["url"].endswith(f"/releases/download/v{__version__}/{files[0].name}")
    assert spec["source"]["dir"] == TOP
    assert len(spec["source"]["md5"]) == 32
    assert {**spec, "version": "", "source": ""} == {**ours, "version": "", "source": ""}
