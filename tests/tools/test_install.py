"""Installing what is locked, with the real pip and a package that is made here: what it takes, refuses and says."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pip
import pytest

from acp_nvim import pythons
from tests.support.places import ROOT

LOCK = "tiny==1.0 --hash=sha256:{}\n"


def make_wheel(directory: Path, needs: str = "") -> str:
    """Makes `tiny` 1.0, a module with nothing in it; returns its hash."""
    wheel = directory / "tiny-1.0-py3-none-any.whl"
    info = "tiny-1.0.dist-info"
    directory.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("tiny.py", "")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n{needs}")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


@pytest.fixture
def tree(tmp_path):
    """A copy of what installs, with an environment: `tree.run(lock file's text)` installs that."""

    class Tree:
        root = tmp_path / "a träe"
        wheels = tmp_path / "wheels"

        def run(self, lock: str, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
            (self.root / "requirements/run.txt").write_text(lock)
            environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
            environment |= {
                "HOME": str(tmp_path),
                "PATH": os.defpath,  # pip asks a rustc for its version, where there is one
                "PIP_CONFIG_FILE": os.devnull,
                "PIP_FIND_LINKS": self.wheels.as_uri(),
                "PIP_NO_INDEX": "1",
                "PYTHONPATH": str(Path(pip.__file__).parents[1]),  # making one of its own takes seconds
            }
            command = [str(self.root / ".venv/bin/python"), str(self.root / "requirements/install.py"), "run", *more]
            return subprocess.run(command, capture_output=True, text=True, check=False, env=environment | env)

        def imports(self, module: str) -> bool:
            command = [str(self.root / ".venv/bin/python"), "-P", "-E", "-c", f"import {module}"]
            return subprocess.run(command, capture_output=True, check=False, cwd=os.sep).returncode == 0

    found = Tree()
    (found.root / "requirements").mkdir(parents=True)
    (found.root / "acp_nvim").mkdir()
    (found.root / "acp_nvim/__init__.py").touch()
    shutil.copy(ROOT / "requirements/install.py", found.root / "requirements")
    venv.create(found.root / ".venv", symlinks=True)
    return found


def site(tree) -> Path:
    """Where the packages of its environment are."""
    return Path(sysconfig.get_path("purelib", vars={"base": str(tree.root / ".venv")}))


def test_what_is_locked_is_installed_and_the_package_found_where_it_lies(tree):
    done = tree.run(LOCK.format(make_wheel(tree.wheels)))
    assert done.returncode == 0, done.stderr
    assert tree.imports("tiny")
    assert tree.imports("acp_nvim")


def test_another_file_than_the_locked_one_is_refused_in_words(tree):
    make_wheel(tree.wheels)
    done = tree.run(LOCK.format("0" * 64))
    assert done.returncode == 1
    assert "acp_nvim: the package index gave something else for tiny==1.0 than what is locked" in done.stderr
    assert "requirements/run.txt" in done.stderr
    assert "Nothing was installed" in done.stderr
    assert not tree.imports("tiny")
    assert not tree.imports("acp_nvim")


def test_what_no_lock_names_is_not_installed(tree):
    lock = LOCK.format(make_wheel(tree.wheels, needs="Requires-Dist: other\n"))
    (tree.wheels / "other-1.0-py3-none-any.whl").write_bytes(b"not looked at")
    done = tree.run(lock)
    assert done.returncode == 1
    assert "does not name all packages with their hashes" in done.stderr
    assert not tree.imports("tiny")


def test_a_source_is_not_built(tree):
    tree.wheels.mkdir()
    source = tree.wheels / "tiny-1.0.tar.gz"
    source.write_bytes(b"its set-up would run")
    done = tree.run(LOCK.format(hashlib.sha256(source.read_bytes()).hexdigest()))
    assert done.returncode == 1
    assert "the package index has no tiny==1.0 for Python" in done.stderr
    assert f"use one from 3.11 to {'.'.join(map(str, pythons.NEWEST))}" in done.stderr
    assert "network" not in done.stderr


def test_without_the_network_it_says_so(tree):
    env = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1"}
    done = tree.run(LOCK.format("0" * 64), **env)
    assert done.returncode == 1
    assert "the package index could not be reached" in done.stderr
    assert "Check the network" in done.stderr


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
        ("WARNING: odd\nERROR: something new", "pip could not install requirements/run.txt: ERROR: something new"),
        ("", "pip could not install requirements/run.txt: it does not say why"),
    ],
)
def test_other_failures_are_told_in_words(tree, said, words):
    """A module `pip` that only fails stands in for the real one."""
    (tree.root / "pip.py").write_text(f"import sys\nsys.exit({said!r})\n")
    done = tree.run("", PYTHONPATH=str(tree.root))
    assert done.returncode == 1
    assert f"acp_nvim: {words}" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_an_interrupted_installation_left_is_not_taken_for_installed(tree):
    lock = LOCK.format(make_wheel(tree.wheels))
    tree.run(LOCK.format("0" * 64))  # fails: another installation is under way
    half = site(tree) / "tiny-1.0.dist-info"
    half.mkdir()
    (half / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
    done = tree.run(lock)
    assert done.returncode == 0, done.stderr
    assert tree.imports("tiny")


def test_it_can_be_put_elsewhere(tree, tmp_path):
    target = tmp_path / "elsewhere"
    done = tree.run(LOCK.format(make_wheel(tree.wheels)), "--target", str(target))
    assert done.returncode == 0, done.stderr
    assert (target / "tiny.py").exists()
    assert not tree.imports("tiny")


@pytest.fixture
def environment(tree):
    """Gives the tree what set-up needs, and a Neovim; returns the environment variables to run it with."""
    scripts = ("tests/tools/setup.sh", "tests/tools/find_python.sh", "tests/support/find_nvim.py")
    for part in ("Makefile", *scripts, "requirements/probe.py", "acp_nvim/pythons.py"):
        (tree.root / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, tree.root / part)
    (tree.root / "rplugin").mkdir()
    for lock in ("nvim", "run"):
        (tree.root / f"requirements/{lock}.txt").touch()
    nvim = tree.root / "nvim"
    nvim.write_text("#!/bin/sh\necho NVIM v0.11.4\n")
    nvim.chmod(0o755)
    found = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE"))}
    found |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": tree.wheels.as_uri()}
    return found | {"HOME": str(tree.root), "ACP_NVIM_NVIM": str(nvim)}


def test_the_demo_installs_only_what_the_host_needs_and_is_no_development(tree, environment):
    (tree.root / "requirements/run.txt").write_text(LOCK.format(make_wheel(tree.wheels)))
    environment["PYTHONPATH"] = str(Path(pip.__file__).parents[1])
    command = ["sh", "tests/tools/setup.sh", "run"]
    for says in ("installing the host's packages into .venv", ""):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tree.root)
        assert done.returncode == 0, done.stderr
        assert says in done.stdout
        assert bool(done.stdout) is bool(says)
    assert tree.imports("tiny")
    assert (tree.root / ".venv/requirements.txt").read_text() == (tree.root / "requirements/run.txt").read_text()
    assert not (tree.root / ".venv/.stamp").exists()


@pytest.fixture
def base(tree, environment):
    """A Python that makes environments without a pip of their own, which takes seconds; says what it was asked for."""
    asked = tree.root / "asked"
    path = tree.root / "python"
    path.write_text(f"""#!/bin/sh
case "$*" in "-m venv"*) echo "$*" >>"{asked}"; exec "{sys.executable}" "$@" --without-pip ;; esac
exec "{sys.executable}" "$@"
""")
    path.chmod(0o755)
    environment["PYTHONPATH"] = str(Path(pip.__file__).parents[1])
    return path


def test_the_set_up_of_a_fresh_clone_refuses_it_and_is_not_done(tree, environment, base):
    """`make setup` itself: what is refused is refused each time, and once the right one is there it works."""
    digest = make_wheel(tree.wheels)
    shutil.rmtree(tree.root / ".venv")

    def make(wanted: str) -> subprocess.CompletedProcess[str]:
        (tree.root / "requirements/dev.txt").write_text(LOCK.format(wanted))
        command = ["make", ".venv/.stamp", f"PYTHON={base}"]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tree.root)

    for _ in range(2):
        done = make("0" * 64)
        assert done.returncode != 0
        assert "something else for tiny==1.0 than what is locked in requirements/dev.txt" in done.stderr
        assert not (tree.root / ".venv/.stamp").exists()
        assert not tree.imports("tiny")
    done = make(digest)
    assert done.returncode == 0, done.stderr
    assert tree.imports("tiny")
    assert (tree.root / "asked").read_text() == "-m venv --clear .venv\n"
