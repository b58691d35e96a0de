"""Remembers the contents of ignored files, so that they are known if new ignore rules show the files."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from acp_nvim.snapshots.found_files import inspect, keep_file, looks_secret, private_ones
from acp_nvim.snapshots.objects import EXECUTABLE, FILE, LooseObjects
from acp_nvim.snapshots.snapshot import Blob
from acp_nvim.workspace.permissions import permissions_at

IGNORED_FILE_BYTES: Final = 1024 * 1024
"""Maximum size of an ignored file that is remembered: settings and notes have some thousand bytes."""
IGNORED_FILES_BYTES: Final = 50 * 1024 * 1024
"""Maximum size of all of them; the files that were changed last come first."""
IGNORED_FILES: Final = 2000
"""Maximum number of them: to look whether they have changed takes 15 ms of processor time, beside git's work."""
REREAD_BYTES: Final = 4 * 1024 * 1024
"""Bytes of changed files that a snapshot reads again; what else has changed is not known until the next `renew`."""


class IgnoredFiles:
    """The contents of ignored files of one workspace at its last snapshots, stored in `objects`. All methods block."""

    def __init__(self, objects: LooseObjects) -> None:
        self._objects = objects
        self._known: dict[bytes, tuple[str, Blob]] = {}
        self._at: dict[int, dict[str, Blob]] = {}
        self._lock = threading.Lock()

    @property
    def oids(self) -> set[str]:
        """The ids of all contents that are remembered."""
        return {blob.oid for known in (*self._at.values(), self._now()) for blob in known.values()}

    def at(self, time: int) -> Mapping[str, Blob]:
        """Return the contents at the snapshot of that time, by absolute path; nothing of a snapshot long ago."""
        return self._at.get(time, {})

    def renew(self, paths: Sequence[bytes]) -> None:
        """Remember these files (absolute paths) that do not look secret, if there is room. Raises `OSError`."""
        with self._lock:
            self._known = self._read_newest(paths)

    def _read_newest(self, paths: Sequence[bytes]) -> dict[bytes, tuple[str, Blob]]:
        found = [one for one in inspect(b"", [path[1:] for path in paths]) if one.key and one.left_out is None]
        private = set(private_ones(found))
        known: dict[bytes, tuple[str, Blob]] = {}
        room = IGNORED_FILES_BYTES
        for one in sorted(found, key=lambda one: _changed(one.key), reverse=True):
            is_secret = looks_secret(one.path) or one.path in private
            if is_secret or one.size > min(room, IGNORED_FILE_BYTES):
                continue
            path = b"/" + one.path
            kept = self._known.get(path)
            kept = kept if kept is not None and kept[0] == one.key else self._read(path)
            if kept is not None:
                known[path] = kept
                room -= one.size
            if len(known) == IGNORED_FILES:
                break
        return known

    def refresh(self) -> None:
        """Bring what is remembered up to date, because a snapshot is being taken. Raises `OSError`."""
        with self._lock:
            self._refresh()

    def _refresh(self) -> None:
        room = REREAD_BYTES
        for one in inspect(b"", [path[1:] for path in self._known]):
            path = b"/" + one.path
            if one.key == self._known[path][0]:
                continue
            room -= one.size
            is_kept = one.key and one.left_out is None and one.size <= IGNORED_FILE_BYTES and room >= 0
            kept = self._read(path) if is_kept and not one.is_private else None
            if kept is None:
                del self._known[path]
            else:
                self._known[path] = kept

    def note(self, time: int, kept: Collection[int]) -> None:
        """Note that a snapshot of that time has what is remembered now; forget all others but for those `kept`."""
        self._at = {one: known for one, known in self._at.items() if one in kept} | {time: self._now()}

    def _now(self) -> dict[str, Blob]:
        return {os.fsdecode(path): blob for path, (_, blob) in self._known.items()}

    def _read(self, path: bytes) -> tuple[str, Blob] | None:
        key, entry = keep_file(self._objects, b"", path[1:])
        if entry is None or entry.mode not in (FILE, EXECUTABLE):
            return None
        permissions = permissions_at(os.fsdecode(path), os.path.dirname(os.fsdecode(path)))
        return key, Blob(entry.oid, entry.mode, permissions)


def _changed(key: str) -> int:
    return int(key.rpartition(" ")[2])
