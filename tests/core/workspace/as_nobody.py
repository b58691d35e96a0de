"""Reads or writes a file as a user with no rights: `as_nobody.py read|write PATH [LARGEST FILE]`.

Root may read and write everything, so a process that root started becomes another user first.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOBODY = 65534


@contextlib.contextmanager
def nobodys_directory() -> Iterator[Path]:
    """A directory of that user's, which it can reach."""
    directory = Path(tempfile.mkdtemp(prefix="acp_nvim_nobody_"))
    try:
        give(directory)
        yield directory.resolve()
    finally:
        shutil.rmtree(directory)


def give(path: Path) -> None:
    """Give the file to that user."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)


def as_nobody(action: str, path: Path | str, largest: int | None = None) -> dict[str, Any]:
    """What came of it: `text`, `stamp`, or the words of `refused`."""
    more = [] if largest is None else [str(largest)]
    command = [sys.executable, "-m", __name__, action, str(path), *more]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def main(action: str, path: str, largest: str | None = None) -> dict[str, Any]:
    """Run the action in the process that has lost its rights."""
    from acp_nvim.workspace import disk  # before the rights are gone, among them that to read the sources
    from acp_nvim.workspace.refusals import FileRefusedError

    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        if action == "read":
            return {"text": disk._read(path, None).text}
        expected = disk._read(path, None).stamp if os.path.exists(path) else None
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest), int(largest)))
        return {"stamp": disk._write(path, "new\n" * 1000, "utf-8", expected)}
    except FileRefusedError as error:
        return {"refused": str(error)}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
