"""A renaming by a language server that has not seen what is not saved: the user's lines stay, and are renamed, too."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.workspace.text_edits import UnsavedNameError, with_unsaved

NAMES = ("old", "new")
LINES = st.lists(st.sampled_from(["", "old", "new", "f(old)", "f()", "f(new)", "older = old.old", "x"]), max_size=8)


def renamed(text: str) -> str:
    """What a server makes of the text that it has seen."""
    return re.sub(r"\bold\b", "new", text)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """Draw the text of a file, and a text of its buffer with some of the same lines."""
    saved = draw(LINES)
    text = list(saved)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text[at : at + draw(st.integers(0, 2))] = draw(LINES)
    return "\n".join(saved), "\n".join(text)


@given(texts())
def test_what_a_server_made_of_the_text_is_taken_as_it_is(pair: tuple[str, str]) -> None:
    saved, text = pair
    assert with_unsaved(saved, text, renamed(text), NAMES) == renamed(text)


@given(texts())
def test_what_a_server_made_of_the_file_costs_no_unsaved_line(pair: tuple[str, str]) -> None:
    saved, text = pair
    try:
        found = with_unsaved(saved, text, renamed(saved), NAMES)
    except UnsavedNameError:
        assert set(text.split("\n")) - set(renamed(text).split("\n"))  # there is a line with the old name
    else:
        assert found == renamed(text)


@pytest.mark.parametrize(
    ("saved", "text"),
    [("f()", "f(old)"), ("x", "x\nold"), ("f(old)", "g(old)")],
)
def test_an_unsaved_line_with_the_name_is_not_guessed_at(saved: str, text: str) -> None:
    with pytest.raises(UnsavedNameError):
        with_unsaved(saved, text, renamed(saved), NAMES)


@pytest.mark.parametrize(
    ("saved", "text", "after"),
    [("f(old)", "f()", "f()"), ("old", "mine\nold", "mine\nnew"), ("old\nx", "old", "new"), ("old", "", "")],
)
def test_what_was_typed_or_removed_stays_so(saved: str, text: str, after: str) -> None:
    assert with_unsaved(saved, text, renamed(saved), NAMES) == after
