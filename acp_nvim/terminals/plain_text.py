"""Takes the escape sequences out of what a program prints, however it is cut into pieces."""

from __future__ import annotations

import re

from acp_nvim.limits import ESCAPE_CHARS

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, the cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # strings: titles, links, questions to the terminal
    r"|\x1b(?:[ -/]*[0-~])?"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")


class PlainText:
    """The text as it is without them; all else stays, carriage returns too."""

    def __init__(self) -> None:
        self._held = ""

    def __repr__(self) -> str:
        return f"<PlainText holds {self._held!r}>"

    def feed(self, text: str) -> str:
        """Take more text. What may be the beginning of a sequence is held back until more is known."""
        text, self._held = self._held + text, ""
        if "\x1b" not in text:
            return text
        unfinished = _UNFINISHED.search(text, max(0, len(text) - ESCAPE_CHARS))
        if unfinished is not None:
            self._held, text = text[unfinished.start() :], text[: unfinished.start()]
        return _SEQUENCES.sub("", text)

    def flush(self) -> str:
        """What is held back, when nothing more comes."""
        held, self._held = self._held, ""
        return _SEQUENCES.sub("", held)
