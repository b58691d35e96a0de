"""Where a version that could not be merged differs from the user's text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from acp_nvim.workspace.line_differences import differences
from acp_nvim.workspace.text_shape import lines_with_ends


class ConflictBlock(msgspec.Struct, frozen=True):
    """`count` rows of the user's text from row `first` on, `mine`, which may become `theirs`; lines without ends."""

    first: int
    count: int
    mine: tuple[str, ...]
    theirs: tuple[str, ...]


def conflict_blocks(base: str | None, current: str, theirs: str) -> list[ConflictBlock]:
    """All of them, in order."""
    old, new = lines_with_ends(current), lines_with_ends(theirs)
    return [
        ConflictBlock(one.i1, one.i2 - one.i1, tuple(old[one.i1 : one.i2]), tuple(new[one.j1 : one.j2]))
        for one in differences(old, new)
    ]


def resolve(
    base: str | None,
    current: str,
    theirs: str,
    blocks: Sequence[ConflictBlock],
    choice: Literal["mine", "theirs", "both"],
) -> tuple[str | None, str]:
    """The base and the text in which these blocks are decided."""
    return theirs, theirs if choice == "theirs" else current
