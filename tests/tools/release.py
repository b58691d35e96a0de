"""Makes a release: checks, CI in a fresh clone, archive, rockspec and tag; `--dry-run` leaves out CI and the tag.

The archive has what `git archive` takes (`.gitattributes` says what it leaves out) and the tags of the help. It is made
of the commit alone: the same commit gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.find_nvim import find_nvim

ROOT = Path(__file__).resolve().parents[2]
VERSION_FILE = "acp_nvim/__init__.py"
ROCKSPEC = "acp_nvim-scm-1.rockspec"
SECTION = re.compile(
    r"^## \[(?P<name>[^]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?$(?P<text>.*?)(?=^## \[|\Z)", re.M | re.S
)


def git(root: Path, *arguments: str) -> str:
    """What git prints; it raises CalledProcessError when git fails."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def problems(root: Path, version: str) -> Iterator[str]:
    """Why this commit cannot become that release, and what to do."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"{version!r} is no version: say one such as VERSION=1.2.3"
        return
    if changed := git(root, "status", "--porcelain"):
        yield f"the work tree is not clean, commit or remove what is changed:\n{changed.rstrip()}"
    said = re.search(r'^__version__ = "(.*)"', (root / VERSION_FILE).read_text(encoding="utf-8"), re.MULTILINE)
    if not said or said[1] != version:
        yield f"{VERSION_FILE} says {said[1] if said else 'no version'}: write {version} there"
    if git(root, "tag", "--list", f"v{version}"):
        yield f"the tag v{version} exists: choose the next version"
    yield from problems_of_changelog((root / "CHANGELOG.md").read_text(encoding="utf-8"), version)


def problems_of_changelog(text: str, version: str) -> Iterator[str]:
    """What CHANGELOG.md lacks: an empty "Unreleased" at its top, then the release with its date and changes."""
    sections = {found["name"]: found for found in SECTION.finditer(text)}
    if list(sections)[:2] != ["Unreleased", version]:
        yield f"CHANGELOG.md does not begin with the sections [Unreleased] and [{version}]"
        return
    if sections["Unreleased"]["text"].strip():
        yield f"CHANGELOG.md has unreleased changes: move them below [{version}]"
    if not sections[version]["date"] or not sections[version]["text"].strip():
        yield f"CHANGELOG.md does not say when {version} was released, or what changed: ## [{version}] - 2026-01-31"


def ci_passes(root: Path) -> bool:
    """Runs `.ci/run` on this commit, in a clone that has nothing else; what this make was told does not reach it."""
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "PYTEST_ARGS")}
    with tempfile.TemporaryDirectory(prefix="acp-release-") as directory:
        git(root, "clone", "--quiet", ".", f"{directory}/acp_nvim")
        return subprocess.run([f"{directory}/acp_nvim/.ci/run"], env=env, check=False).returncode == 0


def help_tags(root: Path) -> bytes:
    """The tags of the help of this commit, as `:helptags` makes them."""
    with tempfile.TemporaryDirectory(prefix="acp-release-") as directory:
        Path(directory, "acp_nvim.txt").write_text(git(root, "show", "HEAD:doc/acp_nvim.txt"), encoding="utf-8")
        command = [find_nvim(), "--clean", "--headless", "-c", f"helptags {directory}", "-c", "quit"]
        subprocess.run(command, capture_output=True, check=True)
        return Path(directory, "tags").read_bytes()


def archive(root: Path, version: str) -> bytes:
    """The archive of this commit, a .tar.gz with one directory."""
    top = f"acp_nvim-{version}/"
    command = ["git", "-c", "tar.umask=0022", "archive", "--format=tar", f"--prefix={top}", "HEAD"]
    packed = io.BytesIO(subprocess.run(command, cwd=root, capture_output=True, check=True).stdout)
    tags = help_tags(root)
    with tarfile.open(fileobj=packed, mode="a") as tar:
        entry = tarfile.TarInfo(f"{top}doc/tags")
        entry.size, entry.mtime = len(tags), int(git(root, "log", "-1", "--format=%ct"))
        tar.addfile(entry, io.BytesIO(tags))
    return gzip.compress(packed.getvalue(), mtime=0)


def rockspec(text: str, version: str, archived: bytes) -> str:
    """Return the rockspec of a release: that of the repository, with the version and the archive as its source."""
    found = re.search(r'url = "git\+(.*)\.git"', text)
    assert found is not None, f"{ROCKSPEC} has no address of a repository"
    source = (
        f'url = "{found[1]}/releases/download/v{version}/acp_nvim-{version}.tar.gz",\n'
        f'  dir = "acp_nvim-{version}",\n'
        f'  md5 = "{hashlib.md5(archived).hexdigest()}"'  # what LuaRocks knows
    )
    return text.replace(found[0], source).replace('"scm-1"', f'"{version}-1"')


def build(root: Path, version: str) -> list[Path]:
    """Writes the archive and the rockspec of this commit into `dist`."""
    archived = archive(root, version)
    dist = root / "dist"
    dist.mkdir(exist_ok=True)
    files = [dist / f"acp_nvim-{version}.tar.gz", dist / f"acp_nvim-{version}-1.rockspec"]
    files[0].write_bytes(archived)
    files[1].write_text(rockspec(git(root, "show", f"HEAD:{ROCKSPEC}"), version, archived), encoding="utf-8")
    return files


def release(root: Path, version: str, dry_run: bool) -> list[str]:
    """Makes the release, or returns why it cannot be made; then there is no tag."""
    if found := list(problems(root, version)):
        return found
    if not dry_run and not ci_passes(root):
        return ["CI fails on this commit, see above"]
    for file in build(root, version):
        print(f"acp_nvim: wrote {file.relative_to(root)}")
    if dry_run:
        print("acp_nvim: this was no release: CI was not run, and there is no tag")
    else:
        git(root, "tag", "--annotate", f"v{version}", "--message", f"acp_nvim {version}")
        print(f"acp_nvim: made the tag v{version}; what follows is in doc/development/releasing.md")
    return []


def main() -> int:
    """Makes the release that is named, in the repository that is named or this one."""
    parser = argparse.ArgumentParser(description="Makes a release of acp_nvim.")
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    given = parser.parse_args()
    for problem in (found := release(given.root, given.version, given.dry_run)):
        print(f"acp_nvim: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
