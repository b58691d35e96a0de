"""Where background tasks are started in a package, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

STARTS = ("spawn", "_spawn")
"""How `Tasks.spawn` is called; a function of that name that is awaited is another one."""


class Site(NamedTuple):
    """A call that starts a background task."""

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.path}:{self.first}"


def sites(root: Path) -> list[Site]:
    """All of the package at `root`."""
    return [
        Site(str(path), call.lineno, call.end_lineno or call.lineno)
        for path, tree in trees(root, *(f".{name}(" for name in STARTS))
        for call in _calls(tree)
        if isinstance(call.func, ast.Attribute) and call.func.attr in STARTS
    ]


def trees(root: Path, *words: str) -> Iterator[tuple[Path, ast.Module]]:
    """The parsed modules of the package; with `words` only those with one of them, as parsing takes long."""
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not words or any(word in text for word in words):
            yield path, ast.parse(text)


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    awaited = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Await)}
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in awaited)
