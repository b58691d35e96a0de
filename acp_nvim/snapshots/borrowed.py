"""Whether git can read a directory of objects of the user's without waiting for ever: anybody may have made it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Final

from acp_nvim.limits import EXCLUDES_BYTES
from acp_nvim.workspace.regular_files import read_regular

_DEPTH: Final = 5
"""git follows so many directories that name others."""


def is_readable(objects: str, depth: int = _DEPTH) -> bool:
    """Whether the files that git opens unasked (packs, lists) are regular, there and in what it names. Blocks.

    Loose objects are not looked at: there may be many. Whoever asks for them has a limit of time.
    """
    if not all(map(_is_regular, _files(objects))):
        return False
    try:
        lines = read_regular(os.path.join(objects, "info", "alternates"), EXCLUDES_BYTES).split(b"\n")
    except FileNotFoundError:
        return True
    except OSError:
        return False
    named = [os.path.join(objects, os.fsdecode(line)) for line in lines if line and not line.startswith(b"#")]
    return depth == 0 or all(is_readable(path, depth - 1) for path in named)


def _files(objects: str) -> Iterator[str]:
    for name in ("pack", "info", os.path.join("pack", "multi-pack-index.d"), os.path.join("info", "commit-graphs")):
        directory = os.path.join(objects, name)
        try:
            yield from (os.path.join(directory, one) for one in os.listdir(directory))
        except OSError:
            continue


def _is_regular(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return True  # gone, or a link to nothing: there is nothing to wait for
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
