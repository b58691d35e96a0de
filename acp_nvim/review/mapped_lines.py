"""A change of a whole file, made in another version of it."""

from __future__ import annotations

from acp_nvim.workspace.line_differences import differences


def mapped(old: list[str], new: list[str], lines: list[str]) -> list[str] | None:
    """`lines` with what was changed from `old` to `new`; None when these are no version of `old`, or lines are missing.

    They are a version when both have half of their lines in common. Each changed line must be there, and the place of
    what is only inserted.
    """
    where = _where(old, lines)
    if 2 * len(where) < max(len(old), len(lines)):
        return None
    where[-1], where[len(old)] = -1, len(lines)
    made, at = [], 0
    for block in differences(old, new):
        around = range(block.i1, block.i2) if block.i1 < block.i2 else range(block.i1 - 1, block.i1 + 1)
        places = [where.get(number) for number in around]
        start = places[0]
        if start is None or places != list(range(start, start + len(places))):
            return None
        first = start if block.i1 < block.i2 else start + 1
        made += [*lines[at:first], *new[block.j1 : block.j2]]
        at = first + block.i2 - block.i1
    return made + lines[at:]


def _where(old: list[str], new: list[str]) -> dict[int, int]:
    """For each old line that is there still, which of the new ones it is."""
    where: dict[int, int] = {}
    i = j = 0
    for block in [*differences(old, new), None]:
        stop = len(old) if block is None else block.i1
        where.update(zip(range(i, stop), range(j, j + stop - i), strict=True))
        if block is not None:
            i, j = block.i2, block.j2
    return where
