"""Looks at the files of a work tree, hashes them, and knows which look secret."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable
from typing import Final, NamedTuple

from acp_nvim.process import umask
from acp_nvim.snapshots.objects import BLOB, EXECUTABLE, FILE, LEFT_OUT, SYMLINK, LooseObjects, TreeEntry, object_id
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.workspace.regular_files import READ_NOW, read_regular

SNAPSHOT_FILE_BYTES: Final = 32 * 1024 * 1024
"""Size of a file whose content is kept: the largest that is served as text."""

SETTLED_NS: Final = 2_000_000_000
"""A file that was changed so shortly before it was read may change again without a new time: some count seconds."""


class FoundFile(NamedTuple):
    """A path of a work tree, relative to its top, and what was found under it."""

    path: bytes
    key: str = ""
    """The same as long as the file is; "" when there is no regular file and no link."""
    size: int = 0
    left_out: TreeEntry | None = None
    """The entry in a tree of a file whose content cannot or should not be kept."""
    refused: bool = False
    """git would not take it: a socket, say, or a link with a name that it keeps for itself."""
    mode: int = FILE
    """As a tree has it; of a regular file."""
    is_private: bool = False
    """A regular file that only its owner may read."""
    is_secret: bool = False
    """Its content is in memory only, and a tree has it as left out."""


def look(top: bytes, paths: Iterable[bytes]) -> list[FoundFile]:
    """Look at each path below `top` now, without following links. Blocks."""
    return [_look(top, path) for path in paths]


def is_too_large(size: int) -> bool:
    """Whether a file of that many bytes is left out."""
    return size > SNAPSHOT_FILE_BYTES


def _look(top: bytes, path: bytes) -> FoundFile:
    full = top + b"/" + path
    try:
        status = os.lstat(full)
    except OSError:
        return FoundFile(path)
    if stat.S_ISDIR(status.st_mode):
        return FoundFile(path)
    if _is_refused(path, status):
        return FoundFile(path, refused=True)
    key = _key(status)
    kept = stat.S_ISLNK(status.st_mode) or (not is_too_large(status.st_size) and os.access(full, os.R_OK))
    mode = EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE
    is_private = stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077
    return FoundFile(path, key, status.st_size, None if kept else _left_out(key), mode=mode, is_private=is_private)


def _is_refused(path: bytes, status: os.stat_result) -> bool:
    if stat.S_ISLNK(status.st_mode):
        return os.path.basename(path).lower() == b".gitmodules"
    return not stat.S_ISREG(status.st_mode)


def _key(status: os.stat_result) -> str:
    kind = "l" if stat.S_ISLNK(status.st_mode) else "x" if status.st_mode & stat.S_IXUSR else "f"
    return f"{kind} {status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def as_secret(found: FoundFile) -> FoundFile:
    """Return the same file as one whose content is left out of snapshots, because it holds secrets."""
    return found._replace(left_out=_left_out(found.key), is_secret=True)


def _left_out(key: str) -> TreeEntry:
    return TreeEntry(LEFT_OUT, hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest())


def keep_file(objects: LooseObjects, top: bytes, path: bytes) -> tuple[str, TreeEntry | None]:
    """Store the content; returns the key that it is good for ("" when the file may change unseen) and its entry.

    None when there is no such file any more. Blocks; raises `OSError` when there is no room.
    """
    before = time.time_ns()
    full = top + b"/" + path
    try:
        status = os.lstat(full)
        data = os.readlink(full) if stat.S_ISLNK(status.st_mode) else _read(full)
    except OSError:
        found = _look(top, path)
        return "", found.left_out
    mode = SYMLINK if stat.S_ISLNK(status.st_mode) else EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE
    settled = max(status.st_mtime_ns, status.st_ctime_ns) + SETTLED_NS < before
    return _key(status) if settled else "", TreeEntry(mode, objects.write(BLOB, data))


def _read(path: bytes) -> bytes:
    """Raises `OSError`, also when it is no regular file, or has grown too large."""
    data = read_regular(path, SNAPSHOT_FILE_BYTES + 1, READ_NOW | os.O_NOFOLLOW)
    if len(data) > SNAPSHOT_FILE_BYTES:
        raise OSError("too large")
    return data


SECRET_FILE_BYTES: Final = 1024 * 1024
"""Size of a file with secrets whose content is remembered: keys and settings have some thousand bytes."""
SECRET_FILES_BYTES: Final = 32 * 1024 * 1024
"""Memory for all of them, of one workspace and in all their versions."""
PRIVATE_FILES: Final = 200
"""Files that nobody else may read, up to which that means something: more of them say how the user makes files."""

_NAMES: Final = re.compile(
    rb"\.env(?!\.(?:example|sample|template|dist|defaults)$).*"
    rb"|id_[^.]+|.+\.(?:pem|key|kdbx|p12|pfx|jks|keystore)"
    rb"|[._]netrc|\.pgpass|\.pypirc|\.npmrc|\.git-credentials",
    re.IGNORECASE | re.DOTALL,
)
"""What names of files say: settings with passwords, private keys (`id_rsa`, not `id_rsa.pub`), stores of passwords."""


_ENDS: Final = (
    *(b".pem\0", b".key\0", b".kdbx\0", b".p12\0", b".pfx\0", b".jks\0", b".keystore\0"),
    *(b"netrc\0", b".pgpass\0", b".pypirc\0", b".npmrc\0", b".git-credentials\0"),
)
_BEGINNINGS: Final = (b".env", b"id_")


def looks_secret(path: bytes) -> bool:
    """Whether the name of a file promises secrets."""
    return _NAMES.fullmatch(os.path.basename(path)) is not None


def may_name_secrets(names: bytes) -> bool:
    """Whether one of these names, in lower case with a NUL around each, may promise secrets."""
    return any(end in names for end in _ENDS) or any(
        part in names for begin in _BEGINNINGS for part in (b"/" + begin, b"\0" + begin)
    )


def private_ones(found: Iterable[FoundFile]) -> list[bytes]:
    """The files that nobody else may read. None of them when there are many: that is how the user makes files."""
    if umask.of_users() >= 0 and umask.of_users() & umask.PRIVATE == umask.PRIVATE:
        return []
    paths = [one.path for one in found if one.is_private]
    return paths if len(paths) <= PRIVATE_FILES else []


class SecretFiles:
    """The contents of secret files, as snapshots have found them; in memory only, as long as the host lives."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._data: dict[str, bytes] = {}
        self._blobs: dict[str, Blob] = {}
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<SecretFiles {sorted(self._paths)}>"

    def __contains__(self, oid: str) -> bool:
        return oid in self._data

    def is_secret(self, path: str) -> bool:
        """Whether the file at that absolute path is one: by its name, or it was found to be."""
        return path in self._paths or looks_secret(os.fsencode(path))

    def look(self, top: bytes, found: Iterable[FoundFile]) -> None:
        """Remember files, which a tree has as left out. Blocks."""
        for one in found:
            self._look(top, one)

    def _look(self, top: bytes, found: FoundFile) -> None:
        assert found.left_out is not None
        path = os.path.join(top, found.path)
        self._paths.add(os.fsdecode(path))
        if found.left_out.oid in self._blobs or found.size > SECRET_FILE_BYTES:
            return
        try:
            data = read_regular(path, SECRET_FILE_BYTES + 1, READ_NOW | os.O_NOFOLLOW)
        except OSError:
            return
        oid = self.put(data)
        if oid is not None:
            self._blobs[found.left_out.oid] = Blob(oid, found.mode)

    def put(self, data: bytes) -> str | None:
        """Remember a content; returns its id. None when it is too much for the memory."""
        oid = object_id(BLOB, data)
        if oid not in self._data:
            if len(data) > SECRET_FILE_BYTES or self._bytes + len(data) > SECRET_FILES_BYTES:
                return None
            self._data[oid] = data
            self._bytes += len(data)
        return oid

    def read(self, oid: str) -> bytes | None:
        """Return the content that was remembered under that id; None when there is none."""
        return self._data.get(oid)

    def blob(self, left_out: str) -> Blob | None:
        """What a file was that a tree has as left out, by the id there."""
        return self._blobs.get(left_out)
