"""Recognizes members of a tool call's input that are paths, by their names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from acp_nvim.lazy import pattern

_PATH_WORD = r"(?:file|path|filename|filepath|pathname|dir|directory|folder|uri|notebook)s?"
_PATH_NAMES = pattern(rf"(?:^|_){_PATH_WORD}(?:_(?:name|list))?$")
_TWO_PATHS = frozenset(
    {"source", "destination", "src", "dst", "dest", "target", "from", "to", "old_name", "new_name"}
    | {"output", "outfile", "infile"}
)
_DIRECTORIES = frozenset({"cwd", "workdir"})
_DEPTH = 20


def words_of(name: Any) -> str:
    """Return the name of a member in snake case: `file_path` for `filePath` and `file-path`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]", "_", str(name)).lower()


def is_path(words: str, value: str) -> bool:
    """Return whether `value` of a member with this name (in the form of `words_of`) is a path."""
    if "://" in value and not value.startswith("file:"):
        return False
    return bool(_PATH_NAMES.search(words)) or (words in _TWO_PATHS and os.sep in value)


def moved(raw: Any, move: Callable[[str], str], name: str = "", depth: int = 0) -> Any:
    """Return the input with mapped paths; `move` is called with absolute paths and `file:` URIs.

    `name` is that of the member with the value `raw`, `depth` the number of objects and lists around it.
    """
    if depth > _DEPTH:
        return raw
    if isinstance(raw, dict):
        return {_moved_text(one, one, move): moved(value, move, one, depth + 1) for one, value in raw.items()}
    if isinstance(raw, list):
        return [moved(one, move, name, depth + 1) for one in raw]
    return _moved_text(name, raw, move) if isinstance(raw, str) else raw


def _moved_text(name: str, value: str, move: Callable[[str], str]) -> str:
    words = words_of(name)
    named = name == value or words in _DIRECTORIES or is_path(words, value)
    return move(value) if named and (os.path.isabs(value) or value.startswith("file:")) else value
