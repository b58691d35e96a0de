"""Bounds of paths that agents name."""

from __future__ import annotations

from typing import Final

LINKS_IN_PATH: Final = 40
"""Symbolic links that one path leads through: Linux opens no path with more (path_resolution(7)), so a circle ends."""

PATH_BYTES: Final = 4096
"""Length of a path: Linux opens none that is longer (PATH_MAX)."""

PATH_PARTS: Final = 128
"""Names in a path, as an agent gives it and as it is: projects nest 30 deep. Each is looked up several times."""

PATH_LOOKUPS: Final = 1024
"""Names that are looked up for one path, with those of the links that it leads through: 25 for each link."""
