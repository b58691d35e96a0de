"""Installs what a lock file of this directory names into the Python that runs this, and nothing else.

`python requirements/install.py run` installs `run.txt`; `--target DIRECTORY` puts it there instead of into the
environment. Each file that pip takes must have a hash of the lock, and be a wheel: to build a package from its source
brings build tools that no lock names. Python's standard library and pip are all that this needs.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
UNREACHED = (
    "connection broken by",
    "Max retries exceeded",
    "Could not fetch URL",
    "Could not install packages due to an OSError: HTTP",
)


def main() -> int:
    """Installs, and says in words why it could not. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Installs what a lock file names.")
    parser.add_argument("lock", choices=sorted(file.stem for file in HERE.glob("*.txt")))
    parser.add_argument("--target", type=Path)
    given = parser.parse_args()
    lock = HERE / f"{given.lock}.txt"
    place = (given.target or Path(sysconfig.get_path("purelib"))).resolve()
    place.mkdir(parents=True, exist_ok=True)
    # there from the first change to the last: what an interrupted installation left is not taken for installed
    unfinished = place / ".acp_nvim-unfinished"
    options = ["--ignore-installed"] if unfinished.exists() else []
    if given.target:
        options += ["--target", str(place), "--upgrade"]
    unfinished.touch()
    code, said = _pip(["install", "--require-hashes", "--only-binary", ":all:", *options, "--requirement", str(lock)])
    if code:
        print(f"acp_nvim: {_in_words(said, lock)}", file=sys.stderr)
        return 1
    if not given.target:
        # a path for Python to look in, as the package is used from where it lies; an installed one needs build tools
        (place / "acp_nvim.pth").write_bytes(os.fsencode(HERE.parent) + b"\n")
    unfinished.unlink()
    return 0


def _pip(arguments: list[str]) -> tuple[int, str]:
    """Runs pip, shows what it says as it says it, and returns its exit code and that text."""
    options = ["--disable-pip-version-check", "--quiet", "--no-input", "--retries", "2"]
    command = [sys.executable, "-m", "pip", *options, *arguments]
    lines = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as pip:
        assert pip.stderr is not None
        for line in pip.stderr:
            lines.append(line)
            sys.stderr.write(line)
    return pip.returncode, "".join(lines)


def _in_words(said: str, lock: Path) -> str:
    """What happened and what to do, from what pip said."""
    name = f"requirements/{lock.name}"
    if "DO NOT MATCH THE HASHES" in said:
        others = re.findall(r"^    (\S+)(?: from .*)?:$", said.partition("DO NOT MATCH THE HASHES")[2], re.MULTILINE)
        return f"""the package index gave something else for {", ".join(others)} than what is locked in {name}.
          Nothing was installed. A download may have been damaged on its way, or somebody changed the package.
          Try again with PIP_NO_CACHE_DIR=1. If it happens again, do not install the package by hand: tell whoever
          maintains this plugin, or your package index. Did you change {name}? git restore requirements"""
    if "--require-hashes mode" in said:
        return f"""{name} does not name all packages with their hashes. Nothing was installed.
          Get the file as it was (git restore requirements), or write it again: make lock"""
    if "No space left on device" in said:
        return "the disk is full. Make room on it."
    if any(words in said for words in UNREACHED):
        return "the package index could not be reached. Check the network, and the proxy if there is one."
    if missing := re.search(r"No matching distribution found for (\S+)", said):
        version = platform.python_version()
        where = f"Python {version} on {sysconfig.get_platform()}"
        return f"""the package index has no {missing[1]} for {where}.
          A new version of Python comes before its packages: use one from 3.11 to 3.14.
          If it is one of these, ask whoever runs your package index"""
    lines = said.strip().splitlines()
    return f"pip could not install {name}: {lines[-1] if lines else 'it does not say why'}"


if __name__ == "__main__":
    sys.exit(main())
