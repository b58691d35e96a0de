"""Files that look as if they held secrets: their contents are in memory only, never in the shadow repository."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from acp_nvim.limits.git import PRIVATE_FILES, SECRET_FILE_BYTES, SECRET_FILES_BYTES
from acp_nvim.process import umask
from acp_nvim.snapshots.found_files import Found
from acp_nvim.snapshots.objects import BLOB, object_id
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.workspace.regular_files import READ_NOW, read_regular

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


def private_ones(found: Iterable[Found]) -> list[bytes]:
    """The files that nobody else may read. None of them when there are many: that is how the user makes files."""
    if umask.of_users() >= 0 and umask.of_users() & umask.PRIVATE == umask.PRIVATE:
        return []
    paths = [one.path for one in found if one.is_private]
    return paths if len(paths) <= PRIVATE_FILES else []


class SecretFiles:
    """Those of one shadow repository, as they were at the looks at them. As long as this process lives."""

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

    def look(self, top: bytes, found: Iterable[Found]) -> None:
        """Remember files, which a tree has as left out. Blocks."""
        for one in found:
            self._look(top, one)

    def _look(self, top: bytes, found: Found) -> None:
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
        """A content that was remembered."""
        return self._data.get(oid)

    def blob(self, left_out: str) -> Blob | None:
        """What a file was that a tree has as left out, by the id there."""
        return self._blobs.get(left_out)
