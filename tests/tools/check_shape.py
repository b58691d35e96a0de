"""Checks what no other tool does: how long files and functions are, and words that must not be in the repository."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 60
GENERATED = re.compile(r'\A""".*\n\nGenerated from ')
"""How a generated file begins: it may have any number of lines."""
# Spelled so that this file does not contain them.
WORDS = {
    r"py[p]i\.org|files\.pythonhoste[d]|npmj[s]\.(?:org|com)|deb\.debia[n]\.org": "names a package host",
    r"/wor[k]/(?:main|shared)": "is a path of one machine",
    r"(?<![\w./])/roo[t]/\.|/tm[p]/bash_job[s]": "is a path of one machine",
    r"\bTOD[O]\b|\bFIXM[E]\b|\bXX[X]\b": "is unfinished",
    r"\bissue [#]?\d+": "names an issue: say the reason itself",
    r"^(?:<{7}|>{7}) ": "is a conflict of a merge",
}
NO_WORDS_IN = ("LICENSE",)


def repository_files(root: Path) -> list[Path]:
    """The files that are, or may become, part of the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if answer.returncode == 0:
        paths = [root / name for name in answer.stdout.split("\0") if name]
    else:
        paths = [path for path in root.rglob("*") if not any(part.startswith(".") for part in path.parts)]
    return sorted(path for path in paths if path.is_file())


def long_parts(name: str, text: str) -> Iterator[str]:
    """What is too long in a file of Python."""
    count = text.count("\n")
    if count > FILE_LINES and not GENERATED.match(text):
        yield f"{name}:1: the file has {count} lines, more than {FILE_LINES}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{name}:{node.lineno}: {node.name} has {lines} lines, more than {FUNCTION_LINES}"


def undescribed(name: str, text: str) -> Iterator[str]:
    """A file that does not say its job."""
    if text.strip() and not ast.get_docstring(ast.parse(text)):
        yield f"{name}:1: the module has no docstring"


def wrong_words(name: str, text: str) -> Iterator[str]:
    """Words that must not be there."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, why in WORDS.items():
            if found := re.search(pattern, line):
                yield f"{name}:{number}: {found[0]!r} {why}"


def problems(root: Path) -> Iterator[str]:
    """All that is wrong below a directory."""
    for path in repository_files(root):
        name = path.relative_to(root).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if path.suffix == ".py" and name.startswith(("acp_nvim/", "rplugin/")):
            yield from long_parts(name, text)
            yield from undescribed(name, text)
        if name not in NO_WORDS_IN:
            yield from wrong_words(name, text)


def main() -> int:
    """Prints what is wrong with the repository, or with the directory that is named."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    found = list(problems(root))
    print("\n".join(found) if found else "nothing too long, no wrong words")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
