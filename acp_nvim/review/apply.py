"""Gives a file the content that a decision or a restore wants, in its buffer and on disk."""

from __future__ import annotations

import os
from contextlib import suppress

import anyio.to_thread

from acp_nvim.file_time import is_behind_link
from acp_nvim.review.contents import Content, Contents, read_disk
from acp_nvim.review.obstacles import make_way
from acp_nvim.snapshots.objects import EXECUTABLE, FILE, SYMLINK
from acp_nvim.snapshots.snapshot import Blob, SnapshotError
from acp_nvim.workspace.disk import replace, stamp_of
from acp_nvim.workspace.open_files import OpenFiles, OpenText
from acp_nvim.workspace.permissions import give, make_directories, unknown
from acp_nvim.workspace.refusals import ChangedOnDiskError, FileRefusedError, InTheWayError
from acp_nvim.workspace.regular_files import in_words


async def write_content(
    files: OpenFiles, contents: Contents, path: str, was: Content, wanted: Content, save: bool = True
) -> bool:
    """Replace the content `was` by `wanted`; return False, and change nothing, if the file is not `was` any more.

    To be called in `OpenFiles.alone`. A text goes into the buffer, if there is one, as one change; without `save` it is
    not saved. Raises `FileRefusedError`, after which nothing is changed either.
    """
    try:
        buffer = await files.read(path)
    except FileRefusedError:  # the present content is no text; the wanted one may be
        buffer = None
    if buffer is not None and was.blob is None and not buffer.on_disk:
        _check_left_over(path, buffer, wanted)
    elif buffer is not None and was.text is not None and buffer.text != was.text:
        return False
    if wanted.blob is None:
        return (buffer is not None or await _is_still(path, was)) and await _remove(files, path, buffer)
    await anyio.to_thread.run_sync(make_way, path)
    if buffer is None or wanted.text is None:
        return await _put_file(contents, path, was, wanted.blob)
    if save and (not buffer.modified or not buffer.on_disk) and await _is_still(path, was):
        # exactly these bytes: by a write of its own, Neovim may end the last line, and a new file would be public
        return await _put_file(contents, path, was, wanted.blob) and await files.adopt(path, buffer)
    if not await _put_text(files, path, buffer, wanted.text, save):
        return False
    if save:
        await anyio.to_thread.run_sync(_set_mode, path, was.blob, wanted.blob)
    return True


async def _is_still(path: str, was: Content) -> bool:
    """Return whether the file on disk is `was`."""
    found = await anyio.to_thread.run_sync(read_disk, path)
    return (None if found is None else found.blob) == was.blob


def _check_left_over(path: str, buffer: OpenText, wanted: Content) -> None:
    """Refuse to overwrite the buffer of a deleted file if it has unsaved edits."""
    if buffer.modified and buffer.text != wanted.text:
        raise FileRefusedError(
            f"{path} is deleted, and its buffer has unsaved changes of yours: write or undo them first"
        )


async def _remove(files: OpenFiles, path: str, buffer: OpenText | None) -> bool:
    """Delete the file, and empty its buffer, which undo can take back."""
    if buffer is not None and not await _put_text(files, path, buffer, "", save=False):
        return False
    try:
        if not await anyio.to_thread.run_sync(is_behind_link, path):
            await anyio.to_thread.run_sync(os.unlink, path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise in_words(path, "deleted", error) from error
    if buffer is not None:
        await files.editor.file_removed(path)
    return True


async def rename(files: OpenFiles, path: str, new: str, like: Blob) -> None:
    """Rename the file and its buffer; the new name must be free. Raises `FileRefusedError`.

    Missing directories are made with the permissions that `like` has.
    """
    try:
        await anyio.to_thread.run_sync(_rename, path, new, like)
    except OSError as error:
        raise in_words(path, "renamed", error) from error
    await files.editor.file_moved(path, new)


async def _put_text(files: OpenFiles, path: str, buffer: OpenText, text: str, save: bool) -> bool:
    """Return False if the buffer was changed meanwhile."""
    if save and not buffer.on_disk:
        await anyio.to_thread.run_sync(make_directories, os.path.dirname(path))
    outcome = await files.write(path, buffer, text, save)
    if outcome is not None and outcome.error is not None:
        raise FileRefusedError(f"{path} was not changed: {outcome.error}")
    return outcome is not None and outcome.state is not None


async def _put_file(contents: Contents, path: str, was: Content, wanted: Blob) -> bool:
    """Return False if the file is not `was` any more."""
    try:
        data = await contents.read(wanted)
        await anyio.to_thread.run_sync(_write, path, data, wanted, was.blob)
    except SnapshotError as error:
        raise FileRefusedError(f"what {path} was is not kept any more: {error}") from error
    except ChangedOnDiskError:
        return False
    except OSError as error:
        raise in_words(path, "written", error) from error
    return True


def _write(path: str, data: bytes, wanted: Blob, was: Blob | None) -> None:
    """Replace a file in one step; a link is unlinked and made anew. Raises `ChangedOnDiskError`."""
    stamp = stamp_of(os.lstat(path)) if os.path.lexists(path) else None
    found = read_disk(path)
    if (None if found is None else found.blob) != was:
        raise ChangedOnDiskError(path)
    if SYMLINK in (wanted.mode, was.mode if was is not None else FILE):
        stamp = None
        with suppress(FileNotFoundError):
            os.unlink(path)
    numbers = wanted.permissions or (unknown(wanted.mode == EXECUTABLE),)
    if wanted.mode == SYMLINK:
        make_directories(os.path.dirname(path), wanted.permissions[1:])
        os.symlink(data, os.fsencode(path))
        return
    replace(path, data, stamp, numbers)
    if stamp is not None:
        _set_mode(path, was, wanted)


def _set_mode(path: str, was: Blob | None, wanted: Blob) -> None:
    """Take back what an agent has done to the permissions of a file: it is as it `was` except for its content.

    If their bits are not known, make it executable for all who may read it, or for none.
    """
    with suppress(OSError):
        if wanted.mode == SYMLINK or os.path.islink(path):
            return
        old = os.stat(path).st_mode & 0o7777
        if was is not None and was.bits is not None and wanted.bits is not None:
            if old == was.bits != wanted.bits:  # else somebody has set others since
                give(path, wanted.permissions[0])
        elif bool(old & 0o100) != (wanted.mode == EXECUTABLE):
            os.chmod(path, old | (old & 0o444) >> 2 if wanted.mode == EXECUTABLE else old & ~0o111)


def _rename(path: str, new: str, like: Blob) -> None:
    make_way(new)
    if os.path.lexists(new):
        raise InTheWayError(f"{path} was not renamed: there is {new} already. Keep or reject it first, or move it")
    make_directories(os.path.dirname(new), like.permissions[1:])
    os.rename(path, new)
