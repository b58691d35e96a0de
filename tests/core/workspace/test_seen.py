"""What the agent last saw of a file."""

from __future__ import annotations

from acp_nvim.workspace.seen import SeenTexts


def test_nothing_is_known_of_a_file_that_was_never_read() -> None:
    seen = SeenTexts()
    assert seen.tick("f") is None
    assert not seen.knows("f", "")


def test_the_last_sight_counts() -> None:
    seen = SeenTexts()
    seen.remember("f", "one", 3)
    seen.remember("f", "two", 5)
    assert seen.tick("f") == 5
    assert seen.knows("f", "two")
    assert not seen.knows("f", "one")


def test_files_are_kept_apart_and_texts_are_not_kept() -> None:
    seen = SeenTexts()
    seen.remember("a", "x" * 100_000, 1)
    assert not seen.knows("b", "x" * 100_000)
    assert len(seen._sights["a"].digest) == 16


def test_a_text_that_is_no_valid_unicode_is_remembered_too() -> None:
    seen = SeenTexts()
    for text in ("\udc80", "\ud800"):
        seen.remember("f", text, 1)
        assert seen.knows("f", text)


def test_repr_counts_files() -> None:
    assert repr(SeenTexts()) == "<SeenTexts 0 files>"
