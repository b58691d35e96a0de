"""Reads what a directory of git objects has."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def contents(objects: Path) -> bytes:
    """All objects in the directory, also where it belongs to a repository further up."""
    git = next(one for one in objects.parents if (one / "HEAD").is_file())
    words = ["git", "--git-dir", str(git), "cat-file", "--batch-all-objects", "--batch"]
    there = {**os.environ, "GIT_OBJECT_DIRECTORY": str(objects)}
    return subprocess.run(words, env=there, capture_output=True, check=True).stdout
