"""Reads the size of an image in pixels from its first bytes, and says what is too large for the providers of models."""

from __future__ import annotations

from itertools import repeat
from struct import error as TooShortError
from struct import unpack_from
from typing import Final

from acp_nvim.limits import IMAGE_BYTES, IMAGE_PIXELS

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
