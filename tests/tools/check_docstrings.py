"""Finds public names of the product whose docstrings say too little."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

WORDS = 6
"""A docstring of so many words, or fewer, says too little."""
ELSEWHERE = re.compile(r"See `[\w.]+`\.")
"""What is enough where another docstring says it: a method is as its protocol wants it."""
SAMPLES = "demo_project"
"""A folder of files for the demo agent, in which it has something to mend."""
UNITS = re.compile(
    r"(^|_)(seconds|ms|ns|time|moment|bytes|megabytes|size|chars|lines?|rows?|columns?|width|height|files?|count|number|"
    r"index|position|offset|id|oid|key|session|block|pid|fd|gid|uid|mode|code|errno|signal|version|port|descriptor|ago|now)$"
)
"""Names of arguments that say what is counted, or which thing a number stands for."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def public_names(body: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    """Functions, classes, and what public classes have: names without an underscore at the beginning."""
    for node in body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public_names(node.body)


def says_too_little(node: Function | ast.ClassDef) -> bool:
    """Whether the docstring has too few words. What only repeats a signature (`@overload`, a setter) needs none."""
    if any(ast.unparse(one).endswith(("overload", ".setter")) for one in node.decorator_list):
        return False
    words = ast.get_docstring(node) or ""
    return len(words.split()) <= WORDS and not ELSEWHERE.fullmatch(words)


def unnamed_numbers(node: Function | ast.ClassDef) -> list[str]:
    """Find arguments that are numbers without a unit in the docstring; for a class, arguments of its constructor."""
    words = ast.get_docstring(node) or ""
    made = node if isinstance(node, Function) else constructor(node)
    if made is None:
        return []
    words += ast.get_docstring(made) or ""
    numbers = [one.arg for one in (*made.args.args, *made.args.kwonlyargs) if is_number(one.annotation)]
    return [one for one in numbers if not UNITS.search(one) and not re.search(rf"\b{one}\b", words)]


def constructor(node: ast.ClassDef) -> Function | None:
    """Return the `__init__` of a class, if it has one."""
    return next((one for one in node.body if isinstance(one, Function) and one.name == "__init__"), None)


def is_number(annotation: ast.expr | None) -> bool:
    """Whether an argument is an `int` or a `float`, or None."""
    return annotation is not None and bool(re.fullmatch(r"(int|float)( \| (int|float|None))*", ast.unparse(annotation)))


def offenders(root: Path) -> tuple[list[str], list[str]]:
    """Where docstrings say too little below `acp_nvim`: those that are too short, and numbers without a unit."""
    short, unnamed = [], []
    for path in sorted((root / "acp_nvim").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "generated" in text[:300].lower() or SAMPLES in path.parts:
            continue
        for node in public_names(ast.parse(text).body):
            where = f"{path.relative_to(root).as_posix()}:{node.lineno}: {node.name}"
            if says_too_little(node):
                short.append(f"{where}: {ast.get_docstring(node) or 'no docstring'}")
            unnamed += [f"{where}: what does the number {one!r} count?" for one in unnamed_numbers(node)]
    return short, unnamed


def main() -> int:
    """Print what says too little; return 1 if there is any."""
    short, unnamed = offenders(Path(__file__).resolve().parents[2])
    for found, what in ((short, "short docstrings"), (unnamed, "numbers without a unit")):
        print("\n".join([*found, f"{len(found)} {what}"]))
    return 1 if short or unnamed else 0


if __name__ == "__main__":
    sys.exit(main())
