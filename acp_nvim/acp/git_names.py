"""Reads the names of files in a patch, which git quotes if they have unusual characters."""

from __future__ import annotations

import re
from typing import Final

from acp_nvim.lazy import pattern

_QUOTED: Final = r'"(?:[^"\\]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*"'
_NAME = pattern(_QUOTED)
_ESCAPE = pattern(r"\\([0-3][0-7]{2}|.)")
_BOTH_QUOTED = pattern(rf"({_QUOTED}) ({_QUOTED}|[^\"].*)|([^\"].*) ({_QUOTED})")
_LETTERS: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, '"': 34, "\\": 92}
_PREFIX = pattern(r"[a-z0-9]/")


def unquoted(name: str) -> str | None:
    """Return a name without its quotes, if it has some; None if it is quoted wrongly, or its bytes are no text."""
    if not name.startswith('"'):
        return name
    if not _NAME.fullmatch(name):
        return None

    def byte(escape: re.Match[str]) -> str:
        code = _LETTERS.get(escape[1])
        return chr(int(escape[1], 8) if code is None else code)

    parts = re.split(r"((?:\\[0-3][0-7]{2})+)", name[1:-1])
    try:
        return "".join(
            _ESCAPE.sub(byte, part).encode("latin-1").decode() if at % 2 else _ESCAPE.sub(byte, part)
            for at, part in enumerate(parts)
        )
    except UnicodeDecodeError:
        return None


def name_in_line(text: str) -> str | None:
    """Return the name after `---` or `+++`; git writes a tab after a name with blanks, others a tab and a time."""
    name, tab, _ = text.partition("\t")
    return unquoted(name if tab else name.rstrip()) or None


def names_in_header(text: str) -> tuple[str, str] | None:
    """Return the two names after `diff --git`; None if it is not clear where the second begins, or if one is wrong.

    Without quotes, only two names that are equal, but for a prefix such as `a/` and `b/`, can be told apart.
    """
    found = _BOTH_QUOTED.fullmatch(text)
    if found is not None:
        first, second = (unquoted(one) for one in found.groups() if one is not None)
        return None if first is None or second is None else (first, second)
    half = len(text) // 2
    first, second = text[:half], text[half + 1 :]
    is_same = first == second or (_PREFIX.match(first) and _PREFIX.match(second) and first[2:] == second[2:])
    return (first, second) if text[half : half + 1] == " " and is_same and '"' not in text else None
