"""`fs/read_text_file`: the buffer when there is one, else the file (ACP "File System")."""

from __future__ import annotations

from acp_nvim.editor import Editor
from acp_nvim.workspace import disk
from acp_nvim.workspace.refusals import FileRefusedError
from acp_nvim.workspace.seen import SeenTexts


async def read_text_file(editor: Editor, seen: SeenTexts, path: str, line: int | None, limit: int | None) -> str:
    """The text that `:write` would write, or the part of it from line `line` (1-based), `limit` lines of it.

    `path` is a real path that the agent may read. Raises `FileRefusedError`.
    """
    buffer = await editor.read_buffer(path)
    if buffer is not None:
        _check(path, buffer.text)
        seen.remember(path, buffer.text, buffer.tick)
        return cut(buffer.text, line, limit)
    return cut((await disk.read(path)).text, line, limit)


def _check(path: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileRefusedError(f"{path} is not UTF-8 text") from error


def cut(text: str, line: int | None, limit: int | None) -> str:
    """Lines `line` to `line + limit - 1` of `text`, their ends included; nothing past the end. Line 0 counts as 1."""
    if line is None and limit is None:
        return text
    first = max(line or 1, 1) - 1
    lines = text.split("\n")
    ended = [*(piece + "\n" for piece in lines[:-1]), *lines[-1:]]
    return "".join(ended[first : None if limit is None else first + limit])
