"""Where a tool call's diff applies in a text, or has been applied; agents show as much or as little as they like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from acp_nvim.limits import LOCATED_PLACES
from acp_nvim.protocol.diff import FileChange, Piece
from acp_nvim.review.mapped_lines import mapped
from acp_nvim.workspace.encoding import BOM
from acp_nvim.workspace.line_differences import differences


class Located(msgspec.Struct, frozen=True):
    """Rows `first` to `first + count - 1` of the text are `old` and become `new`; `already`: they are `new`.

    Lines have no ends. Where `count` is 0, it is about a place before row `first`.
    """

    first: int
    count: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    already: bool = False


class _Range(msgspec.Struct, frozen=True):
    """The characters `[start:stop]`, for which others will stand there, or stood there before (`already`)."""

    start: int
    stop: int
    other: str
    already: bool = False

    def overlaps(self, start: int, stop: int) -> bool:
        return start < self.stop and self.start < stop


def locate(text: str, change: FileChange) -> list[Located] | None:
    """What becomes of the lines of `text`, in order; None when that cannot be told from the change.

    The kind of line ends and the byte order mark do not matter, nor does the end of the last line: agents leave it out.
    """
    now = _plain(text)
    if change.operation == "delete":
        return list(_located(_lines(now), [], already=False))
    if change.operation == "patch":  # nobody could read it
        return None
    ranges: list[_Range] = []
    for number, piece in enumerate(change.pieces):
        found = _find(now, piece, ranges, change.pieces[number:].count(piece))
        if found is None:
            return None
        ranges += found
    return _places_of(now, ranges)


def _plain(text: str) -> str:
    return text.removeprefix(BOM).replace("\r\n", "\n")


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _places_of(text: str, ranges: Sequence[_Range]) -> list[Located]:
    lines = _lines(text)
    after = _lines(_replaced(text, [one for one in ranges if not one.already]))
    before = _lines(_replaced(text, [one for one in ranges if one.already]))
    places = [*_located(lines, after, already=False), *_located(before, lines, already=True)]
    return sorted(places, key=lambda place: (place.first, place.count))


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
    """Where a piece is, beside the `taken` ranges; that many pieces, from this on, are `alike`."""
    new = _plain(piece.new_text)
    old = _plain(piece.old_text or "")
    if _lines(text) == _lines(new):
        return [_Range(0, len(text), old, already=True)]
    if not old and piece.line is None:  # a new file, or all of one
        return [_Range(0, len(text), new)]
    if _lines(text) == _lines(old):
        return [_Range(0, len(text), new)]
    if not old:
        return [_inserted(text, new, piece.line or 1)]
    if not text.endswith("\n") and old.endswith("\n") and text.endswith(old[:-1]) and old not in text:
        old, new = old[:-1], new.removesuffix("\n")
    return _find_part(text, old, new, piece.line, taken, alike)


def _inserted(text: str, new: str, line: int) -> _Range:
    """New lines before that line, counted from 1, or at the end of a text that has less."""
    at = _starts(text, line)
    if new and text.startswith(new, at):
        return _Range(at, at + len(new), "", already=True)
    return _Range(at, at, new if at < len(text) or text.endswith("\n") or not text else "\n" + new)


def _starts(text: str, line: int) -> int:
    """Where that line begins."""
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
    """The old part where it does not stand in the new one; else the new one; else what is left of both."""
    done = _occurrences(text, new, taken) if new else []
    inside = [(at, at + len(new)) for at in done if old in new]
    todo = [at for at in _occurrences(text, old, taken) if not any(a <= at and at + len(old) <= b for a, b in inside)]
    if todo:
        at = _chosen(text, todo, len(old), line, alike)
        return None if at is None else [_Range(at, at + len(old), new)]
    if done:
        at = _chosen(text, done, len(new), line, alike)
        return None if at is None else [_Range(at, at + len(new), old, already=True)]
    return _find_lines(text, old, new)


def _occurrences(text: str, part: str, taken: Sequence[_Range]) -> list[int]:
    found: list[int] = []
    at = text.find(part)
    while at >= 0 and len(found) < LOCATED_PLACES:
        if not any(one.overlaps(at, at + len(part)) for one in taken):
            found.append(at)
        at = text.find(part, at + 1)
    return found


def _chosen(text: str, places: list[int], size: int, line: int | None, alike: int) -> int | None:
    """The one place that is meant: the only one, the one nearest to `line`, the only one of whole lines; None: unknown.

    Where as many pieces are the same as there are places, each gets one.
    """
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
    """A whole file that somebody has changed elsewhere."""
    lines, old_lines, new_lines = _lines(text), _lines(old), _lines(new)
    after = mapped(old_lines, new_lines, lines)
    if after is not None:
        return [_Range(0, len(text), "\n".join(after) + "\n")]
    before = mapped(new_lines, old_lines, lines)
    return None if before is None else [_Range(0, len(text), "\n".join(before) + "\n", already=True)]
