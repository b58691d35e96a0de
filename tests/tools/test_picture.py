"""The README's pictures can be made from the product as it is: what each waits for comes, and shows what it is for."""

from __future__ import annotations

import re

from tests.support.places import ROOT
from tests.tools.picture import ANSWER_COLUMNS, ANSWER_ROWS, CHAT_COLUMNS, ROWS, demo, film, reason, restored, talk
from tests.tools.svg_screen import THEMES

DARK = THEMES["dark"]


def words(rows: list[str]) -> str:
    """Return the text of drawn rows."""
    return "\n".join(" ".join(re.findall(r">([^<]+)</text>", row)) for row in rows)


def test_the_animation_and_the_review_are_made() -> None:
    with demo("dark", ROWS, CHAT_COLUMNS) as nvim:
        made = film(nvim, DARK)
        review = words(reason(made, nvim))
        restored(made, nvim)
    assert "acp: 2 of 2 hunks" in review
    assert "hunk 2/2 · ghk keep · ghr reject · ghn next" in review
    assert "Prompt + your review: 1 rejected" in review
    before_request = [frame for frame in made.frames if frame.caption == made.frames[0].caption]
    assert sum(frame.seconds for frame in before_request) < 3  # nothing happens yet
    assert "1 file restored" in words(made.frames[-1].rows)


def test_the_answer_has_its_table_whole() -> None:
    with demo("dark", ANSWER_ROWS, ANSWER_COLUMNS) as nvim:
        rows = words(talk(nvim, DARK)).splitlines()
    table = [row for row in rows if row.startswith("│")]
    assert len(table) == 7
    assert {row.count("│") for row in table} == {4}


def test_the_pictures_show_the_review() -> None:
    for end in ("", "-light"):
        picture = (ROOT / "doc" / f"review{end}.svg").read_text(encoding="utf-8")
        assert "hunk 2/2 · ghk keep · ghr reject · ghn next" in picture
        assert "your review: 1 rejected" in picture
