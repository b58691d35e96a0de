"""What imports what in a package, read from the source: lazy imports and those for type checking included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PARTS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where statements have statements in them; a lambda's body, and an expression's, is none."""


@dataclass(frozen=True)
class Import:
    """One import statement's target: `module` of our own package, or the top-level name of a foreign one."""

    importer: str
    module: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.module}"


def modules(root: Path) -> dict[str, Path]:
    """The modules of the package at `root`, by their dotted name."""
    found: dict[str, Path] = {}
    for path in sorted(root.rglob("*.py")):
        parts = [root.name, *path.relative_to(root).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(root: Path) -> list[Import]:
    """Every import in the package at `root`, wherever in a file it stands; read once."""
    known = modules(root)
    return [
        Import(name, target, line)
        for name, path in known.items()
        for target, line in _targets(name, path, known)
        if target != name
    ]


def cycles(found: list[Import]) -> list[list[str]]:
    """The import cycles among the importers."""
    edges: dict[str, set[str]] = {}
    for one in found:
        edges.setdefault(one.importer, set()).add(one.module)
    closed: list[list[str]] = []
    finished: set[str] = set()

    def visit(module: str, trail: list[str]) -> None:
        if module in trail:
            closed.append([*trail[trail.index(module) :], module])
        elif module not in finished:
            for target in sorted(edges.get(module, ())):
                visit(target, [*trail, module])
            finished.add(module)

    for module in sorted(edges):
        visit(module, [])
    return closed


def folders(root: Path) -> dict[str, str]:
    """The folder of each module of the package at `root`: the one it lies in; a module at the top stands for itself."""
    return {
        name: name if path.name == "__init__.py" or path.parent == root else name.rpartition(".")[0]
        for name, path in modules(root).items()
    }


def folder_imports(root: Path) -> list[Import]:
    """The imports between folders, of which each may lie in another."""
    of = folders(root)
    found = [(one, of[one.importer], of[one.module]) for one in imports(root) if one.module in of]
    return [Import(importer, module, one.line) for one, importer, module in found if importer != module]


def circling(found: list[Import]) -> set[tuple[str, str]]:
    """The arrows that are part of a cycle: the second leads back to the first."""
    edges: dict[str, set[str]] = {}
    for one in found:
        edges.setdefault(one.importer, set()).add(one.module)

    def reached(start: str) -> set[str]:
        seen, ahead = set[str](), [start]
        while ahead:
            fresh = edges.get(ahead.pop(), set()) - seen
            seen |= fresh
            ahead += fresh
        return seen

    return {
        (one, other) for other in {one.module for one in found} for one in reached(other) if other in edges.get(one, ())
    }


def _targets(name: str, path: Path, known: dict[str, Path]) -> Iterator[tuple[str, int]]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _target(alias.name, known), node.lineno
        elif isinstance(node, ast.ImportFrom):
            start = package.rsplit(".", node.level - 1)[0] + "." if node.level else ""
            base = f"{start}{node.module or ''}".rstrip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield (inner if inner in known else _target(base, known)), node.lineno


def _statements(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """These statements and those in them: without the expressions, of which there are ten times as many."""
    for node in nodes:
        yield node
        for part in _PARTS:
            yield from _statements(getattr(node, part, ()))


def _target(name: str, known: dict[str, Path]) -> str:
    return name if name in known else name.partition(".")[0]
