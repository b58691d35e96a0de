"""A change of a text as lines of a unified diff."""

from __future__ import annotations

from collections.abc import Iterator

from acp_nvim.workspace.line_differences import Block, differences
from acp_nvim.workspace.text_shape import lines_with_ends

_CONTEXT = 3


def patch(old_text: str | None, new_text: str, line: int) -> str:
    """Hunks with three lines around them; `line` (1-based) is where the old text begins in its file."""
    old, new = lines_with_ends(old_text or ""), lines_with_ends(new_text)
    return "".join(part for group in _groups(list(differences(old, new))) for part in _hunk(old, new, group, line))


def _groups(blocks: list[Block]) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        if group and block.i1 - group[-1].i2 > 2 * _CONTEXT:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _hunk(old: list[str], new: list[str], group: list[Block], line: int) -> Iterator[str]:
    first, last = group[0], group[-1]
    before = min(_CONTEXT, first.i1)
    after = min(_CONTEXT, len(old) - last.i2)
    i1, i2, j1, j2 = first.i1 - before, last.i2 + after, first.j1 - before, last.j2 + after
    shift = line - 1
    yield f"@@ -{_range(i1 + shift, i2 - i1)} +{_range(j1 + shift, j2 - j1)} @@\n"
    at = i1
    for block in group:
        yield from _marked(" ", old[at : block.i1])
        yield from _marked("-", old[block.i1 : block.i2])
        yield from _marked("+", new[block.j1 : block.j2])
        at = block.i2
    yield from _marked(" ", old[at:i2])


def _range(start: int, count: int) -> str:
    return f"{start + (count > 0)},{count}"


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
