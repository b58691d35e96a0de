"""The words that differ between old and new lines."""

from __future__ import annotations

import pytest


def words(editor, old, new):
    found = editor.lua(
        "local w = require('acp_nvim.review.hunks.words').of(...) return w and { w.old, w.new }", old, new
    )
    if found is None:
        return None
    return tuple(
        [spans if spans is False else [line[a:b] for a, b in spans] for line, spans in zip(lines, side, strict=True)]
        for lines, side in zip((old, new), found, strict=True)
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["a quick brown fox"], ["a quick red fox"], ([["brown"]], [["red"]])),
        (["return value"], ["return value + 1"], ([[]], [[" + 1"]])),
        (["f(one, two, three)"], ["f(one, 2, 3)"], ([["two, three"]], [["2, 3"]])),
        (["same words here", "gone altogether"], ["same words there"], ([["here"], False], [["there"]])),
        (["alpha beta"], ["wholly different text"], ([False], [False])),
        (["x = 1", "y = 2"], ["x = 1", "new line between", "y = 3"], ([[], ["2"]], [[], False, ["3"]])),
        (["", "indented line"], ["  indented line"], ([False, []], [["  "]])),
    ],
)
def test_words(editor, old, new, expected):
    assert words(editor, old, new) == expected


@pytest.mark.parametrize(("old", "new"), [([], ["x"]), (["x"], []), (["x" * 30_000], ["y"])])
def test_nothing_to_compare_or_too_much(editor, old, new):
    assert words(editor, old, new) is None


def test_characters_of_several_bytes_are_whole(editor):
    old, new = "größe straße ende", "größe gasse ende"
    found = editor.lua(
        "local w = require('acp_nvim.review.hunks.words').of(...) return { w.old[1], w.new[1] }", [old], [new]
    )
    words = [
        [line.encode()[start:end].decode() for start, end in spans]
        for line, spans in zip((old, new), found, strict=True)
    ]
    assert words == [["straße"], ["gasse"]]


def test_names_of_files_are_as_short_as_they_can_be(editor):
    home, entry = editor.places.home, 'return require("acp_nvim.render.file_changes").name(...)'
    for path, name in {"/w/a/b": "a/b", f"{home}/notes/b": "~/notes/b", "/other/b": "/other/b"}.items():
        assert editor.lua(entry, {"path": path}, "/w") == name
    assert editor.lua(entry, {"path": f"{home}/b", "old_path": "/w/a"}, "/w") == "a → ~/b"
