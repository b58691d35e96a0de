"""A copy of the plugin without its Python environment, and pretended Pythons that build one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.support.places import ROOT

PARTS = ("acp_nvim", "lua", "plugin", "requirements", "rplugin")
FILES = ("build.lua", "doc/acp_nvim.txt")

PYTHON = f"""#!/bin/sh
case "$*" in
  *build.py*)
    echo "one step"
    [ -z "$BUILD_GATE" ] || read -r go <"$BUILD_GATE"
    [ -z "$BUILD_FAILS" ] || {{ echo "acp_nvim: $BUILD_FAILS" >&2; exit 1; }}
    root=$(dirname "$(dirname "$2")")
    mkdir -p "$root/.venv/bin"
    printf '#!/bin/sh\\nexec "%s" "$@"\\n' "{sys.executable}" >"$root/.venv/bin/python"
    chmod +x "$root/.venv/bin/python"
    cp "$root/requirements/run.txt" "$root/.venv/requirements.txt"
    ;;
  *) echo 3.12.1 ;;
esac
"""


def copy_plugin(target: Path) -> None:
    """Copies what a user gets, with Python's bytecode, but without an environment."""
    for part in PARTS:
        shutil.copytree(ROOT / part, target / part)
    for name in FILES:
        (target / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target / name)


def pretend_python(directory: Path) -> str:
    """Makes a python3 whose environment is the one that runs the test, at once; returns the value of PATH.

    $BUILD_GATE names a FIFO: the build waits until somebody writes a line into it. $BUILD_FAILS is why it fails.
    """
    directory.mkdir(parents=True)
    python = directory / "python3"
    python.write_text(PYTHON)
    python.chmod(0o755)
    return f"{directory}:/usr/local/bin:/usr/bin:/bin"
