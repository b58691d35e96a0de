"""Finds and resolves the places where a version that could not be merged differs from the text of the user."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

import msgspec

from acp_nvim.workspace import text_shape as forms
from acp_nvim.workspace.line_differences import Block, differences
from acp_nvim.workspace.text_shape import TextForm


class ConflictBlock(msgspec.Struct, frozen=True):
    """The user's lines, at the rows `first` to `first + count - 1`, and those of the other version."""

    first: int
    count: int
    mine: tuple[str, ...]
    theirs: tuple[str, ...]


class _Chunk(msgspec.Struct):
    """Lines `[i1:i2]` of the base, `[j1:j2]` of the user's text, `[k1:k2]` of the other version."""

    i1: int
    i2: int
    j1: int
    j2: int
    k1: int
    k2: int
    is_theirs: bool
    """True if the other version has changed something there."""


class _Texts(msgspec.Struct, frozen=True):
    """Three texts: their forms and their lines."""

    base_form: TextForm
    base: list[str]
    form: TextForm
    current: list[str]
    theirs_form: TextForm
    theirs: list[str]


def conflict_blocks(base: str | None, current: str, theirs: str) -> list[ConflictBlock]:
    """Return the places where `theirs` changed `base` and differs from `current`; without `base`, all that differ."""
    texts = _split(base, current, theirs)
    return [_block(texts, chunk) for chunk in _chunks(texts) if _is_open(texts, chunk)]


def resolve(
    base: str | None,
    current: str,
    theirs: str,
    blocks: Collection[ConflictBlock],
    choice: Literal["mine", "theirs", "both"],
) -> tuple[str, str]:
    """Return the base and the current text with that choice for these blocks; with this base they are resolved."""
    texts = _split(base, current, theirs)
    form = texts.form
    lines, base_lines = list(texts.current), list(texts.base)
    for chunk in reversed(list(_chunks(texts))):
        wanted = texts.theirs[chunk.k1 : chunk.k2]
        is_chosen = _is_open(texts, chunk) and _block(texts, chunk) in blocks
        if is_chosen or (chunk.is_theirs and not _is_open(texts, chunk)):
            base_lines[chunk.i1 : chunk.i2] = wanted
        if is_chosen and choice != "mine":
            if chunk.j2 == len(texts.current) and chunk.k1 < chunk.k2 == len(texts.theirs):  # the last line, too
                form = msgspec.structs.replace(form, ended=texts.theirs_form.ended)
            lines[chunk.j1 if choice == "theirs" else chunk.j2 : chunk.j2] = wanted
    return texts.base_form.fitting(base_lines).text(base_lines), form.fitting(lines).text(lines)


def _split(base: str | None, current: str, theirs: str) -> _Texts:
    base = current if base is None else base
    base_end, their_end, end = forms.ends((base, theirs, current), None)
    form, lines = forms.split(current, end)
    their_form, their_lines = forms.split(theirs, their_end)
    base_form, base_lines = forms.split(base, base_end)
    form = forms.settled(form, lines, their_form)
    return _Texts(forms.settled(base_form, base_lines, form), base_lines, form, lines, their_form, their_lines)


def _block(texts: _Texts, chunk: _Chunk) -> ConflictBlock:
    mine, theirs = texts.current[chunk.j1 : chunk.j2], texts.theirs[chunk.k1 : chunk.k2]
    return ConflictBlock(chunk.j1, chunk.j2 - chunk.j1, tuple(mine), tuple(theirs))


def _is_open(texts: _Texts, chunk: _Chunk) -> bool:
    return chunk.is_theirs and texts.current[chunk.j1 : chunk.j2] != texts.theirs[chunk.k1 : chunk.k2]


def _chunks(texts: _Texts) -> Iterator[_Chunk]:
    """Yield the regions of the base that either version has changed, in order; overlapping changes share one.

    Adjacent changes are separate regions, so that the user's do not become part of a conflict.
    """
    chunk: _Chunk | None = None
    j = k = 0  # lines more than in the base, before this place
    for block, is_theirs in _changes(texts):
        overlaps = chunk is not None and (block.i1 < chunk.i2 or block.i1 == block.i2 == chunk.i1 == chunk.i2)
        if chunk is None or not overlaps:
            if chunk is not None:
                yield chunk
            chunk = _Chunk(block.i1, block.i1, block.i1 + j, block.i1 + j, block.i1 + k, block.i1 + k, False)
        more = block.j2 - block.j1 - (block.i2 - block.i1)
        j, k = (j, k + more) if is_theirs else (j + more, k)
        chunk.i2 = max(chunk.i2, block.i2)
        chunk.j2, chunk.k2 = chunk.i2 + j, chunk.i2 + k
        chunk.is_theirs = chunk.is_theirs or is_theirs
    if chunk is not None:
        yield chunk


def _changes(texts: _Texts) -> list[tuple[Block, bool]]:
    """Return all changes of the base with whether the other version made them, sorted by their place in the base."""
    mine = [(block, False) for block in differences(texts.base, texts.current)]
    theirs = [(block, True) for block in differences(texts.base, texts.theirs)]
    return sorted(mine + theirs, key=lambda change: (change[0].i1, change[0].i2))
