"""The times of files while other programs change them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acp_nvim.file_time import next_tick, now, status_of

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


def test_a_tick_divides_what_is_changed_before_and_after_it(tmp_path: Path) -> None:
    """A file that was looked at since the last tick has a later time than others (Linux 6.13 and later)."""
    path = tmp_path / "file"
    path.write_bytes(b"")
    for number in range(300):
        for _ in range(number % 7):
            os.chmod(path, 0o600)
            os.lstat(path)
        began = now()
        os.chmod(path, 0o600)
        before = os.lstat(path).st_ctime_ns
        tick = next_tick()
        os.chmod(path, 0o600)
        assert began <= before < tick <= os.lstat(path).st_ctime_ns


def test_a_tick_does_not_wait_for_a_clock_that_was_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    hour = 3600 * 10**9
    times = iter([hour])
    monkeypatch.setattr(time, "time_ns", lambda real=time.time_ns: real() + next(times, 0))
    assert next_tick() < time.time_ns() + hour // 2


def test_what_is_no_regular_file_is_looked_at_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    for name in ("fifo", "link"):
        assert status_of(str(tmp_path / name)) == os.lstat(tmp_path / name)
