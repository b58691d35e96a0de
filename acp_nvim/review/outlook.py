"""What a file would become: where in it the changes belong that somebody asks to make, as lines to replace."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from acp_nvim.limits import PREVIEW_CHANGES, PREVIEW_CHARS, REVIEW_TEXT_BYTES
from acp_nvim.protocol.diff import FileChange
from acp_nvim.review.locate import Located, locate
from acp_nvim.review_events import PreviewHunk
from acp_nvim.workspace.line_differences import differences
from acp_nvim.workspace.text_shape import take_apart


class Outlook(msgspec.Struct, frozen=True):
    """The lines that would be others; `note` says in words what they do not show."""

    hunks: list[PreviewHunk]
    note: str | None = None


def outlook(text: str | None, changes: Sequence[FileChange]) -> Outlook:
    """What these changes of one file, told in this order, would make of its text; None: there is no such file."""
    note = next((one.note or _kind(one) for one in changes if not one.pieces and (one.note or _kind(one))), None)
    if changes[-1].operation == "delete":
        count = len(take_apart(text or "").lines)
        return Outlook([PreviewHunk(0, count, [])] if count else [], note)
    changes = [one for one in changes if one.pieces]
    if len(text or "") > REVIEW_TEXT_BYTES:
        return Outlook([], "the file is too large for a preview")
    if len(changes) > PREVIEW_CHANGES:
        return Outlook([], f"{len(changes)} changes are too many for a preview")
    if sum(len(piece.new_text) for one in changes for piece in one.pieces) > PREVIEW_CHARS:
        return Outlook([], "the change is too large for a preview")
    return _become(text, changes, note)


def _kind(change: FileChange) -> str | None:
    return {None: None, "text": None, "binary": "binary file"}.get(change.file_type, change.file_type)


def _become(text: str | None, changes: Sequence[FileChange], note: str | None) -> Outlook:
    if text is None:
        if any(piece.old_text for one in changes for piece in one.pieces):
            return Outlook([], "there is no such file")
        text = ""
    hunks, missing = _hunks(text, changes)
    if missing:
        lost = "what the agent shows of it" if missing == len(changes) else f"{missing} of {len(changes)} changes"
        note = f"{lost} cannot be found in the file"
    elif changes and not hunks:
        note = note or "the file is like that already"
    return Outlook(hunks, note)


def _hunks(text: str, changes: Sequence[FileChange]) -> tuple[list[PreviewHunk], int]:
    """What the changes come to, and how many of them are in no place.

    They are all told of the file as it is now; or else each of what the one before has made of it.
    """
    places = [_open(text, one) for one in changes]
    together = sorted((place for found in places for place in found or ()), key=lambda place: place.first)
    if None not in places and _are_apart(together):
        return [PreviewHunk(one.first, one.count, list(one.new)) for one in together], 0
    before = after = take_apart(text).lines
    missing = 0
    for one in changes:
        found = _open("".join(f"{line}\n" for line in after), one)
        missing += found is None
        after = _with(after, found or ())
    blocks = differences(before, after)
    return [PreviewHunk(one.i1, one.i2 - one.i1, after[one.j1 : one.j2]) for one in blocks], missing


def _open(text: str, change: FileChange) -> list[Located] | None:
    """Where it has still to be made; None when that cannot be told."""
    found = locate(text, change)
    return found if found is None else [one for one in found if not one.already]


def _are_apart(places: Sequence[Located]) -> bool:
    """Whether no two of them, which are sorted, are about the same lines."""
    return all(one.first + max(one.count, 1) <= other.first for one, other in pairwise(places))


def _with(lines: list[str], places: Sequence[Located]) -> list[str]:
    """`lines` with these places, which are sorted, as they would be."""
    after: list[str] = []
    at = 0
    for place in places:
        after += [*lines[at : place.first], *place.new]
        at = place.first + place.count
    return after + lines[at:]
