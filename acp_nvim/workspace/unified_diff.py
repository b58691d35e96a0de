"""The hunks of a unified diff between two lists of lines."""

from __future__ import annotations

from collections.abc import Iterator

from acp_nvim.workspace.line_differences import Block, differences

_CONTEXT = 3


def unified_hunks(old: list[str], new: list[str], line: int = 1) -> Iterator[str]:
    """Yield the lines of all hunks: `@@` headers, and lines marked with " ", "-" or "+", which keep their own ends.

    `line` is the number of the first old line in its file, counted from 1.
    """
    group: list[Block] = []
    for block in differences(old, new):
        if group and block.i1 - group[-1].i2 > 2 * _CONTEXT:
            yield from _hunk(old, new, group, line)
            group = []
        group.append(block)
    if group:
        yield from _hunk(old, new, group, line)


def _hunk(old: list[str], new: list[str], group: list[Block], line: int) -> Iterator[str]:
    first, last = group[0], group[-1]
    i1, i2 = max(first.i1 - _CONTEXT, 0), min(last.i2 + _CONTEXT, len(old))
    j1, j2 = max(first.j1 - _CONTEXT, 0), min(last.j2 + _CONTEXT, len(new))
    yield f"@@ -{_range(i1 + line - 1, i2 - i1)} +{_range(j1 + line - 1, j2 - j1)} @@\n"
    at = i1
    for block in group:
        yield from (f" {one}" for one in old[at : block.i1])
        yield from (f"-{one}" for one in old[block.i1 : block.i2])
        yield from (f"+{one}" for one in new[block.j1 : block.j2])
        at = block.i2
    yield from (f" {one}" for one in old[at:i2])


def _range(start: int, count: int) -> str:
    return f"{start + (count > 0)},{count}"
