"""A merge that needs no thinking: where two people changed lines far from each other, there is but one result."""

from __future__ import annotations

import difflib

from tests.workspace.texts import BOM, end_of, ending, lines_of

Change = tuple[int, int, list[str]]
"""Lines `first` to `last - 1` become these."""
APART = 2
"""Lines that are the same between two changes: with fewer, a merge may say that they are one."""


def changes(old: list[str], new: list[str]) -> list[Change]:
    found = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(a, b, new[c:d]) for tag, a, b, c, d in found if tag != "equal"]


def merged(base: str, ours: str, theirs: str) -> str | None:
    """The one result; None when it takes more to say what it is."""
    if not all(_is_plain(text, base) for text in (base, ours, theirs)):
        return None
    lines = lines_of(base)
    mine, other = changes(lines, lines_of(ours)), changes(lines, lines_of(theirs))
    if any(a - APART < d and c - APART < b for a, b, _ in mine for c, d, _ in other):
        return None
    for first, last, new in sorted(mine + other, key=lambda change: change[0], reverse=True):
        lines[first:last] = new
    return BOM * base.startswith(BOM) + "".join(lines)


def _is_plain(text: str, base: str) -> bool:
    """Line ends and BOM as in the base, and every line is ended."""
    lines = lines_of(text)
    return (
        bool(lines)
        and text.startswith(BOM) == base.startswith(BOM)
        and {ending(line) for line in lines} == {end_of(base)}
    )
