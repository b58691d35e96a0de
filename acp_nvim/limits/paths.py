"""Bounds of paths that agents name."""

from __future__ import annotations

from typing import Final

LINKS_IN_PATH: Final = 40
"""Symbolic links that one path leads through: Linux opens no path with more (path_resolution(7)), so a circle ends."""
