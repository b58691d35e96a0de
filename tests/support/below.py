"""What is in a directory in which others work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def below(directory: Path) -> Iterator[Path]:
    """All that is in a directory, at any depth; what goes away meanwhile is left out."""
    for where, directories, files in os.walk(directory):
        yield from (Path(where, name) for name in (*directories, *files))
