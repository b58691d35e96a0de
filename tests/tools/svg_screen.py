"""Draws what is on a real screen as SVG: one moment of it, or several as an animation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

from tests.support.screen import ScreenEditor

CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.4, 18, 10
STYLE = "font:14px 'DejaVu Sans Mono',Menlo,Consolas,monospace"


class Theme(NamedTuple):
    """The colours of text and background, as Neovim's own colour scheme has them."""

    ink: str
    paper: str
    dim: str


THEMES = {"dark": Theme("#e0e2ea", "#14161b", "#9b9ea4"), "light": Theme("#14161b", "#e0e2ea", "#4f5258")}


class Frame(NamedTuple):
    """One moment: the SVG of each row, what is said below them, and for how many seconds it is shown."""

    rows: list[str]
    caption: str
    seconds: float


class Part(NamedTuple):
    """The rows and columns of a screen that are drawn."""

    rows: range
    columns: range


def drawn_rows(nvim: ScreenEditor, part: Part, theme: Theme, cursor: bool) -> list[str]:
    """The SVG of each row of a part of the screen, each at the top; the cursor is a cell in the other colours."""
    at = nvim.cursor() if cursor else None
    return ["".join(_drawn_row(nvim, row, part.columns, theme, at)) for row in part.rows]


def _drawn_row(nvim: ScreenEditor, row: int, columns: range, theme: Theme, at: tuple[int, int] | None) -> Iterator[str]:
    cells = [(column, nvim.cell(row, column)) for column in columns]
    for look, group in groupby(cells, key=lambda one: _look(one[1], theme, (row, one[0]) == at)):
        ink, paper, style = look
        pieces = list(group)
        x, width = (pieces[0][0] - columns.start) * CELL_WIDTH, len(pieces) * CELL_WIDTH
        if paper != theme.paper:
            yield f'<rect x="{x:.1f}" width="{width:.1f}" height="{CELL_HEIGHT}" fill="{paper}"/>'
        # the second cell of a wide character has no text; here it is a mark, which is taken out at the end
        text = "".join(cell.data or "\0" for _, cell in pieces)
        for word in re.finditer(r"[^\s\0](?:[^\s]| (?=[^\s]))*", text):
            yield _drawn_word(word, x, "" if ink == theme.ink else f' fill="{ink}"', style)


def _drawn_word(word: re.Match[str], x: float, fill: str, style: str) -> str:
    """Words at their place and as wide as their cells, whatever font the reader has."""
    x, width = x + word.start() * CELL_WIDTH, len(word[0]) * CELL_WIDTH
    text = escape(word[0].replace("\0", ""), quote=False)
    return f'<text x="{x:.1f}" y="14" textLength="{width:.1f}"{fill}{style}>{text}</text>'


def _look(cell: Any, theme: Theme, is_cursor: bool) -> tuple[str, str, str]:
    """Ink, paper and other attributes of a cell."""
    ink, paper = _colour(cell.fg, theme.ink), _colour(cell.bg, theme.paper)
    if cell.reverse != is_cursor:
        ink, paper = paper, ink
    style = ' font-weight="bold"' if cell.bold else ""
    style += ' font-style="italic"' if cell.italics else ""
    return ink, paper, style + (' text-decoration="underline"' if cell.underscore else "")


def _colour(name: str, default: str) -> str:
    return f"#{name}" if re.fullmatch("[0-9a-f]{6}", name) else default


def still(rows: list[str], columns: int, theme: Theme) -> str:
    """Draw these rows as an SVG."""
    return _svg([_at(row, number) for number, row in enumerate(rows)], columns, len(rows), theme)


def animation(frames: list[Frame], columns: int, theme: Theme, still_frame: int) -> str:
    """An SVG that shows one frame after the other, for ever; where nothing moves, the frame with that number.

    What several frames have in the same row is drawn once, and shown during all of them.
    """
    shown: dict[tuple[int, str], list[int]] = {}
    for number, frame in enumerate(frames):
        for row, drawn in enumerate([*frame.rows, _caption(frame.caption, columns, theme)]):
            shown.setdefault((row, drawn), []).append(number)
    names: dict[tuple[int, ...], str] = {}
    parts = []
    for (row, drawn), numbers in shown.items():
        if drawn:
            during = tuple(numbers)
            name = "" if len(during) == len(frames) else names.setdefault(during, f"s{len(names)}")
            parts.append(_at(drawn, row, name))
    seconds = [frame.seconds for frame in frames]
    rules = [_rule(name, during, seconds, still_frame) for during, name in names.items()]
    rules.append("@media (prefers-reduced-motion:reduce){g{animation:none!important}}")
    return _svg([f"<style>{''.join(rules)}</style>", *parts], columns, len(frames[0].rows) + 1, theme)


def _rule(name: str, during: tuple[int, ...], seconds: list[float], still_frame: int) -> str:
    """The style of what is shown during some frames only."""
    total, changes, was = sum(seconds), [], None
    for number in range(len(seconds)):
        if (visible := number in during) != was:
            percent = sum(seconds[:number]) / total * 100
            changes.append(f"{percent:.4g}%{{visibility:{'visible' if visible else 'hidden'}}}")
            was = visible
    without = "" if still_frame in during else "visibility:hidden;"
    return f".{name}{{{without}animation:{name} {total:.4g}s step-end infinite}}@keyframes {name}{{{''.join(changes)}}}"


def _caption(text: str, columns: int, theme: Theme) -> str:
    """A line in the middle of the row below the screen."""
    x = columns * CELL_WIDTH / 2
    return f'<text x="{x:.1f}" y="17" text-anchor="middle" fill="{theme.dim}">{escape(text, quote=False)}</text>'


def _at(drawn: str, row: int, name: str = "") -> str:
    given = f' class="{name}"' if name else ""
    return f'<g transform="translate(0,{row * CELL_HEIGHT})"{given}>{drawn}</g>' if drawn else ""


def _svg(parts: list[str], columns: int, rows: int, theme: Theme) -> str:
    width, height = columns * CELL_WIDTH + 2 * MARGIN, rows * CELL_HEIGHT + 2 * MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
            f'viewBox="{-MARGIN} {-MARGIN} {width:.0f} {height}" style="{STYLE}" fill="{theme.ink}">',
            f'<rect x="{-MARGIN}" y="{-MARGIN}" width="100%" height="100%" rx="8" fill="{theme.paper}"/>',
            *filter(None, parts),
            "</svg>\n",
        ]
    )
