"""Writes images and audio of agents into files, for external viewers."""

from __future__ import annotations

import base64
import binascii
import hashlib
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_nvim.acp import schema_common as content
from acp_nvim.state.private_file import make_directory, write_new

MEDIA_SECONDS: Final = 24 * 3600.0
"""Age at which opened images and audio are removed from the cache directory."""

ENDINGS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/tiff": "tiff",
    "image/avif": "avif",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "audio/aac": "aac",
    "audio/mp4": "m4a",
    "audio/webm": "weba",
}
"""File extensions that no program executes, whatever the content is: agents may send anything."""


class UnusableError(Exception):
    """An image or audio cannot be written into a file; the message tells the user why."""


def write_media(block: content.ImageContent | content.AudioContent, directory: Path) -> Path:
    """Write media into a file in that directory, remove old files, and return the path. Raises `UnusableError`."""
    kind = block.mime_type.partition(";")[0].strip().lower()
    if kind not in ENDINGS:
        raise UnusableError(f"{block.mime_type!r} is not opened: no picture or sound that acp_nvim knows")
    try:
        data = base64.b64decode(block.data)
    except (binascii.Error, ValueError) as error:
        raise UnusableError(f"what the agent sent is no base64 ({error})") from error
    path = directory / f"{hashlib.sha256(data).hexdigest()[:16]}.{ENDINGS[kind]}"
    try:
        make_directory(directory)
        for one in directory.iterdir():
            with suppress(OSError):
                if time.time() - one.stat().st_mtime > MEDIA_SECONDS:
                    one.unlink()
        with suppress(FileExistsError):
            write_new(path, data)
    except OSError as error:
        raise UnusableError(f"{path} cannot be written: {error.strerror}") from error
    return path
