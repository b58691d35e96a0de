"""The pictures: text stands where its cells are, and an animation shows at each time what its frame has."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from pyte.screens import Char

from tests.support.places import ROOT
from tests.tools.svg_screen import CELL_WIDTH, THEMES, Frame, Part, animation, drawn_rows, still

DARK = THEMES["dark"]
PICTURES = [ROOT / "doc" / f"{name}{end}.svg" for name in ("picture", "review", "chat") for end in ("", "-light")]


class Screen:
    """A screen with one row of cells."""

    def __init__(self, *cells: Char, at: tuple[int, int] = (9, 9)) -> None:
        self._cells = cells
        self._at = at

    def cell(self, row: int, column: int) -> Char:
        return self._cells[column]

    def cursor(self) -> tuple[int, int]:
        return self._at


def words(svg: str) -> list[tuple[str, float, float, str]]:
    """The texts of a picture: what, from which cell on, how many cells wide, in which colour."""
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [
        (
            one.text or "",
            round(float(one.attrib["x"]) / CELL_WIDTH, 2),
            round(float(one.attrib["textLength"]) / CELL_WIDTH, 2),
            one.get("fill", ""),
        )
        for one in found
    ]


def drawn(screen: Screen, columns: range, cursor: bool = False) -> str:
    return still(drawn_rows(screen, Part(range(1), columns), DARK, cursor), len(columns), DARK)


def test_words_stand_where_their_cells_are():
    cells = [*map(Char, "|a b  "), Char("<", fg="ff0000"), Char("日"), Char(""), Char("c")]
    assert words(drawn(Screen(*cells), range(1, 10))) == [
        ("a b", 0, 3, ""),
        ("<", 5, 1, "#ff0000"),
        ("日c", 6, 3, ""),
    ]


def test_the_cursor_is_a_cell_in_the_other_colours():
    screen = Screen(Char("a"), Char("b"), at=(0, 1))
    assert words(drawn(screen, range(2), cursor=True)) == [("a", 0, 1, ""), ("b", 1, 1, DARK.paper)]
    assert f'<rect x="8.4" width="8.4" height="18" fill="{DARK.ink}"/>' in drawn(screen, range(2), cursor=True)
    assert words(drawn(screen, range(2))) == [("ab", 0, 2, "")]


def visible(svg: str, percent: float | None) -> list[str]:
    """The texts that are visible at a time of the animation; without one, where nothing moves."""
    parts = ElementTree.fromstring(svg).findall("{http://www.w3.org/2000/svg}g")
    shown = []
    for part in parts:
        name = part.get("class")
        is_visible = True
        if name and percent is None:
            is_visible = f".{name}{{visibility:hidden;" not in svg
        elif name:
            rule = re.search(rf"@keyframes {name}{{((?:[^{{}}]*{{[^{{}}]*}})*)}}", svg)
            assert rule is not None
            states = re.findall(r"([\d.]+)%{visibility:(\w+)}", rule[1])
            is_visible = [state for at, state in states if float(at) <= percent][-1] == "visible"
        if is_visible:
            shown.append("".join(part.itertext()))
    return shown


def test_each_time_shows_its_frame():
    rows = [f"<text>{text}</text>" for text in ("same", "one", "two")]
    frames = [
        Frame([rows[0], rows[1]], "first", 1),
        Frame([rows[0], rows[2]], "second", 2),
        Frame([rows[0], rows[1]], "third", 1),
    ]
    svg = animation(frames, 10, DARK, still_frame=1)
    assert svg.count("same") == svg.count(">one<") == 1
    times = ((0, "first", "one"), (24, "first", "one"), (26, "second", "two"), (76, "third", "one"))
    for percent, caption, text in times:
        assert sorted(visible(svg, percent)) == sorted(["same", text, caption])
    assert sorted(visible(svg, None)) == ["same", "second", "two"]
    assert "4s step-end infinite" in svg


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_a_picture_needs_nothing_else(path):
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert len(text) < 300_000
    assert {one.tag.partition("}")[2] for one in root.iter()} <= {"svg", "style", "g", "rect", "text"}
    assert not re.search(r"href|url\(|@import", text)
