"""Loose objects of a git repository, read and written without a process."""

from __future__ import annotations

import hashlib
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

Kind = bytes
BLOB: Final = b"blob"
TREE: Final = b"tree"


def object_id(kind: Kind, data: bytes) -> str:
    """The name that git gives it, in hex."""
    digest = hashlib.sha1(b"%s %d\0" % (kind, len(data)), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


class LooseObjects:
    """Those below the `objects` directory of a git directory. Everything blocks: call it in a thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = str(directory)

    def has(self, oid: str) -> bool:
        """Whether it is there, and not as what a crash left of it."""
        try:
            return os.stat(self._path(oid)).st_size > 0
        except OSError:
            return False

    def write(self, kind: Kind, data: bytes) -> str:
        """Store it, unless it is there; returns its id. Raises `OSError`."""
        oid = object_id(kind, data)
        if not self.has(oid):
            header = b"%s %d\0" % (kind, len(data))
            self._replace(self._path(oid), zlib.compress(header + data, 1))
        return oid

    def read(self, oid: str) -> bytes | None:
        """What it holds; None when it is not here. One that is damaged is removed: then it can be stored again."""
        path = self._path(oid)
        try:
            with open(path, "rb") as file:
                raw = zlib.decompress(file.read())
        except FileNotFoundError:
            return None
        except (OSError, zlib.error):
            raw = b""
        if hashlib.sha1(raw, usedforsecurity=False).hexdigest() != oid:
            with suppress(OSError):
                os.unlink(path)
            return None
        return raw.partition(b"\0")[2]

    def _path(self, oid: str) -> str:
        return f"{self._directory}/{oid[:2]}/{oid[2:]}"

    def _replace(self, path: str, data: bytes) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{os.path.dirname(path)}/tmp_obj_{os.urandom(6).hex()}"  # `git prune` knows that name
        try:
            with open(temporary, "xb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
