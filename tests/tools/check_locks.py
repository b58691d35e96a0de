"""Checks, without a network, that the lock files fit what pyproject.toml and each package.json ask for."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
NPM = ("tests/peers", "tests/tools/stylua", "tests/tools/tree_sitter_python")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


class Locked(NamedTuple):
    """One package of a lock file: its version, the hashes of its files, for which Pythons and machines."""

    version: str
    hashes: frozenset[str]
    only_for: str


def read_lock(text: str) -> tuple[dict[str, Locked], list[str]]:
    """The packages of a lock file by name, and the lines that have no place in one."""
    packages: dict[str, Locked] = {}
    strange = []
    lines = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n?", "", text, flags=re.MULTILINE)).splitlines()
    for line in filter(str.strip, lines):
        given = re.fullmatch(r"([\w.-]+)==(\S+)((?: ; .+?)?)((?:\s+--hash=\S+)+)\s*", line)
        hashes = given[4].split() if given else []
        if given is None or not all(map(HASH.fullmatch, hashes)):
            strange.append(line)
            continue
        packages[canonicalize_name(given[1])] = Locked(given[2], frozenset(hashes), given[3])
    return packages, strange


def asked_for(root: Path) -> dict[str, list[str]]:
    """Return what pyproject.toml asks for, by the name of the lock file."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    run = project["project"]["dependencies"]
    groups = project["dependency-groups"]
    return {"run": run, **groups, "dev": [*run, *groups["dev"]]}


def problems_of_lock(name: str, asked: list[str], text: str) -> list[str]:
    """What is wrong with one lock file of Python's packages."""
    packages, strange = read_lock(text)
    found = [f"this is not a package with its version and hashes: {line.strip()[:80]}" for line in strange]
    wanted = [(one, "pyproject.toml") for one in map(Requirement, asked)]
    if name in ("run", "dev"):  # the packages of these are installed here
        wanted += [(one, package) for package in packages for one in _needed_by(package)]
    for requirement, who in wanted:
        locked = packages.get(canonicalize_name(requirement.name))
        if locked is None:
            found.append(f"{requirement.name}, which {who} asks for, is not locked")
        elif locked.version not in requirement.specifier:
            found.append(
                f"{requirement.name} is locked at {locked.version}, but {who} asks for {requirement.specifier}"
            )
    return [f"requirements/{name}.txt: {problem}" for problem in found]


def _needed_by(package: str) -> list[Requirement]:
    try:
        needed = importlib.metadata.requires(package) or []
    except importlib.metadata.PackageNotFoundError:  # a package for other machines
        return []
    return [one for one in map(Requirement, needed) if one.marker is None or one.marker.evaluate({"extra": ""})]


def problems_of_npm(place: str, root: Path) -> list[str]:
    """What is wrong with one lock file of npm's packages."""
    asked = json.loads((root / place / "package.json").read_text(encoding="utf-8"))
    text = (root / place / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    own = packages.pop("")
    found = [f"{name} has no hash" for name, locked in packages.items() if "integrity" not in locked]
    if own.get("dependencies") != asked["dependencies"]:
        found.append("package.json asks for something else")
    if '"resolved"' in text:
        found.append("it says where packages come from")
    return [f"{place}/package-lock.json: {problem}" for problem in found]


def problems(root: Path) -> list[str]:
    """What is wrong with the lock files of a copy of this repository."""
    asked = asked_for(root)
    texts = {file.stem: file.read_text(encoding="utf-8") for file in (root / "requirements").glob("*.txt")}
    found = [f"requirements/{name}.txt is missing" for name in asked if name not in texts]
    found += [f"requirements/{name}.txt is of nothing in pyproject.toml" for name in texts if name not in asked]
    for name in asked.keys() & texts.keys():
        found += problems_of_lock(name, asked[name], texts[name])
    run, dev = (read_lock(texts.get(name, ""))[0] for name in ("run", "dev"))
    for name, locked in run.items():
        if name not in dev or dev[name][:2] != locked[:2]:
            found.append(f"requirements/dev.txt: {name} is not the one of requirements/run.txt")
    for place in NPM:
        found += problems_of_npm(place, root)
    return sorted(found)


def main() -> int:
    """Print what is wrong; return 1 if anything is."""
    found = problems(ROOT)
    if found:
        print("\n".join([*found, "after a change of what is asked for, type `make lock`"]), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
