"""Where two texts differ, so that an editor need not be sent the whole of one."""

from __future__ import annotations

from acp_nvim.editor import LineChange, TextChange, WholeText
from acp_nvim.workspace.encoding import BOM

_BLOCK = 16 * 1024
"""Characters compared at once."""


def difference(old: str, new: str) -> TextChange:
    """The change that makes `new` of `old`: the lines from the first to the last that differ, if only lines differ."""
    if not _is_of_lines(old, new):
        return WholeText(new)
    start = old.rfind("\n", 0, common_head(old, new)) + 1
    old_end, new_end = _ends(old, new, start)
    replaced, lines = _lines(old[start:old_end]), _lines(new[start:new_end])
    return LineChange(old.count("\n", 0, start), len(replaced), lines)


def _is_of_lines(old: str, new: str) -> bool:
    """Neither line ends nor BOM differ, nor whether the last line ends. CR may be part of line ends or of lines."""
    return (
        old != ""
        and new != ""
        and old.endswith("\n") == new.endswith("\n")
        and not old.startswith(BOM)
        and not new.startswith(BOM)
        and "\r" not in old
        and "\r" not in new
    )


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def common_head(old: str, new: str) -> int:
    """The number of characters that both begin with; comparing whole blocks is fast."""
    at = 0
    while (block := old[at : at + _BLOCK]) and new.startswith(block, at):
        at += len(block)
    return at + _agreeing(block, new[at : at + len(block)])


def common_tail(old: str, new: str, start: int) -> int:
    """The number of characters that both end with, as far as they go beyond the first `start` ones."""
    shorter, tail = min(len(old), len(new)) - start, 0
    while tail < shorter:
        size = min(_BLOCK, shorter - tail)
        block = old[len(old) - tail - size : len(old) - tail]
        if not new.endswith(block, 0, len(new) - tail):
            return tail + _agreeing(block[::-1], new[len(new) - tail - size : len(new) - tail][::-1])
        tail += size
    return tail


def _agreeing(old: str, new: str) -> int:
    """The same as `common_head` for short texts, by halves."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _ends(old: str, new: str, start: int) -> tuple[int, int]:
    """Where the changed lines end in each."""
    tail = common_tail(old, new, start)
    old_end, new_end = len(old) - tail, len(new) - tail
    if _begins_line(old, old_end) and _begins_line(new, new_end):
        return old_end, new_end
    newline = old.find("\n", old_end)
    if newline < 0:
        return len(old), len(new)
    return newline + 1, new_end + newline + 1 - old_end


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"
