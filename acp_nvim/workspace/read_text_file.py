"""Serves `fs/read_text_file` from the buffer or the file, and tracks what the agent knows after a partial read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import anyio.to_thread
import msgspec

from acp_nvim.limits import MAX_FILE_BYTES
from acp_nvim.workspace import disk
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.line_differences import Block, differences
from acp_nvim.workspace.open_files import OpenFiles, OpenText
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from acp_nvim.workspace.text_lines import TextLines
from acp_nvim.workspace.text_shape import MIXED, is_mac, lines_with_ends, put_together, take_apart

PART_CHARS: Final = 256 * 1024
"""Maximum length in characters of a text that is compared with what the agent knows on the event loop, in 10 ms."""
CUT_CHARS: Final = 8 * 1024 * 1024
"""Maximum length in characters of a text whose lines are cut out on the event loop, in 2 ms."""


async def read_text_file(files: OpenFiles, seen: LastSeen, path: str, line: int | None, limit: int | None) -> str:
    """Return the text that `:write` would write, or `limit` lines of it from line `line` (1-based) on.

    `path` is a real path that the agent may read. Raises `FileRefusedError`.
    """
    async with files.alone(path):
        buffer = await files.read(path)
        text = (await disk.read(path)).text if buffer is None else _checked(path, buffer)
        if line is None and limit is None:
            await seen.remember(path, text)
            return text
        known = await seen.text(path)
        if known is None and not seen.has(path):
            known = text if buffer is None else await files.saved(path, buffer)
        if known is not None:
            view = text if known == text else await _shown(known, text, line, limit)
            await seen.remember(path, view)
    if len(text) <= CUT_CHARS:
        return files.lines(text).cut(line, limit)
    return await anyio.to_thread.run_sync(cut, text, line, limit)


async def _shown(known: str, text: str, line: int | None, limit: int | None) -> str:
    """Call `shown`, in a thread if one of the texts is long."""
    if len(known) <= PART_CHARS and len(text) <= PART_CHARS:
        return shown(known, text, line, limit)
    return await anyio.to_thread.run_sync(shown, known, text, line, limit)


def _checked(path: str, buffer: OpenText) -> str:
    if not buffer.on_disk and not buffer.modified:
        raise NoSuchFileError(f"{path} does not exist")
    text = buffer.text
    if len(text) > MAX_FILE_BYTES:
        raise FileRefusedError(f"{path} has {len(text)} characters; the limit is {MAX_FILE_BYTES}")
    if "\0" in text[:8192]:
        raise FileRefusedError(f"{path} is a binary file")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileRefusedError(f"{path} is not valid text in its encoding") from error
    return text


def cut(text: str, line: int | None, limit: int | None) -> str:
    """Return lines `line` to `line + limit - 1` with their ends; nothing past the end. Line 0 counts as 1."""
    return TextLines(text).cut(line, limit)


class _Window(msgspec.Struct, frozen=True):
    """The visible lines from `first` (0-based) to before `last`, out of `count`."""

    first: int
    last: int
    count: int

    def replaced(self, block: Block) -> tuple[int, int]:
        """Return the range of old lines that the visible new lines of a block replace.

        That is the whole block when the lines around it are visible. Otherwise it has as many lines as are visible,
        counted from its visible end.
        """
        size = max(min(block.j2, self.last) - max(block.j1, self.first), 0)
        top = self.first < block.j1 or block.j1 == self.first == 0
        bottom = block.j2 < self.last or block.j2 == self.last == self.count
        if top and bottom:
            return block.i1, block.i2
        if bottom:
            return max(block.i1, block.i2 - size), block.i2
        start = min(block.i1 + max(self.first - block.j1, 0), block.i2)
        return start, min(start + size, block.i2)


def shown(known: str, text: str, line: int | None, limit: int | None) -> str:
    """Return what the agent knows, who knew `known` and reads `limit` lines of `text` from line `line` (1-based).

    Without `line` from the first line, without `limit` to the end. The result has no unread line of `text`, and lacks
    only those lines of `known` that a read line replaces: the agent cannot mean to change what it has not seen.
    """
    new = lines_with_ends(text)
    first = max(line or 1, 1) - 1
    last = len(new) if limit is None else min(first + limit, len(new))
    if first == 0 and last == len(new) and limit != 0:
        return text
    if first >= last:
        return known
    old = lines_with_ends(_with_line_ends_of(text, known))
    return _joined(list(_pieces(old, new, _Window(first, last, len(new)))), "\r" if is_mac(text) else "\n")


def _with_line_ends_of(text: str, known: str) -> str:
    """Return `known` with the line ends of `text`, if it has only one kind: a visible line shows its end."""
    kind, shape = take_apart(text).kind, take_apart(known)
    if shape.kind == kind or MIXED in (shape.kind, kind):
        return known
    return put_together(shape.bom, shape.lines, [end and kind for end in shape.ends])


def _pieces(old: list[str], new: list[str], window: _Window) -> Iterator[str]:
    at = 0
    for block in differences(old, new):
        start, stop = window.replaced(block)
        yield from old[at:start]
        yield from new[max(block.j1, window.first) : min(block.j2, window.last)]
        at = stop
    yield from old[at:]


def _joined(lines: list[str], end: str) -> str:
    """Join lines; add a missing end to a line that is not the last any more."""
    return "".join([line if line.endswith(("\n", end)) else line + end for line in lines[:-1]] + lines[-1:])
