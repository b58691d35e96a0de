"""The contents of files, as bytes and as text: on disk, in memory, and in the shadow repository."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final, Literal

import anyio
import anyio.to_thread
import msgspec

from acp_nvim.file_time import is_behind_link
from acp_nvim.limits import MAX_FILE_BYTES, REVIEW_TEXT_BYTES
from acp_nvim.review.records import Decided, Version
from acp_nvim.snapshots.objects import BLOB, EXECUTABLE, FILE, SYMLINK, object_id
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob, GoneError, SnapshotError
from acp_nvim.workspace.disk import stamp_of
from acp_nvim.workspace.encoding import decode, encode
from acp_nvim.workspace.merge import merge
from acp_nvim.workspace.permissions import permissions_at
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


def decided_on(
    path: str,
    action: Literal["rejected", "restored"],
    contents: tuple[Content, Content],
    sessions: Iterable[int],
    is_secret: bool,
) -> Decided:
    """Return what the user has decided on a file, with its `contents` before and after; a secret one has no texts."""
    was, now = (_version(one, is_secret) for one in contents)
    return Decided(path, action, was, now, frozenset(sessions))


def _version(content: Content, is_secret: bool) -> Version | None:
    blob, text = content.blob, content.text
    if blob is None:
        return None
    return Version((blob.mode, blob.oid if text is None else text), blob.bits, None if is_secret else text)


NOT_STORED = "too large to be kept, or not readable"
"""Why the bytes of a file are not stored, in words."""

NOT_KNOWN = "not known (ignored by git, moved here, or too large)"
"""The same of a file that no snapshot had, but which may have been there."""

LOST = "not kept any more: it was only in the repository, which was removed or replaced"
"""The same of a file that a snapshot had."""

_STAT = "stat "


def is_stored(blob: Blob) -> bool:
    """Return whether its bytes are stored; a file that is too large is only identified by its status."""
    return bool(blob.oid) and not blob.oid.startswith(_STAT)


def why_not_stored(blob: Blob) -> str:
    """Return why the bytes of a file that was there are not stored, as a sentence about "what it had before"."""
    return f"was {NOT_STORED}" if blob.oid else f"is {NOT_KNOWN}"


def stat_blob(status: os.stat_result, like: Blob) -> Blob:
    """Return a blob for a file whose bytes are not stored: it differs when size, times or inode differ."""
    return msgspec.structs.replace(like, oid=f"{_STAT}{stamp_of(status)}:{status.st_ctime_ns}")


class Contents:
    """Stores contents of one workspace by object id: in memory, then in the shadow repository."""

    def __init__(self, shadow: Shadow) -> None:
        self.shadow = shadow
        self.all: Callable[[], Sequence[Contents]] = list
        """Returns those of all workspaces, which may have what this one lacks: files change their workspace."""
        self._unsaved: dict[str, bytes] = {}
        self._last: tuple[tuple[str, str, str], str, str] | None = None
        """Path, encoding and text of the latest `put_text`, its object id and encoding; None: not in `_unsaved`."""
        self._saving = anyio.Lock()

    def put(self, path: str, data: bytes, like: Blob) -> Blob:
        """Store the bytes of a file with the mode of `like`; those of files with secrets stay in memory."""
        oid = object_id(BLOB, data)
        if not self.shadow.is_secret(path):
            self._unsaved[oid] = data
        elif not self.shadow.remember(data):
            oid = f"{_STAT}{oid}"
        return msgspec.structs.replace(like, oid=oid)

    def put_text(self, path: str, text: str, encoding: str, like: Blob) -> Content:
        """Store a text as the bytes that its file has, or would have, with the mode of `like`."""
        key = path, encoding, text
        if self._last is not None and self._last[0] == key:  # what an agent wrote last is what it replaces next
            _, oid, encoding = self._last
            return Content(msgspec.structs.replace(like, oid=oid), text, encoding)
        try:
            data = encode(path, text, encoding)
        except FileRefusedError:  # only Neovim knows that encoding, or the text is not saved yet
            encoding, data = "utf-8", text.encode("utf-8", "surrogatepass")
        blob = self.put(path, data, like)
        is_kept = blob.oid in self._unsaved and not self.shadow.is_secret(path)
        self._last = (key, blob.oid, encoding) if is_kept else None
        return Content(blob, text, encoding)

    async def read_file(self, oid: str) -> bytes:
        """Return the bytes that a file had once. Raises `SnapshotError` if they are lost."""
        return await self.read(Blob(oid, FILE))

    async def read(self, blob: Blob) -> bytes:
        """Return the bytes of a blob. Raises `SnapshotError` if they are lost."""
        if not is_stored(blob):
            raise GoneError(f"it was {NOT_STORED}")
        try:
            return await self._read_own(blob)
        except GoneError:
            for other in self._others():
                with suppress(SnapshotError):
                    return await other._read_own(blob)
            raise

    async def _read_own(self, blob: Blob) -> bytes:
        data = self._unsaved.get(blob.oid)
        return data if data is not None else (await self.shadow.read([blob.oid]))[0]

    def _others(self) -> list[Contents]:
        return [one for one in self.all() if one is not self]

    async def bring(self, path: str, blob: Blob) -> None:
        """Take over a content of the file from another workspace, if this one does not have it."""
        if not is_stored(blob) or blob.oid in self._unsaved:
            return
        try:
            await self._read_own(blob)
        except GoneError:
            data = await self.read(blob)
            if any(one.shadow.is_secret(path) for one in self._others()):
                self.shadow.remember(data)
            else:
                self.put(path, data, blob)

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

    async def without(self, path: str, now: Content, before: Content, after: Content) -> Content | str:
        """Return the file without the change from `before` to `after`; or, in words, why they conflict."""
        if now.blob is None:
            return "deleted since"
        if before.blob is None:
            return "made anew, and changed since"
        if after.blob is None:
            return "there again"
        if now.text is None or before.text is None or after.text is None:
            return "no text, and changed since"
        merged = await merge(after.text, now.text, before.text)
        if merged.text is None:
            return merged.why
        like = now.blob if now.blob.has_other_mode(after.blob) else before.blob
        return self.put_text(path, merged.text, now.encoding, like)

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


NEW_FILE: Final = Blob("", FILE)
"""The mode of a new file; its permissions are not known."""


def read_disk(path: str, root: str | None = None) -> FileOnDisk | None:
    """Read the file at that real path. Blocks.

    Returns None if there is none, or nothing that git would store, or if a symbolic link above leads to another one.
    The blob has the permissions of the file, and of the directories above it below `root`.
    """
    if is_behind_link(path):
        return None
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            data = os.readlink(os.fsencode(path))
            permissions = permissions_at(path, path if root is None else root, status)
            return FileOnDisk(Blob(object_id(BLOB, data), SYMLINK, permissions), data)
        if not stat.S_ISREG(status.st_mode):
            return None
        like = Blob("", git_mode(status.st_mode), permissions_at(path, path if root is None else root, status))
        if status.st_size > MAX_FILE_BYTES:
            return FileOnDisk(stat_blob(status, like), None)
    except OSError:
        return None
    try:
        data = read_regular(path, MAX_FILE_BYTES, READ_NOW | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError:
        return FileOnDisk(stat_blob(status, like), None)
    return FileOnDisk(msgspec.structs.replace(like, oid=object_id(BLOB, data)), data)


def mode_of(path: str, root: str) -> Blob:
    """Return a blob with the file's mode and permissions; those of a new file if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return NEW_FILE
    return Blob("", git_mode(status.st_mode), permissions_at(path, root, status))


def git_mode(mode: int) -> int:
    """Return git's mode for a file mode: it depends on whether the owner may execute the file."""
    return EXECUTABLE if mode & stat.S_IXUSR else FILE
