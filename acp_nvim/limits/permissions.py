"""Bounds of what is looked at before a permission request is answered."""

from __future__ import annotations

from typing import Final

INPUT_DEPTH: Final = 5
"""Members in members of a tool call's input: agents have three; in what is deeper anything may be."""

INPUT_VALUES: Final = 5000
"""Values looked at in it: 10 ms of the host; a thousand edits at once have four each."""

INPUT_STRINGS: Final = 200
"""Files that a request may name, with what may be one: to look at that many takes 50 ms of the host."""

INPUT_PATH_CHARS: Final = 65_536
"""Length of all these paths together: 200 usual ones have 16,000, and to look at that many takes 0.3 s at worst."""

WORDS_IN_LINE: Final = 5000
"""Words of all the commands in a line, which share some (`find -exec a -exec b`): to judge these takes 50 ms."""
