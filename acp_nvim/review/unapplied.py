"""A text as it was before a tool call's diff was applied to it."""

from __future__ import annotations

from acp_nvim.protocol.diff import FileChange
from acp_nvim.review.locate import locate
from acp_nvim.workspace.encoding import BOM
from acp_nvim.workspace.text_shape import is_mac, lines_with_ends


def unapplied(text: str, change: FileChange) -> str | None:
    """None when the diff is not, or not all of it, in `text`, or nobody can say where."""
    places = locate(text, change)
    if not places or not all(place.already for place in places):
        return None
    if is_mac(text):
        return None
    end = "\r\n" if "\r\n" in text else "\n"
    lines = lines_with_ends(text.removeprefix(BOM))
    is_ended = not lines or lines[-1].endswith("\n")
    for place in reversed(places):
        lines[place.first : place.first + place.count] = [line + end for line in place.old]
    mark = BOM if text.startswith(BOM) else ""
    before = "".join(lines)
    return mark + (before if is_ended else before.removesuffix(end))
