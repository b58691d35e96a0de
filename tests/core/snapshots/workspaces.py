"""Repositories of a user, shadow repositories of them, and what a plain look at the files says."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Changed

USER = ["-c", "user.name=User", "-c", "user.email=user@example.org", "-c", "protocol.file.allow=always"]
USER += ["-c", "maintenance.auto=false"]  # another process after each commit


def git(directory: Path, *words: str) -> str:
    """What the user's git says there."""
    answer = subprocess.run(["git", *USER, *words], cwd=directory, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, (words, answer.stderr)
    return answer.stdout


def repository(directory: Path, **files: str) -> Path:
    """A repository with one commit of these files: `a__b="text"` is the file a/b."""
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "-q")
    for name, text in files.items():
        write(directory / name.replace("__", "/"), text)
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "--allow-empty", "-m", "first")
    return directory


def untracked(directory: Path, **files: str) -> Path:
    """A repository without a commit, and files in it."""
    repository(directory)
    for name, text in files.items():
        write(directory / name.replace("__", "/"), text)
    return directory


def fsck(root: Path, place: Path, tree: str) -> None:
    """All of a snapshot is there and sound, in the shadow repository `place` or in the user's."""
    env = {**os.environ, "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(root / ".git" / "objects")}
    words = ["git", f"--git-dir={place}", "fsck", "--strict", tree]
    answer = subprocess.run(words, cwd=root, env=env, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer


def write(path: Path, text: str | bytes) -> Path:
    """Write a file, and make its directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@asynccontextmanager
async def shadow_of(root: Path, place: Path | None = None, private: Sequence[str] = ()) -> AsyncIterator[Shadow]:
    """Closed at the end; beside `root` when no place is given."""
    shadow = Shadow(place or root.parent / f"{root.name}.shadow" / "git", str(root), private)
    try:
        yield shadow
    finally:
        shadow.close()


def told(root: Path, changed: Sequence[Changed]) -> list[str]:
    """`M path`, `A path`, `D path`, `R old -> path`, relative."""
    return [one_told(root, one) for one in changed]


def one_told(root: Path, one: Changed) -> str:
    """Describe one change."""
    path = os.path.relpath(one.path, root)
    if one.old_path is not None:
        return f"R {os.path.relpath(one.old_path, root)} -> {path}"
    return f"{'A' if one.before is None else 'D' if one.after is None else 'M'} {path}"


def look(directory: Path) -> dict[str, tuple[str, bytes]]:
    """Return every file and link in the directory: its kind and its bytes."""
    found = {}
    for where, directories, names in os.walk(directory):
        for name in [*names, *directories]:
            path = os.path.join(where, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                found[os.path.relpath(path, directory)] = ("link", os.fsencode(os.readlink(path)))
            elif stat.S_ISREG(mode):
                kind = "executable" if mode & stat.S_IXUSR else "file"
                found[os.path.relpath(path, directory)] = (kind, Path(path).read_bytes())
    return found


KIND = {"file": 0o100644, "executable": 0o100755, "link": 0o120000}
