"""The files: names, modes, torn writes, two writers, and which old ones go."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from acp_nvim.history.files import TranscriptFile, find, newest_first, remove, remove_old


def made(directory: Path, cwd: str, size: int, age: float = 0.0) -> Path:
    """A transcript that nobody writes any more; `age` in days."""
    file = TranscriptFile(directory, cwd, 0.0)
    file.write(b"x" * (size - 1) + b"\n")
    file.close()
    status = file.path.stat()
    os.utime(file.path, (status.st_atime, status.st_mtime - age * 24 * 3600))
    return file.path


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    path = made(tmp_path / "transcripts", "/some/pro ject", 10)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.parent.name.startswith("pro_ject-")


def test_two_writers_of_a_project_have_a_file_each(tmp_path: Path) -> None:
    files = [TranscriptFile(tmp_path, "/p", 0.0) for _ in range(20)]
    for file in files:
        file.write(b"line\n")
        file.write(b"line\n")
    assert len({file.path for file in files}) == 20
    assert all(file.path.read_bytes() == b"line\nline\n" for file in files)
    for file in files:
        file.close()


def test_after_a_write_that_failed_halfway_the_next_one_begins_a_line(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path, "/p", 0.0)
    real = os.write
    counts = iter([3])

    def half(descriptor: int, data: bytes) -> int:
        if (count := next(counts, None)) is None:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[:count])

    with patch.object(os, "write", half), pytest.raises(OSError, match="space"):
        file.write(b"first\n")
    file.write(b"second\n")
    file.close()
    assert file.path.read_bytes() == b"fir\nsecond\n"


def test_the_newest_come_first_and_a_project_alone(tmp_path: Path) -> None:
    old, new = made(tmp_path, "/a", 5, age=2), made(tmp_path, "/a", 5, age=1)
    other = made(tmp_path, "/b/a", 5)
    assert [one.path for one in newest_first(tmp_path)] == [other, new, old]
    assert [one.path for one in newest_first(tmp_path, "/a")] == [new, old]
    assert find(tmp_path, newest_first(tmp_path)[0].id) == other


@pytest.mark.parametrize("name", ["../x/y.jsonl", "a/../../b.jsonl", "/etc/passwd", "a/b.txt", "a/b/c.jsonl", ""])
def test_no_other_file_has_an_id(tmp_path: Path, name: str) -> None:
    assert find(tmp_path, name) is None


def test_old_ones_and_those_beyond_the_size_are_removed(tmp_path: Path) -> None:
    ancient = made(tmp_path, "/alone", 1000, age=40)
    kept = [made(tmp_path, "/p", 1_000_000, age=age) for age in (1, 2)]
    beyond = [made(tmp_path, "/p", 1_000_000, age=age) for age in (3, 4)]
    remove_old(tmp_path, days=30, megabytes=2.5)
    assert [path.exists() for path in kept] == [True, True]
    assert [path.exists() for path in [*beyond, ancient]] == [False, False, False]
    assert not ancient.parent.exists()


def test_one_that_is_being_written_is_not_removed(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path, "/p", 0.0)
    file.write(b"x\n")
    os.utime(file.path, (0, 0))
    remove_old(tmp_path, days=1, megabytes=0)
    assert file.path.exists()
    file.close()
    remove_old(tmp_path, days=1, megabytes=0)
    assert not file.path.exists()


def test_where_there_is_nothing_nothing_is_removed(tmp_path: Path) -> None:
    remove_old(tmp_path / "none", days=1, megabytes=1)
    assert newest_first(tmp_path / "none") == []


def test_a_file_goes_on_after_what_was_torn_and_only_one_writes_it(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path, "/p", 0.0)
    file.write(b"one\n")
    with pytest.raises(BlockingIOError):
        TranscriptFile.reopen(file.path)
    with pytest.raises(BlockingIOError):
        remove(file.path)
    file.close()
    file.path.write_bytes(b"one\ntor")
    again = TranscriptFile.reopen(file.path)
    again.write(b"two\n")
    again.close()
    assert file.path.read_bytes() == b"one\ntor\ntwo\n"
    whole = TranscriptFile.reopen(file.path)
    whole.write(b"three\n")
    whole.close()
    assert file.path.read_bytes() == b"one\ntor\ntwo\nthree\n"
    remove(file.path)
    with pytest.raises(FileNotFoundError):
        TranscriptFile.reopen(file.path)
