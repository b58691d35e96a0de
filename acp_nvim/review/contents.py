"""The contents of files, as bytes and as text: on disk, in memory, and in the shadow repository."""

from __future__ import annotations

import os
import stat

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.file_time import is_behind_link
from acp_nvim.limits import MAX_FILE_BYTES, REVIEW_TEXT_BYTES
from acp_nvim.snapshots.objects import BLOB, EXECUTABLE, FILE, SYMLINK, object_id
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob, GoneError
from acp_nvim.workspace.disk import stamp_of
from acp_nvim.workspace.encoding import decode, encode
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.regular_files import READ_NOW, read_regular


class Content(msgspec.Struct, frozen=True):
    """A content of a file: `blob` is None if there is no file; `text` is None if it is no text, or not loaded."""

    blob: Blob | None
    text: str | None = None
    encoding: str = "utf-8"

    @property
    def text_or_empty(self) -> str:
        """The text; "" for a file that does not exist."""
        return self.text or ""


ABSENT = Content(None, "")

NOT_STORED = "too large to be kept, or not readable"
"""Why the bytes of a file are not stored, in words."""

_STAT = "stat "


def is_stored(blob: Blob) -> bool:
    """Return whether its bytes are stored; a file that is too large is only identified by its status."""
    return bool(blob.oid) and not blob.oid.startswith(_STAT)


def stat_blob(status: os.stat_result, mode: int) -> Blob:
    """Return a blob for a file whose bytes are not stored: it differs when size, times or inode differ."""
    return Blob(f"{_STAT}{stamp_of(status)}:{status.st_ctime_ns}", mode)


class Contents:
    """Stores contents of one workspace by object id: in memory, then in the shadow repository."""

    def __init__(self, shadow: Shadow) -> None:
        self.shadow = shadow
        self._unsaved: dict[str, bytes] = {}
        self._last: tuple[tuple[str, str, str], str, str] | None = None
        """Path, encoding and text of the latest `put_text`, its object id and encoding; None: not in `_unsaved`."""
        self._saving = anyio.Lock()

    def put(self, path: str, data: bytes, mode: int = FILE) -> Blob:
        """Store the bytes of a file; those of files with secrets stay in memory."""
        oid = object_id(BLOB, data)
        if not self.shadow.is_secret(path):
            self._unsaved[oid] = data
        elif not self.shadow.remember(data):
            return Blob(f"{_STAT}{oid}", mode)
        return Blob(oid, mode)

    def put_text(self, path: str, text: str, encoding: str, mode: int = FILE) -> Content:
        """Store a text as the bytes that its file has, or would have."""
        key = path, encoding, text
        if self._last is not None and self._last[0] == key:  # what an agent wrote last is what it replaces next
            _, oid, encoding = self._last
            return Content(Blob(oid, mode), text, encoding)
        try:
            data = encode(path, text, encoding)
        except FileRefusedError:  # only Neovim knows that encoding, or the text is not saved yet
            encoding, data = "utf-8", text.encode("utf-8", "surrogatepass")
        blob = self.put(path, data, mode)
        is_kept = blob.oid in self._unsaved and not self.shadow.is_secret(path)
        self._last = (key, blob.oid, encoding) if is_kept else None
        return Content(blob, text, encoding)

    async def read(self, blob: Blob) -> bytes:
        """Return the bytes of a blob. Raises `SnapshotError` if they are lost."""
        if not is_stored(blob):
            raise GoneError(f"it was {NOT_STORED}")
        data = self._unsaved.get(blob.oid)
        return data if data is not None else (await self.shadow.read([blob.oid]))[0]

    async def load(self, path: str, blob: Blob | None, hint: str | None = None) -> Content:
        """Return a content with its text, if it is text; `hint` is the encoding that the file had before."""
        if blob is None:
            return ABSENT
        if not is_stored(blob):
            return Content(blob)
        data = await self.read(blob)
        if blob.mode == SYMLINK or len(data) > REVIEW_TEXT_BYTES:
            return Content(blob)
        try:
            text, encoding = await anyio.to_thread.run_sync(decode, path, data, hint)
        except FileRefusedError:
            return Content(blob)
        return Content(blob, text, encoding)

    async def flush(self) -> None:
        """Write what is only in memory to the repository. Raises `SnapshotError`; then it stays in memory."""
        async with self._saving:
            saved = dict(self._unsaved)
            if saved:
                await self.shadow.store(list(saved.values()))
            for oid in saved:
                del self._unsaved[oid]
            self._last = None


class FileOnDisk(msgspec.Struct, frozen=True):
    """A file on disk; if it is too large or not readable, `data` is None and the blob is a `stat_blob`."""

    blob: Blob
    data: bytes | None


def read_disk(path: str) -> FileOnDisk | None:
    """Read a file. Blocks. Returns None if there is none, or nothing that git would store.

    Nor is there one if a directory of the path, which was real, is a link now.
    """
    if is_behind_link(path):
        return None
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            data = os.readlink(os.fsencode(path))
            return FileOnDisk(Blob(object_id(BLOB, data), SYMLINK), data)
        if not stat.S_ISREG(status.st_mode):
            return None
        mode = git_mode(status.st_mode)
        if status.st_size > MAX_FILE_BYTES:
            return FileOnDisk(stat_blob(status, mode), None)
    except OSError:
        return None
    try:
        data = read_regular(path, MAX_FILE_BYTES, READ_NOW | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError:
        return FileOnDisk(stat_blob(status, mode), None)
    return FileOnDisk(Blob(object_id(BLOB, data), mode), data)


def mode_of(path: str) -> int:
    """Return the file's git mode; that of a new file if there is none."""
    try:
        return git_mode(os.stat(path).st_mode)
    except OSError:
        return FILE


def git_mode(mode: int) -> int:
    """Return git's mode for a file mode: it depends on whether the owner may execute the file."""
    return EXECUTABLE if mode & stat.S_IXUSR else FILE
