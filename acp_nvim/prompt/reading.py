"""Reads the files and images that a prompt attaches, off the event loop, and says which images are too large."""

from __future__ import annotations

import base64
import os
import stat
from itertools import repeat
from struct import error as TooShortError
from struct import unpack_from
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.limits import IMAGE_BYTES, IMAGE_PIXELS, MAX_FILE_BYTES, MENTION_BYTES
from acp_nvim.prompt.items import ContextItem, FileItem, ImageItem
from acp_nvim.workspace import disk
from acp_nvim.workspace.read_text_file import cut
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from acp_nvim.workspace.regular_files import READ_NOW

_SEGMENTS: Final = 1000
"""Segments of a JPEG before its size: cameras write twenty."""
_ALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})  # markers without a segment
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
MAGIC: Final = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


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


def too_large(data: bytes) -> str | None:
    """Return in words why providers of models refuse an image, None if they probably take it."""
    if len(data) > IMAGE_BYTES:
        most = f"{IMAGE_BYTES / 1024 / 1024:.2f}"
        return f"is larger than {most} MB, which is the most that all providers of models take"
    width, height = pixels(data) or (0, 0)
    if max(width, height) > IMAGE_PIXELS:
        return f"has {width:,} x {height:,} pixels, and providers of models take {IMAGE_PIXELS:,} a side at most"
    return None


def pixels(data: bytes) -> tuple[int, int] | None:
    """Return the width and the height of a PNG, JPEG, GIF or WebP; None if its first bytes do not say it."""
    try:
        if data.startswith(MAGIC["image/png"]) and data[12:16] == b"IHDR":
            return unpack_from(">II", data, 16)
        if data.startswith(MAGIC["image/gif"]):
            return unpack_from("<HH", data, 6)
        if data.startswith(MAGIC["image/webp"]) and data[8:12] == b"WEBP":
            return _webp(data)
        return _jpeg(data) if data.startswith(MAGIC["image/jpeg"]) else None
    except (TooShortError, IndexError):
        return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            high, low, high_2, low_2 = unpack_from("<HBHB", data, 24)
            return (high | low << 16) + 1, (high_2 | low_2 << 16) + 1
        case b"VP8L" if data[20] == 0x2F:
            (bits,) = unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            width, height = unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    for _ in repeat(None, _SEGMENTS):
        if data[at] != 0xFF:
            return None
        while data[at] == 0xFF:  # any number of them may stand before a marker
            at += 1
        marker = data[at]
        if marker in _FRAMES:
            height, width = unpack_from(">HH", data, at + 4)
            return width, height
        at += 1 if marker in _ALONE else 1 + unpack_from(">H", data, at + 1)[0]
    return None
