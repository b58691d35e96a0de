"""Makes a file what it was, or is to be: in its buffer and on disk."""

from __future__ import annotations

import os
from contextlib import suppress

import anyio.to_thread

from acp_nvim.process import umask
from acp_nvim.review.contents import Content, Contents, look_at
from acp_nvim.snapshots.objects import EXECUTABLE, SYMLINK
from acp_nvim.snapshots.snapshot import Blob, SnapshotError
from acp_nvim.workspace.disk import replace
from acp_nvim.workspace.open_files import OpenFiles, OpenText
from acp_nvim.workspace.refusals import ChangedOnDiskError, FileRefusedError
from acp_nvim.workspace.regular_files import in_words
from acp_nvim.workspace.stamps import stamp_of


async def put(
    files: OpenFiles, contents: Contents, path: str, was: Content, wanted: Content, save: bool = True
) -> bool:
    """Make `wanted` of the file if it is still `was`; to be called in `alone`. False: it is not, and nothing was done.

    A text goes into the buffer, if there is one, as one change; without `save` it is not saved. Raises
    `FileRefusedError`; then nothing was done either.
    """
    buffer = await _buffer(files, path)
    if buffer is not None and was.blob is None and not buffer.on_disk:
        _check_left_over(path, buffer, wanted)
    elif buffer is not None and was.text is not None and buffer.text != was.text:
        return False
    if buffer is None and await anyio.to_thread.run_sync(_blob, path) != was.blob:
        return False
    if wanted.blob is None:
        return await _remove(files, path, buffer)
    if buffer is None or wanted.text is None:
        return await _put_file(contents, path, was, wanted)
    if not await _put_text(files, path, buffer, wanted.text, save):
        return False
    if save:
        await anyio.to_thread.run_sync(_set_mode, path, wanted.blob.mode)
    return True


def _check_left_over(path: str, buffer: OpenText, wanted: Content) -> None:
    """The buffer of a deleted file keeps its text; what the user has made of that since is not to be lost."""
    if buffer.modified and buffer.text != wanted.text:
        raise FileRefusedError(
            f"{path} is deleted, and its buffer has unsaved changes of yours: write or undo them first"
        )


async def _remove(files: OpenFiles, path: str, buffer: OpenText | None) -> bool:
    """Delete it; its buffer becomes empty, which undo takes back."""
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
    """The file and its buffer get another name, which nothing has. Raises `FileRefusedError`."""
    try:
        await anyio.to_thread.run_sync(_rename, path, new)
    except OSError as error:
        raise in_words(path, "renamed", error) from error
    await files.editor.file_moved(path, new)


async def _buffer(files: OpenFiles, path: str) -> OpenText | None:
    try:
        return await files.read(path)
    except FileRefusedError:  # the file is no text now: what is to come may be one
        return None


async def _put_text(files: OpenFiles, path: str, buffer: OpenText, text: str, save: bool) -> bool:
    """False when somebody was quicker."""
    outcome = await files.write(path, buffer, text, save)
    if outcome is not None and outcome.error is not None:
        raise FileRefusedError(f"{path} was not changed: {outcome.error}")
    return outcome is not None and outcome.state is not None


async def _put_file(contents: Contents, path: str, was: Content, wanted: Content) -> bool:
    if wanted.blob is None:
        return False
    try:
        data = await contents.read(wanted.blob)
        await anyio.to_thread.run_sync(_write, path, data, wanted.blob.mode, was.blob)
    except SnapshotError as error:
        raise FileRefusedError(f"what {path} was is not kept any more: {error}") from error
    except ChangedOnDiskError:
        return False
    except OSError as error:
        raise in_words(path, "written", error) from error
    return True


def _write(path: str, data: bytes, mode: int, was: Blob | None) -> None:
    """Links are made anew; a file is replaced in one step."""
    if SYMLINK in (mode, was.mode if was is not None else mode):
        with suppress(FileNotFoundError):
            os.unlink(path)
    if mode == SYMLINK:
        umask.make_directories(os.path.dirname(path))
        os.symlink(data, os.fsencode(path))
        return
    replace(path, data, stamp_of(os.stat(path)) if os.path.lexists(path) else None)
    _set_mode(path, mode)


def _blob(path: str) -> Blob | None:
    found = look_at(path)
    return None if found is None else found.blob


def _set_mode(path: str, mode: int) -> None:
    """Whoever may read it may execute it, or nobody."""
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
