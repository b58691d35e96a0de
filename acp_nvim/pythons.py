"""Tells what is wrong with the Python that runs this, in words: with most of them, nothing."""

from __future__ import annotations

import re
import sys
from typing import Final

NEWEST: Final = (3, 14)
"""The newest version for which every locked package is released."""
_POSSESSIVE: Final = "(?:ab?c)*+"
"""Matches "ac" of "aca". A defective version keeps the "a" of the iteration that fails."""


def shortcomings() -> list[str]:
    """Return in words what is wrong, one text for each problem; empty for most versions."""
    return [words for words in (defect(), newness()) if words is not None]


def has_defect() -> bool:
    """Return whether possessive repeats of groups match wrongly, as in CPython 3.11.0 to 3.11.4 (gh-106052).

    The version does not tell: distributions have fixed it in old ones. The patterns of this package do without such
    repeats (`tests/core/test_patterns.py`), so it can run there.
    """
    found = re.match(_POSSESSIVE, "aca")
    return found is None or found.end() != 2


def defect() -> str | None:
    """Return the words for the defect and what to do about it; None if there is none."""
    if not has_defect():
        return None
    return (
        f"{_this()} has a defect of its regular expressions (gh-106052). acp_nvim avoids it, but other packages may "
        "not: install the updates of this Python, or use another one."
    )


def newness() -> str | None:
    """Return the words for what is missing in a version that is newer than `NEWEST`; None if nothing is."""
    if sys.version_info[:2] <= NEWEST:
        return None
    newest = ".".join(map(str, NEWEST))
    return (
        f"{_this()} is newer than {newest}, the newest for which all packages are released. Without the parser of "
        "command lines, each command is asked for, whatever the rules say: for the rules, use an older Python."
    )


def _this() -> str:
    return f"Python {'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}"
