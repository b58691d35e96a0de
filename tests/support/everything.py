"""Everything in a directory: what a rejection has to bring back."""

from __future__ import annotations

import os
import stat
from pathlib import Path

Everything = dict[str, tuple[int, bytes | str]]


def everything(directory: Path) -> Everything:
    """Directories, files and links, with their modes."""
    found: Everything = {}
    for where, directories, names in os.walk(directory):
        if ".git" in directories:
            directories.remove(".git")
        for name in (*directories, *names):
            path = Path(where, name)
            status = path.lstat()
            content: bytes | str = ""
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                content = path.read_bytes()
            found[str(path.relative_to(directory))] = status.st_mode, content
    return found
