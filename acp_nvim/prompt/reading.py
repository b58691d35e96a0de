"""Reads the files and images that a prompt attaches, off the event loop, when the user sends it."""

from __future__ import annotations

import base64
import os
import stat

import anyio.to_thread
import msgspec

from acp_nvim.limits import IMAGE_BYTES, MAX_FILE_BYTES, MENTION_BYTES
from acp_nvim.prompt.images import MAGIC, too_large
from acp_nvim.prompt.items import ContextItem, FileItem, ImageItem
from acp_nvim.workspace import disk
from acp_nvim.workspace.read_text_file import cut
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from acp_nvim.workspace.regular_files import READ_NOW


class Found(msgspec.Struct, frozen=True):
    """The content read for an item: a file's `text`, or an image's `data` (base64); or the `problem` with it.

    `is_gone`: nothing is there any more.
    """

    text: str | None = None
    data: str | None = None
    problem: str | None = None
    is_gone: bool = False


async def read_item(item: ContextItem) -> Found:
    """Read the content of an item; a problem is returned, not raised."""
    try:
        match item:
            case FileItem():
                return await _read_text(item)
            case ImageItem(path=None):
                return await anyio.to_thread.run_sync(_check_data, item)
            case ImageItem():
                return await anyio.to_thread.run_sync(_read_image, item)
            case _:
                return Found()
    except (FileNotFoundError, NoSuchFileError):
        return Found(problem=f"{item.name} is not there any more.", is_gone=True)
    except FileRefusedError as error:
        return Found(problem=f"{error}.")
    except OSError as error:
        return Found(problem=f"{item.name} cannot be read: {error.strerror}.")


async def _read_text(item: FileItem) -> Found:
    path = await anyio.to_thread.run_sync(_check, item.path, MENTION_BYTES if item.first is None else MAX_FILE_BYTES)
    text = (await disk.read(path)).text.removeprefix("\ufeff")
    if item.first is not None:
        text = await anyio.to_thread.run_sync(_lines, item, text)
    return Found(text=text)


def _lines(item: FileItem, text: str) -> str:
    first = item.first or 1
    part = cut(text, first, (item.last or first) - first + 1)
    if not part:
        raise FileRefusedError(f"{item.path} has no line {first}")
    if len(part) > MENTION_BYTES:
        raise FileRefusedError(f"{item.name} has {_megabytes(len(part))}, which is too much for a prompt")
    return part


def _check(path: str, most: int) -> str:
    """Return the real path of a file of at most that many bytes. Raises `FileRefusedError`, `OSError`."""
    real = os.path.realpath(path)
    size = os.stat(real).st_size
    if size > most:
        raise FileRefusedError(f"{path} has {_megabytes(size)}, which is too much for a prompt")
    return real


def _read_image(item: ImageItem) -> Found:
    assert item.path is not None
    real = os.path.realpath(item.path)
    descriptor = os.open(real, READ_NOW)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileRefusedError(f"{item.path} is no regular file")
        data = file.read(IMAGE_BYTES + 1)
    if (why := too_large(data)) is not None:
        raise FileRefusedError(f"{item.name} {why}")
    if not data.startswith(MAGIC.get(item.mime_type, b"")):
        raise FileRefusedError(f"{item.path} is no image of the type {item.mime_type}")
    return Found(data=base64.b64encode(data).decode("ascii"))


def _check_data(item: ImageItem) -> Found:
    try:
        data = base64.b64decode(item.data or "", validate=True)
    except ValueError:  # also for letters beyond ASCII
        return Found(problem=f"{item.name} is no base64.")
    if (why := too_large(data)) is not None:
        return Found(problem=f"{item.name} {why}.")
    return Found(data=item.data)


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:.1f} MB"
