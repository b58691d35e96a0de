"""Reads the files and images that a prompt mentions, off the event loop."""

from __future__ import annotations

import base64
import binascii
import os
import stat

import anyio.to_thread

from acp_nvim.limits import MAX_FILE_BYTES
from acp_nvim.limits.prompt import IMAGE_BYTES, MENTION_BYTES
from acp_nvim.session.context import ContextItem, FileItem, Found, ImageItem
from acp_nvim.workspace import disk
from acp_nvim.workspace.read_text_file import cut
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from acp_nvim.workspace.regular_files import READ_NOW

_MAGIC = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


async def read(item: ContextItem) -> Found:
    """What there is to read for an item; a problem is part of the answer."""
    try:
        match item:
            case FileItem():
                return await _read_text(item)
            case ImageItem(path=None):
                return _check_data(item)
            case ImageItem():
                return await anyio.to_thread.run_sync(_read_image, item)
            case _:
                return Found()
    except (FileRefusedError, NoSuchFileError) as error:
        return Found(problem=f"{error}.")
    except OSError as error:
        return Found(problem=f"{item.name} cannot be read: {error.strerror}.")


async def _read_text(item: FileItem) -> Found:
    path = await anyio.to_thread.run_sync(_check, item.path, MENTION_BYTES if item.first is None else MAX_FILE_BYTES)
    text = (await disk.read(path)).text
    text = text.removeprefix("\ufeff")
    if item.first is not None:
        text = await anyio.to_thread.run_sync(_lines, item, text)
    return Found(text=text)


def _lines(item: FileItem, text: str) -> str:
    first = item.first or 1
    last = item.last or first
    part = cut(text, first, last - first + 1)
    if not part:
        raise FileRefusedError(f"{item.path} has no line {first}")
    if len(part) > MENTION_BYTES:
        raise FileRefusedError(f"{item.name} has {_megabytes(len(part))}, which is too much for a prompt")
    return part


def _check(path: str, most: int) -> str:
    """The real path of a file that is not too large. Raises `FileRefusedError`, `OSError`."""
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
    if len(data) > IMAGE_BYTES:
        raise FileRefusedError(f"{item.path} has more than {_megabytes(IMAGE_BYTES)}, which agents do not take")
    if not data.startswith(_MAGIC.get(item.mime_type, b"")):
        raise FileRefusedError(f"{item.path} is no image of the type {item.mime_type}")
    return Found(data=base64.b64encode(data).decode("ascii"))


def _check_data(item: ImageItem) -> Found:
    data = item.data or ""
    try:
        base64.b64decode(data, validate=True)
    except binascii.Error:
        return Found(problem=f"{item.name} is no base64.")
    if len(data) > IMAGE_BYTES * 4 // 3 + 4:
        return Found(problem=f"{item.name} has more than {_megabytes(IMAGE_BYTES)}, which agents do not take.")
    return Found(data=data)


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:.1f} MB"
