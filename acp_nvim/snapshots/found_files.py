"""Inspects and hashes files of a work tree, and detects those that look secret."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable
from functools import cache
from typing import Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.process import umask
from acp_nvim.snapshots.objects import BLOB, EXECUTABLE, FILE, LEFT_OUT, SYMLINK, LooseObjects, TreeEntry, object_id
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.workspace.permissions import number_of
from acp_nvim.workspace.regular_files import READ_NOW, read_regular

SNAPSHOT_FILE_BYTES: Final = 32 * 1024 * 1024
"""Maximum size of a file whose content is kept: the largest that is served as text."""

SETTLED_NS: Final = 2_000_000_000
"""A file changed less than this before it was read may change again with the same time: some clocks count seconds."""


class FoundFile(msgspec.Struct, frozen=True):
    """What was found under `path`, which is relative to the top of a work tree."""

    path: bytes
    key: str = ""
    """Identifies the state of the file; "" when there is no regular file and no link."""
    size: int = 0
    left_out: TreeEntry | None = None
    """The tree entry of a file whose content cannot or must not be kept."""
    refused: bool = False
    """Whether git would reject it: a socket, say, or a link with a name reserved by git."""
    mode: int = FILE
    """The git mode of a regular file."""
    is_private: bool = False
    """Whether it is a regular file that only its owner may read."""
    is_secret: bool = False
    """Whether its content is kept in memory only, and left out of trees."""
    permissions: int | None = None
    """The permission number of a regular file."""
    changed: int = 0
    """When its status changed last, in nanoseconds since 1970."""


def inspect(top: bytes, paths: Iterable[bytes]) -> list[FoundFile]:
    """Inspect each path below `top`; what is behind a link is not there. Blocks."""

    @cache
    def is_real(directory: bytes) -> bool:
        above = os.path.dirname(directory)
        return not directory or (is_real(above) and not os.path.islink(top + b"/" + directory))

    return [_inspect(top, path) if is_real(os.path.dirname(path)) else FoundFile(path) for path in paths]


def is_too_large(size: int) -> bool:
    """Whether a file of that size (in bytes) is left out."""
    return size > SNAPSHOT_FILE_BYTES


def _inspect(top: bytes, path: bytes) -> FoundFile:
    full = top + b"/" + path
    try:
        status = os.lstat(full)
    except OSError:
        return FoundFile(path)
    if stat.S_ISDIR(status.st_mode):
        return FoundFile(path)
    is_link, is_file = stat.S_ISLNK(status.st_mode), stat.S_ISREG(status.st_mode)
    if not is_file and not (is_link and os.path.basename(path).lower() != b".gitmodules"):
        return FoundFile(path, refused=True)
    key = _key(status)
    kept = is_link or (not is_too_large(status.st_size) and os.access(full, os.R_OK))
    mode = EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE
    is_private = is_file and not status.st_mode & 0o077
    return FoundFile(
        path,
        key,
        status.st_size,
        None if kept else _left_out(key),
        mode=mode,
        is_private=is_private,
        permissions=number_of(status) if is_file else None,
        changed=status.st_ctime_ns,
    )


def _key(status: os.stat_result) -> str:
    kind = "l" if stat.S_ISLNK(status.st_mode) else "x" if status.st_mode & stat.S_IXUSR else "f"
    return f"{kind} {status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def inode_of(key: str) -> int | None:
    """Return the number of the file with that key, modulo 2 ** 32 as git's indexes have it; None for no file."""
    return int(key.split(" ")[2]) % (1 << 32) if key else None


def as_secret(found: FoundFile) -> FoundFile:
    """Return the file as one whose content is left out of snapshots, because it holds secrets."""
    return msgspec.structs.replace(found, left_out=_left_out(found.key), is_secret=True)


def _left_out(key: str) -> TreeEntry:
    return TreeEntry(LEFT_OUT, hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest())


def keep_file(objects: LooseObjects, top: bytes, path: bytes) -> tuple[str, TreeEntry | None]:
    """Store the content; return the key for which it is valid ("" if the file may change unnoticed), and the entry.

    The entry is None when the file is gone. Blocks; raises `OSError` when the disk is full.
    """
    before = time.time_ns()
    full = top + b"/" + path
    try:
        status = os.lstat(full)
        data = os.readlink(full) if stat.S_ISLNK(status.st_mode) else _read(full)
    except OSError:
        return "", _inspect(top, path).left_out
    mode = SYMLINK if stat.S_ISLNK(status.st_mode) else EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE
    settled = max(status.st_mtime_ns, status.st_ctime_ns) + SETTLED_NS < before
    return _key(status) if settled else "", TreeEntry(mode, objects.write(BLOB, data))


def _read(path: bytes) -> bytes:
    """Raises `OSError`, also when the file is not regular, or too large."""
    data = read_regular(path, SNAPSHOT_FILE_BYTES + 1, READ_NOW | os.O_NOFOLLOW)
    if len(data) > SNAPSHOT_FILE_BYTES:
        raise OSError("too large")
    return data


SECRET_FILE_BYTES: Final = 1024 * 1024
"""Maximum size of a secret file that is remembered: keys and settings have some thousand bytes."""
SECRET_FILES_BYTES: Final = 32 * 1024 * 1024
"""Memory in bytes for the secret files of one workspace, in all their versions."""
PRIVATE_FILES: Final = 200
"""Number of private files up to which they count as secret: more of them are due to the user's umask."""

_NAMES: Final = pattern(
    rb"\.env(?!\.(?:example|sample|template|dist|defaults)$).*"
    rb"|id_[^.]+|.+\.(?:pem|key|kdbx|p12|pfx|jks|keystore)"
    rb"|[._]netrc|\.pgpass|\.pypirc|\.npmrc|\.git-credentials",
    re.IGNORECASE | re.DOTALL,
)
"""Names of secret files: settings with passwords, private keys (`id_rsa`, not `id_rsa.pub`), password stores."""


_ENDS: Final = (
    *(b".pem\0", b".key\0", b".kdbx\0", b".p12\0", b".pfx\0", b".jks\0", b".keystore\0"),
    *(b"netrc\0", b".pgpass\0", b".pypirc\0", b".npmrc\0", b".git-credentials\0"),
)
_BEGINNINGS: Final = (b".env", b"id_")


def looks_secret(path: bytes) -> bool:
    """Whether the name of a file suggests secrets."""
    return _NAMES.fullmatch(os.path.basename(path)) is not None


def may_name_secrets(names: bytes) -> bool:
    """Whether one of these names, in lower case with a NUL around each, may suggest secrets."""
    return any(end in names for end in _ENDS) or any(
        part in names for begin in _BEGINNINGS for part in (b"/" + begin, b"\0" + begin)
    )


def private_ones(found: Iterable[FoundFile]) -> list[bytes]:
    """Return the files that only their owner may read; none when the user's umask makes all files so."""
    if umask.of_users() >= 0 and umask.of_users() & umask.PRIVATE == umask.PRIVATE:
        return []
    paths = [one.path for one in found if one.is_private]
    return paths if len(paths) <= PRIVATE_FILES else []


class SecretFiles:
    """Holds the contents of secret files that snapshots found; in memory only, until the host exits."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._data: dict[str, bytes] = {}
        self._blobs: dict[str, Blob] = {}
        self._bytes = 0

    def __contains__(self, oid: str) -> bool:
        return oid in self._data

    def is_secret(self, path: str) -> bool:
        """Whether the file at that absolute path is secret, by its name or as a snapshot found it."""
        return path in self._paths or looks_secret(os.fsencode(path))

    def note_private(self, path: str) -> None:
        """Note that the file at that absolute path is secret, if only its owner may read it. Blocks."""
        top, name = os.path.split(os.fsencode(path))
        if private_ones(inspect(top, [name])):
            self._paths.add(path)

    def remember(self, top: bytes, found: Iterable[FoundFile]) -> None:
        """Remember the contents of files that a tree has as left out. Blocks."""
        for one in found:
            self._remember(top, one)

    def _remember(self, top: bytes, found: FoundFile) -> None:
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
        """Remember a content and return its id; None when it does not fit into the memory limits."""
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
        """Return the blob of a file that a tree has as left out, by the id of its entry there."""
        return self._blobs.get(left_out)
