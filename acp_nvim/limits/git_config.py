"""Bounds of git's configuration, as far as it is read to find the programs that it names."""

from __future__ import annotations

from typing import Final

CONFIG_BYTES: Final = 256 * 1024
"""Of one file: people's are below 10 kB, and a repository with a thousand branches has 150 kB."""

CONFIG_FILES: Final = 20
"""Files that include each other: nobody has so many, and each is read for every write."""
