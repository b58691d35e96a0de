"""Finds where the changes of a tool call apply in a text: to preview them, and to undo them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from acp_nvim.acp.diff import FileChange, Piece
from acp_nvim.contract.review_events import PreviewHunk
from acp_nvim.hunks.owned_lines import common_lines
from acp_nvim.limits import REVIEW_TEXT_BYTES
from acp_nvim.workspace.encoding import BOM
from acp_nvim.workspace.line_differences import differences
from acp_nvim.workspace.text_shape import is_mac, lines_with_ends, take_apart

MAX_OCCURRENCES: Final = 1000
"""Occurrences of a piece of a diff that are examined: a piece with more is a single word."""


class Located(msgspec.Struct, frozen=True):
    """Rows `first` to `first + count - 1` are `old` and become `new`; `already`: they are `new` now.

    Lines have no ends. If `count` is 0, it is a place before row `first`.
    """

    first: int
    count: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    already: bool = False


class _Range(msgspec.Struct, frozen=True):
    """Characters `[start:stop]` to be replaced by `other`, or that have replaced it (`already`)."""

    start: int
    stop: int
    other: str
    already: bool = False


def locate(text: str, change: FileChange) -> list[Located] | None:
    """Return the changed lines of `text`, in order; None if the change does not show where it applies.

    Line ends, the byte order mark and the end of the last line are ignored: agents leave them out.
    """
    now = _plain(text)
    if change.operation == "delete":
        return list(_located(_lines(now), [], already=False))
    if change.operation == "patch":  # it could not be parsed
        return None
    ranges: list[_Range] = []
    for number, piece in enumerate(change.pieces):
        found = _find(now, piece, ranges, change.pieces[number:].count(piece))
        if found is None:
            return None
        ranges += found
    lines = _lines(now)
    after = _lines(_replaced(now, [one for one in ranges if not one.already]))
    before = _lines(_replaced(now, [one for one in ranges if one.already]))
    places = [*_located(lines, after, already=False), *_located(before, lines, already=True)]
    return sorted(places, key=lambda place: (place.first, place.count))


def _plain(text: str) -> str:
    return text.removeprefix(BOM).replace("\r\n", "\n")


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _located(old: list[str], new: list[str], already: bool) -> Iterator[Located]:
    for block in differences(old, new):
        first, last = (block.j1, block.j2) if already else (block.i1, block.i2)
        removed, added = tuple(old[block.i1 : block.i2]), tuple(new[block.j1 : block.j2])
        yield Located(first, last - first, removed, added, already)


def _replaced(text: str, ranges: Sequence[_Range]) -> str:
    for one in sorted(ranges, key=lambda one: (one.start, one.stop), reverse=True):
        text = text[: one.start] + one.other + text[one.stop :]
    return text


def _find(text: str, piece: Piece, taken: Sequence[_Range], alike: int) -> list[_Range] | None:
    """Return where a piece applies, outside of the `taken` ranges; `alike`: equal pieces from this one on."""
    new = _plain(piece.new_text)
    old = _plain(piece.old_text or "")
    if _lines(text) == _lines(new):
        return [_Range(0, len(text), old, already=True)]
    if not old and piece.line is None:  # the whole file
        return [_Range(0, len(text), new)]
    if _lines(text) == _lines(old):
        return [_Range(0, len(text), new)]
    if not old:
        return [_inserted(text, new, piece.line or 1)]
    if not text.endswith("\n") and old.endswith("\n") and text.endswith(old[:-1]) and old not in text:
        old, new = old[:-1], new.removesuffix("\n")
    return _find_part(text, old, new, piece.line, taken, alike)


def _inserted(text: str, new: str, line: int) -> _Range:
    """Return the range of lines inserted before that line (counted from 1), or at the end of a shorter text."""
    at = _starts(text, line)
    if new and text.startswith(new, at):
        return _Range(at, at + len(new), "", already=True)
    return _Range(at, at, new if at < len(text) or text.endswith("\n") or not text else "\n" + new)


def _starts(text: str, line: int) -> int:
    """Return the offset at which that line begins."""
    at = 0
    for _ in range(line - 1):
        newline = text.find("\n", at)
        if newline < 0:
            return len(text)
        at = newline + 1
    return at


def _find_part(
    text: str, old: str, new: str, line: int | None, taken: Sequence[_Range], alike: int
) -> list[_Range] | None:
    """Find the old part outside of the new one; else the new part; else versions of both."""
    done = _occurrences(text, new, taken) if new else []
    inside = [(at, at + len(new)) for at in done if old in new]
    todo = [at for at in _occurrences(text, old, taken) if not any(a <= at and at + len(old) <= b for a, b in inside)]
    if todo:
        at = _choose(text, todo, len(old), line, alike)
        return None if at is None else [_Range(at, at + len(old), new)]
    if done:
        at = _choose(text, done, len(new), line, alike)
        return None if at is None else [_Range(at, at + len(new), old, already=True)]
    return _find_lines(text, old, new)


def _occurrences(text: str, part: str, taken: Sequence[_Range]) -> list[int]:
    found: list[int] = []
    at = text.find(part)
    while at >= 0 and len(found) < MAX_OCCURRENCES:
        if not any(at < one.stop and one.start < at + len(part) for one in taken):
            found.append(at)
        at = text.find(part, at + 1)
    return found


def _choose(text: str, places: list[int], size: int, line: int | None, alike: int) -> int | None:
    """Choose the place nearest to `line`, the first of `alike`, or the only one of whole lines; None if ambiguous."""
    if line is not None:
        wanted = _starts(text, line)
        return min(places, key=lambda at: abs(text.count("\n", min(at, wanted), max(at, wanted))))
    if len(places) <= alike:
        return places[0]
    whole = [at for at in places if text[at - 1 : at] in ("", "\n") and _ends_line(text, at + size)]
    return whole[0] if len(whole) == 1 else None


def _ends_line(text: str, at: int) -> bool:
    return text[at : at + 1] in ("", "\n") or text[at - 1 : at] == "\n"


def _find_lines(text: str, old: str, new: str) -> list[_Range] | None:
    """Find whole files that were edited elsewhere in the meantime."""
    lines, old_lines, new_lines = _lines(text), _lines(old), _lines(new)
    after = mapped(old_lines, new_lines, lines)
    if after is not None:
        return [_Range(0, len(text), "\n".join(after) + "\n")]
    before = mapped(new_lines, old_lines, lines)
    return None if before is None else [_Range(0, len(text), "\n".join(before) + "\n", already=True)]


def mapped(old: list[str], new: list[str], lines: list[str]) -> list[str] | None:
    """Return `lines` with the changes from `old` to `new`; None if they are no version of `old`, or lines are missing.

    A version has half of its lines in common with `old`. Each changed line must be there, and the place of each
    insertion.
    """
    where = dict(common_lines(old, lines))
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


def unapplied(text: str, change: FileChange) -> str | None:
    """Return the text before the diff; None if not all of the diff is in `text`, or its place is unknown."""
    places = locate(text, change)
    if not places or not all(place.already for place in places):
        return None
    if is_mac(text):
        return None
    end = "\r\n" if "\r\n" in text else "\n"
    lines = lines_with_ends(text.removeprefix(BOM))
    is_ended = not lines or lines[-1].endswith("\n")
    for place in reversed(places):
        lines[place.first : place.first + place.count] = [line + end for line in place.old]
    mark = BOM if text.startswith(BOM) else ""
    before = "".join(lines)
    return mark + (before if is_ended else before.removesuffix(end))


PREVIEW_CHANGES: Final = 100
"""Changes of one file that a permission request shows: finding each in 10,000 lines takes 20 ms."""
PREVIEW_CHARS: Final = 1024 * 1024
"""New text that a permission request shows of one file: users read no more before they answer."""


class FilePreview(msgspec.Struct, frozen=True):
    """The lines that a request would change; `note` explains in words what the hunks do not show."""

    hunks: list[PreviewHunk]
    note: str | None = None


def preview_of(text: str | None, changes: Sequence[FileChange]) -> FilePreview:
    """Return what these changes of one file, in this order, would make of its text; None: there is no file."""
    note = next((one.note or _kind(one) for one in changes if not one.pieces and (one.note or _kind(one))), None)
    if changes[-1].operation == "delete":
        count = len(take_apart(text or "").lines)
        return FilePreview([PreviewHunk(0, count, [])] if count else [], note)
    changes = [one for one in changes if one.pieces]
    if len(text or "") > REVIEW_TEXT_BYTES:
        return FilePreview([], "the file is too large for a preview")
    if len(changes) > PREVIEW_CHANGES:
        return FilePreview([], f"{len(changes)} changes are too many for a preview")
    if sum(len(piece.new_text) for one in changes for piece in one.pieces) > PREVIEW_CHARS:
        return FilePreview([], "the change is too large for a preview")
    return _preview(text, changes, note)


def _kind(change: FileChange) -> str | None:
    return {None: None, "text": None, "binary": "binary file"}.get(change.file_type, change.file_type)


def _preview(text: str | None, changes: Sequence[FileChange], note: str | None) -> FilePreview:
    if text is None:
        if any(piece.old_text for one in changes for piece in one.pieces):
            return FilePreview([], "there is no such file")
        text = ""
    hunks, missing = _hunks(text, changes)
    if missing:
        lost = "what the agent shows of it" if missing == len(changes) else f"{missing} of {len(changes)} changes"
        note = f"{lost} cannot be found in the file"
    elif changes and not hunks:
        note = note or "the file is like that already"
    return FilePreview(hunks, note)


def _hunks(text: str, changes: Sequence[FileChange]) -> tuple[list[PreviewHunk], int]:
    """Return the hunks of all changes, and the number of changes that were not found.

    Either all changes refer to the present text, or each to the result of the one before.
    """
    places = [_open(text, one) for one in changes]
    together = sorted((place for found in places for place in found or ()), key=lambda place: place.first)
    are_apart = all(one.first + max(one.count, 1) <= other.first for one, other in pairwise(together))
    if None not in places and are_apart:
        return [PreviewHunk(one.first, one.count, list(one.new)) for one in together], 0
    before = after = take_apart(text).lines
    missing = 0
    for one in changes:
        found = _open("".join(f"{line}\n" for line in after), one)
        missing += found is None
        after = _apply(after, found or ())
    blocks = differences(before, after)
    return [PreviewHunk(one.i1, one.i2 - one.i1, after[one.j1 : one.j2]) for one in blocks], missing


def _open(text: str, change: FileChange) -> list[Located] | None:
    """Return the places that are not changed yet; None if they are unknown."""
    found = locate(text, change)
    return found if found is None else [one for one in found if not one.already]


def _apply(lines: list[str], places: Sequence[Located]) -> list[str]:
    """Return `lines` with the changes at these sorted places."""
    after: list[str] = []
    at = 0
    for place in places:
        after += [*lines[at : place.first], *place.new]
        at = place.first + place.count
    return after + lines[at:]
