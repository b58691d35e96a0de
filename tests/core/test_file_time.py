"""The times of files while other programs change them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from acp_nvim.file_time import status_of

TRUNCATE = """
import sys
while True:
    with open(sys.argv[1], "wb") as file:
        file.write(b"words")
"""


def test_a_file_that_is_being_emptied_has_no_earlier_time(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    Path(path).write_bytes(b"words")
    with subprocess.Popen([sys.executable, "-c", TRUNCATE, path]) as writer:
        try:
            full = 0
            for _ in range(10_000):
                while (before := os.lstat(path)).st_size:
                    full = before.st_ctime_ns
                    assert writer.poll() is None
                assert status_of(path).st_ctime_ns > full
        finally:
            writer.kill()


def test_what_is_no_regular_file_is_looked_at_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    for name in ("fifo", "link"):
        assert status_of(str(tmp_path / name)) == os.lstat(tmp_path / name)
