"""Corrects a renaming by a language server that has looked at a file on disk instead of at its unsaved text."""

from __future__ import annotations

import re
from typing import Final

from acp_nvim.workspace.line_differences import differences

ANY_NAME: Final = "\0"
"""Stands for either name where texts are compared: it is in no text that is edited."""


class UnsavedNameError(Exception):
    """A line that is not saved has the old name, and it is not known whether the same symbol is meant."""


def with_unsaved(saved: str, text: str, after: str, names: tuple[str, str]) -> str:
    """Return `text` renamed, where `after` is what the language server made; `names` are the old and the new name.

    If it ignored what is not saved, `after` is the saved text renamed: then its lines replace those that are the same
    in `saved` and `text`. Raises `UnsavedNameError`.
    """
    either = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    plain = [either.sub(ANY_NAME, one) for one in (saved, text, after)]
    if plain[0] != plain[2] or plain[0] == plain[1]:
        return after
    old, new, renamed = (one.split("\n") for one in (saved, text, after))
    has_old_name = re.compile(rf"\b{re.escape(names[0])}\b").search
    lines, done = [], 0
    for block in differences(old, new):
        lines += renamed[done : block.i1]
        own = new[block.j1 : block.j2]
        if any(map(has_old_name, own)):
            raise UnsavedNameError
        lines += own
        done = block.i2
    return "\n".join([*lines, *renamed[done:]])
