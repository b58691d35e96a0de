"""`fs/read_text_file`: the buffer when there is one, else the file (ACP "File System")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio.to_thread

from acp_nvim.limits import MAX_FILE_BYTES, PART_CHARS
from acp_nvim.workspace import disk
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.open_files import OpenFiles, OpenText
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from acp_nvim.workspace.shown import shown


async def read_text_file(files: OpenFiles, seen: LastSeen, path: str, line: int | None, limit: int | None) -> str:
    """The text that `:write` would write, or the part of it from line `line` (1-based), `limit` lines of it.

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
            view = text if known == text else await _off_the_loop(text, shown, known, text, line, limit)
            await seen.remember(path, view)
    return await _off_the_loop(text, cut, text, line, limit)


async def _off_the_loop(text: str, find: Callable[..., str], *args: Any) -> str:
    """Long texts take long."""
    if len(text) <= PART_CHARS:
        return find(*args)
    return await anyio.to_thread.run_sync(find, *args)


def _checked(path: str, buffer: OpenText) -> str:
    if not buffer.on_disk and not buffer.modified:
        raise NoSuchFileError(f"{path} does not exist")
    _check(path, buffer.text)
    return buffer.text


def _check(path: str, text: str) -> None:
    if len(text) > MAX_FILE_BYTES:
        raise FileRefusedError(f"{path} has {len(text)} characters; the limit is {MAX_FILE_BYTES}")
    if "\0" in text[:8192]:
        raise FileRefusedError(f"{path} is a binary file")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileRefusedError(f"{path} is not valid text in its encoding") from error


def cut(text: str, line: int | None, limit: int | None) -> str:
    """Lines `line` to `line + limit - 1` of `text`, their ends included; nothing past the end. Line 0 counts as 1."""
    first = max(line or 1, 1) - 1
    end = "\r" if "\r" in text and "\n" not in text else "\n"
    lines = text.split(end)
    ended = [*(piece + end for piece in lines[:-1]), *lines[-1:]]
    return "".join(ended[first : None if limit is None else first + max(limit, 0)])
