"""The directories of a first snapshot are known, whether or not the last commit has them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from acp_nvim.snapshots.shadow import Shadow


def _git(top: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *words], cwd=top, check=True, stdout=subprocess.DEVNULL)


def _write(top: Path, *names: str) -> None:
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)


@pytest.mark.anyio
@pytest.mark.parametrize("inside", ["", "part"])
@pytest.mark.parametrize("has_commit", [True, False])
async def test_all_directories_are_known(tmp_path: Path, inside: str, has_commit: bool) -> None:
    """Committed, staged, new, and without those whose files are gone."""
    top = tmp_path / "work"
    root = top / inside
    _write(root, "committed/deep/file", "removed/file")
    _git(top, "init", "-q")
    if has_commit:
        _git(top, "add", "-A")
        _git(top, "commit", "-q", "-m", "all")
    _write(root, "staged/deep/file")
    _git(top, "add", "-A")
    _write(root, "new/deep/file")
    (root / "removed" / "file").unlink()
    (root / "removed").rmdir()
    shadow = Shadow(tmp_path / "state" / "git", str(root))
    try:
        known = shadow.directories(await shadow.take())
        assert known is not None
        names = {b"", *(os.fsencode(one.relative_to(root)) for one in root.rglob("*") if one.is_dir())}
        assert {name for name in known.inodes} == {name for name in names if not name.startswith(b".git")}
    finally:
        shadow.close()
