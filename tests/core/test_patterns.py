"""No regular expression of the package needs what CPython 3.11.0 to 3.11.4 match wrongly (gh-106052).

There, a possessive repeat of a group keeps what its last, failed iteration has consumed. An atomic group around a plain
repeat means the same, and is right in each version.
"""

from __future__ import annotations

import ast
import gc
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.lazy import pattern
from tests.support.places import ROOT

PARSER = importlib.import_module("re._parser")
SINGLE = (PARSER.ANY, PARSER.IN, PARSER.LITERAL, PARSER.NOT_LITERAL)
"""Items of one character: each version repeats them correctly."""
WRITTEN = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]*\})\+")
"""A possessive repeat of a group, as it is written; an expression may be built from several strings."""


def repeated_groups(items: Any) -> Iterator[Any]:
    """Possessive repeats of more than one character, at any depth of a parsed expression."""
    for item in items:
        if isinstance(item, tuple) and item and item[0] is PARSER.POSSESSIVE_REPEAT:
            repeated = item[1][2]
            if len(repeated) != 1 or repeated[0][0] not in SINGLE:
                yield item
        if isinstance(item, tuple | list | PARSER.SubPattern):
            yield from repeated_groups(item)


def has_repeated_group(source: str | bytes, flags: int = 0) -> bool:
    return any(repeated_groups(PARSER.parse(source, flags)))


def may_repeat_group(text: str) -> bool:
    """Whether an expression with this text in it may have such a repeat."""
    try:
        return WRITTEN.search(text) is not None and has_repeated_group(text)
    except re.error:  # a part of one
        return True


def sources() -> list[Path]:
    folders = [ROOT / name for name in ("acp_nvim", "rplugin", "requirements")]
    return [file for folder in folders for file in sorted(folder.rglob("*.py"))]


def strings(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")


@pytest.mark.parametrize(
    "source",
    ["(?:ab?c)*+", "(?:ab)?+", "x(?:a|bc){2,3}+", "((?:ab)++|y)*", "(?>(?:ab)*+)", "(?=(?:ab)*+)", "(?i:(ab)*+)"],
)
def test_a_possessive_repeat_of_a_group_is_found(source: str) -> None:
    assert has_repeated_group(source)
    assert has_repeated_group(source.encode())
    assert may_repeat_group(source)
    assert may_repeat_group(f"({source}")


@pytest.mark.parametrize(
    "source", ["a*+b++[cd]?+.{2,3}+[^e]*+", "(?>(?:ab?c)*)", "(?:ab)*", r"\d++", r"\)*+", "[()*+]"]
)
def test_another_repeat_is_not(source: str) -> None:
    assert not has_repeated_group(source)
    assert not may_repeat_group(source)


def test_no_expression_repeats_a_group_possessively() -> None:
    for file in sorted((ROOT / "acp_nvim").rglob("*.py")):
        if "demo_project" not in file.parts and file.stem != "__main__":
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    gc.unfreeze()  # what a host of another test has frozen is not listed
    built = [one for one in gc.get_objects() if type(one) is type(pattern(""))]
    assert len(built) > 100
    assert [one for one in built if has_repeated_group(one.pattern, one.flags)] == []


def test_no_string_repeats_a_group_possessively() -> None:
    """Such as the parts of expressions that are built when they are used; `pythons` only looks for the defect."""
    found = [(file.name, text) for file in sources() for text in strings(file) if may_repeat_group(text)]
    assert found == [("pythons.py", "(?:ab?c)*+")]
