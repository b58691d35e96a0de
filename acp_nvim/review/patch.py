"""A change as a unified diff, for people to read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from acp_nvim.review.change import Change
from acp_nvim.workspace.line_differences import Block, differences
from acp_nvim.workspace.text_shape import lines_with_ends

PATCH_LINES: Final = 2000
"""Lines shown of what a restore would do to one file."""

CONTEXT = 3


def patch(change: Change, root: str) -> str:
    """Paths are those below `root`. Of what has no lines, only what becomes of it; long ones are cut, which is said."""
    old = "/dev/null" if change.base is None else f"a/{os.path.relpath(change.old_path or change.path, root)}"
    new = "/dev/null" if change.current is None else f"b/{os.path.relpath(change.path, root)}"
    lines = [f"--- {old}", f"+++ {new}"]
    if change.text is None:
        lines.append(change.note or "no text")
    else:
        lines += _hunks(lines_with_ends(change.text.base), lines_with_ends(change.text.current))
    if len(lines) > PATCH_LINES:
        lines[PATCH_LINES:] = [f"... {len(lines) - PATCH_LINES} more lines"]
    return "".join(f"{line}\n" for line in lines)


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for group in _groups(list(differences(list(old), list(new)))):
        first, last = group[0], group[-1]
        i1, i2 = max(first.i1 - CONTEXT, 0), min(last.i2 + CONTEXT, len(old))
        j1, j2 = max(first.j1 - CONTEXT, 0), min(last.j2 + CONTEXT, len(new))
        yield f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@"
        at = i1
        for block in group:
            yield from (f" {_line(line)}" for line in old[at : block.i1])
            yield from (f"-{_line(line)}" for line in old[block.i1 : block.i2])
            yield from (f"+{_line(line)}" for line in new[block.j1 : block.j2])
            at = block.i2
        yield from (f" {_line(line)}" for line in old[at:i2])


def _groups(blocks: list[Block]) -> list[list[Block]]:
    """Blocks whose contexts touch stand together."""
    groups = [blocks[:1]] if blocks else []
    for before, block in pairwise(blocks):
        if block.i1 - before.i2 <= 2 * CONTEXT:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _range(start: int, stop: int) -> str:
    return f"{start + 1 if stop > start else start},{stop - start}"


def _line(line: str) -> str:
    return line.rstrip("\r\n")
