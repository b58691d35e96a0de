"""Bounds of one message of an agent, whatever is in it; they hold while its line arrives."""

from __future__ import annotations

from typing import Final

LEFT_OUT: Final = "acp_nvim/leftOut"
"""The member by which an object says what is missing in it: by name the entries of a list, the characters of a text.

Zero says that something is missing in what is inside that member.
"""

SCANNED_BYTES: Final = 32 * 1024
"""A line is looked through for long lists from this length on: a shorter one is decoded faster than looked through.

Twice what is read at once (`TAKEN_BYTES`), so that lines which are whole are never looked through; and no more, because
so much is looked through at once: if it is all brackets that takes 40 ms.
"""

LIST_ENTRIES: Final = 10_000
"""Elements of one array, or members of one object, that are kept; no bound of a single field is larger."""

VALUES: Final = 100_000
"""All of them in one message: Python takes 10 MB and 20 ms for them. With more the message is lost."""

NESTED: Final = 200
"""Arrays and objects in each other. Python's own bound depends on its version; msgpack has one of 511."""

STRING_BYTES: Final = 8 * 1024 * 1024
"""One string of a message that is not a request; it may take four times as much in memory for a moment.

An image of 6 MB fits, and any text that is shown. A request with a longer one is refused.
"""

MESSAGE_BYTES: Final = 20 * 1024 * 1024
"""What is kept of one message: two of the largest strings. Files that an agent writes may be larger."""

ERROR_CHARS: Final = 10_000
"""Of the words of an error answer: some agents put a whole traceback there."""
