"""What the transcript shows of a prompt: its text, and what comes along without being named there."""

from __future__ import annotations

import pytest

from acp_nvim.prompt.items import TextItem
from acp_nvim.prompt.prompt import Prompt


@pytest.mark.parametrize(
    ("text", "name", "shown"),
    [
        ("look", "src/a.py:1-2", "look\n@src/a.py:1-2"),
        ("look at @src/a.py:1-2", "src/a.py:1-2", "look at @src/a.py:1-2"),
        ('look at @"a b.txt"', "a b.txt", 'look at @"a b.txt"'),
        ('look at @"a b.txt":2-3', "a b.txt:2-3", 'look at @"a b.txt":2-3'),
        ("look at @a\\ b.txt:2", "a b.txt:2", "look at @a\\ b.txt:2"),
        ("me@example.com", "a", "me@example.com\n@a"),
    ],
)
def test_names_are_shown_once(text: str, name: str, shown: str) -> None:
    item = TextItem(uri="file:///x", name=name, text="x")
    assert Prompt(text, [item]).transcript_text() == shown
