"""The files of transcripts, `<project>/<UTC time>-<random>.jsonl`, which only the user can read."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.state.private_file import make_directory

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
_NAME = pattern(r"[\w.-]{1,80}/[\w-]{1,60}\.jsonl", re.ASCII)


class FoundTranscript(msgspec.Struct, frozen=True):
    """A transcript on disk; `updated` is in seconds since 1970."""

    id: str
    path: Path
    size: int
    updated: float


class TranscriptFile:
    """A file to which lines are appended. While it is open it is locked: no other process removes or writes it.

    `started` is when the conversation began, in seconds since 1970: it becomes a part of the file's name.
    """

    def __init__(self, directory: Path, cwd: str, started: float) -> None:
        """Make a new file. Raises `OSError`."""
        project = directory / _project(cwd)
        make_directory(project)
        stamp = datetime.fromtimestamp(started, UTC)
        self._open(project / f"{stamp:%Y%m%dT%H%M%SZ}-{os.urandom(4).hex()}.jsonl", os.O_CREAT | os.O_EXCL)

    @classmethod
    def reopen(cls, path: Path) -> TranscriptFile:
        """Open a transcript to append to it. Raises `OSError`; `BlockingIOError` if another process writes it."""
        file = cls.__new__(cls)
        file._open(path, 0)
        with path.open("rb") as end:
            end.seek(max(0, os.fstat(end.fileno()).st_size - 1))
            file._torn = end.read(1) not in (b"", b"\n")
        return file

    def _open(self, path: Path, flags: int) -> None:
        self.path = path
        self._file = os.fdopen(os.open(path, _FLAGS | flags, 0o600), "wb", buffering=0)
        self._torn = False
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise
        except OSError:
            pass  # not every file system has locks

    @property
    def id(self) -> str:
        """`<project>/<file>`, which `find` takes; it stays the same as long as the file exists."""
        return f"{self.path.parent.name}/{self.path.name}"

    def write(self, lines: bytes) -> None:
        """Append whole lines. Raises `OSError`; readers ignore a line that was not written to its end."""
        rest = memoryview(b"\n" + lines if self._torn else lines)
        self._torn = True
        while rest:
            rest = rest[os.write(self._file.fileno(), rest) :]
        self._torn = False

    def close(self) -> None:
        """Close the file, and release its lock."""
        self._file.close()


def find(directory: Path, transcript_id: str) -> Path | None:
    """Return the path of the transcript with that id; None if the id is no valid one, or leads elsewhere."""
    return directory / transcript_id if _NAME.fullmatch(transcript_id) else None


def newest_first(directory: Path, cwd: str | None = None) -> list[FoundTranscript]:
    """Return the transcripts below `directory`, of `cwd` or of all projects, sorted by last change."""
    found = []
    for path in directory.glob(f"{_project(cwd) if cwd else '*'}/*.jsonl"):
        with suppress(OSError):  # another Neovim may have removed it
            status = path.stat()
            found.append(FoundTranscript(f"{path.parent.name}/{path.name}", path, status.st_size, status.st_mtime))
    return sorted(found, key=lambda one: one.updated, reverse=True)


def remove_old(directory: Path, days: float, megabytes: float) -> None:
    """Remove transcripts unchanged for `days`, and the oldest beyond `megabytes` in all, unless they are in use."""
    room, oldest = megabytes * 1e6, time.time() - days * 24 * 3600
    for entry in newest_first(directory):
        room -= entry.size
        if (room < 0 or entry.updated < oldest) and not _is_in_use(entry.path):
            with suppress(OSError):
                entry.path.unlink()
    with suppress(OSError):  # there is no such directory
        for project in directory.iterdir():
            with suppress(OSError):  # it is not empty, or a file
                project.rmdir()


def remove(path: Path) -> None:
    """Remove a transcript. Raises `OSError`; `BlockingIOError` if it is in use."""
    if _is_in_use(path):
        raise BlockingIOError(errno.EAGAIN, "it is still being written", str(path))
    path.unlink()


def _is_in_use(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(file)


def _project(cwd: str) -> str:
    """Return the name of the directory of the project at a real path."""
    name = re.sub(r"[^\w.-]", "_", os.path.basename(cwd), flags=re.ASCII)[-40:].lstrip(".")
    return f"{name}-{hashlib.sha256(os.fsencode(cwd)).hexdigest()[:16]}"
