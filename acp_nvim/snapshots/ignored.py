"""What else than the work tree's own `.gitignore` files says which files are ignored: one file of ours for git."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from acp_nvim.limits import EXCLUDES_BYTES
from acp_nvim.workspace.regular_files import read_regular


def exclude_text(sources: Sequence[str], top: str, private: Sequence[str]) -> bytes:
    """The rules in the files `sources`, the strongest last, and rules for the directories `private`. Blocks."""
    rules = [_read(source) + b"\n" for source in sources]
    for path in private:
        if path.startswith(os.path.join(top, "")):
            rules.append(b"/%s/\n" % _literal(os.fsencode(os.path.relpath(path, top))))
    return b"".join(rules)


def _read(path: str) -> bytes:
    try:
        return read_regular(path, EXCLUDES_BYTES)
    except OSError:
        return b""


def _literal(path: bytes) -> bytes:
    return re.sub(rb"([\\*?\[ #!])", rb"\\\1", path)
