"""What is in a directory in which others work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def below(directory: Path, pattern: str = "*") -> Iterator[Path]:
    """All that is in a directory, at any depth, and whose last names are like `pattern`.

    What goes away meanwhile is left out.
    """
    for where, directories, files in os.walk(directory):
        paths = (Path(where, name) for name in (*directories, *files))
        yield from (path for path in paths if path.match(pattern))
