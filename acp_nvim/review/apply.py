"""Gives a file the content that a decision or a restore wants, in its buffer and on disk."""

from __future__ import annotations

import os
from contextlib import suppress

import anyio.to_thread

from acp_nvim.process import umask
from acp_nvim.review.contents import Content, Contents, read_disk
from acp_nvim.snapshots.objects import EXECUTABLE, SYMLINK
from acp_nvim.snapshots.snapshot import Blob, SnapshotError
from acp_nvim.workspace.disk import replace, stamp_of
from acp_nvim.workspace.open_files import OpenFiles, OpenText
from acp_nvim.workspace.refusals import ChangedOnDiskError, FileRefusedError
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
    elif buffer is None:
        found = await anyio.to_thread.run_sync(read_disk, path)
        if (None if found is None else found.blob) != was.blob:
            return False
    if wanted.blob is None:
        return await _remove(files, path, buffer)
    if buffer is None or wanted.text is None:
        return await _put_file(contents, path, was, wanted.blob)
    if not await _put_text(files, path, buffer, wanted.text, save):
        return False
    if save:
        await anyio.to_thread.run_sync(_set_mode, path, wanted.blob.mode)
    return True


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
        await anyio.to_thread.run_sync(os.unlink, path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise in_words(path, "deleted", error) from error
    if buffer is not None:
        await files.editor.file_removed(path)
    return True


async def rename(files: OpenFiles, path: str, new: str) -> None:
    """Rename the file and its buffer; the new name must be free. Raises `FileRefusedError`."""
    try:
        await anyio.to_thread.run_sync(_rename, path, new)
    except OSError as error:
        raise in_words(path, "renamed", error) from error
    await files.editor.file_moved(path, new)


async def _put_text(files: OpenFiles, path: str, buffer: OpenText, text: str, save: bool) -> bool:
    """Return False if the buffer was changed meanwhile."""
    outcome = await files.write(path, buffer, text, save)
    if outcome is not None and outcome.error is not None:
        raise FileRefusedError(f"{path} was not changed: {outcome.error}")
    return outcome is not None and outcome.state is not None


async def _put_file(contents: Contents, path: str, was: Content, wanted: Blob) -> bool:
    try:
        data = await contents.read(wanted)
        await anyio.to_thread.run_sync(_write, path, data, wanted.mode, was.blob)
    except SnapshotError as error:
        raise FileRefusedError(f"what {path} was is not kept any more: {error}") from error
    except ChangedOnDiskError:
        return False
    except OSError as error:
        raise in_words(path, "written", error) from error
    return True


def _write(path: str, data: bytes, mode: int, was: Blob | None) -> None:
    """Replace a file in one step; a link is unlinked and made anew."""
    if SYMLINK in (mode, was.mode if was is not None else mode):
        with suppress(FileNotFoundError):
            os.unlink(path)
    if mode == SYMLINK:
        umask.make_directories(os.path.dirname(path))
        os.symlink(data, os.fsencode(path))
        return
    replace(path, data, stamp_of(os.stat(path)) if os.path.lexists(path) else None)
    _set_mode(path, mode)


def _set_mode(path: str, mode: int) -> None:
    """Make the file executable for all who may read it, or for none."""
    with suppress(OSError):
        if mode == SYMLINK or os.path.islink(path):
            return
        old = os.stat(path).st_mode & 0o7777
        new = old | (old & 0o444) >> 2 if mode == EXECUTABLE else old & ~0o111
        if new != old and bool(old & 0o100) != (mode == EXECUTABLE):
            os.chmod(path, new)


def _rename(path: str, new: str) -> None:
    if os.path.lexists(new):
        raise FileRefusedError(f"{path} was not renamed: there is {new} already")
    umask.make_directories(os.path.dirname(new))
    os.rename(path, new)
