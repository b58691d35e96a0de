"""Bounds of what comes along with a prompt."""

from __future__ import annotations

from typing import Final

MENTION_BYTES: Final = 1024 * 1024
"""Of one file whose text comes along: 300,000 tokens, more than the context of a model."""

IMAGE_BYTES: Final = 7 * 1024 * 1024
"""Of an image: 10 MB in base64, which is what agents take."""
