"""Tools that change files by the language servers of the editor. The user is asked, and reviews the changes."""

from __future__ import annotations

import re
from typing import Annotated, Final

from msgspec import Meta

from acp_nvim.contract.editor import ToolAnswer
from acp_nvim.mcp.tools.language import Symbol, current
from acp_nvim.mcp.tools.reading import Line, Path, lines_of
from acp_nvim.mcp.tools.tool import Arguments, Lines, Tool, ToolError, Workplace


class Rename(Arguments):
    """The arguments of `rename`: a symbol in a line, and its new name."""

    path: Path
    line: Line
    symbol: Symbol
    new_name: Annotated[str, Meta(description="The new name of the symbol.", min_length=1, max_length=500)]


class CodeAction(Arguments):
    """The arguments of `code_action`: a line, counted from 1, and the title of an action."""

    path: Path
    line: Line
    title: Annotated[
        str | None, Meta(description="The title, or a part of it. Without it, the actions are listed.")
    ] = None


class Format(Arguments):
    """The arguments of `format`: the file that is formatted as a whole."""

    path: Path


async def rename(place: Workplace, arguments: Rename) -> Lines:
    """Rename a symbol wherever it is used."""
    if not arguments.new_name.isprintable():  # the user reads it in the question
        raise ToolError("The new name has characters that cannot be shown.")
    path = await current(place, arguments.path)
    wanted = {"path": path, "line": arguments.line, "symbol": arguments.symbol, "new_name": arguments.new_name}
    old = re.findall(r"\w+", arguments.symbol)
    return await _applied(place, await place.ask("rename", wanted), (old[-1], arguments.new_name) if old else None)


async def code_action(place: Workplace, arguments: CodeAction) -> Lines:
    """List the actions that the language servers offer for a line, or apply one."""
    path = await current(place, arguments.path)
    answer = await place.ask("code_action", {"path": path, "line": arguments.line, "title": arguments.title})
    return await _applied(place, answer) if arguments.title is not None else lines_of(answer)


async def format_file(place: Workplace, arguments: Format) -> Lines:
    """Format a file by the language server that offers it."""
    path = await current(place, arguments.path)
    return await _applied(place, await place.ask("format", {"path": path}))


async def _applied(place: Workplace, answer: ToolAnswer, renamed: tuple[str, str] | None = None) -> Lines:
    if answer.edit is None or not answer.edit.files:
        raise ToolError(answer.note or "The language server proposes no change: everything is as it should be.")
    return Lines([await place.apply(answer.title or "Edit", answer.edit, renamed)], answer.note)


TOOLS: Final = (
    Tool(
        "rename",
        "Rename a symbol",
        "Renames the symbol in that line in all files, by the language servers, in unsaved text, too. The user is "
        "asked first.",
        Rename,
        rename,
        writes=True,
        is_central=True,
    ),
    Tool(
        "code_action",
        "Quick fixes and refactorings",
        "Without a title: lists what the language servers can do for that line. With a title: does it. The user is "
        "asked first.",
        CodeAction,
        code_action,
        writes=True,
    ),
    Tool(
        "format",
        "Format a file",
        "Formats a file with the formatter of the user's editor. The user is asked first.",
        Format,
        format_file,
        writes=True,
    ),
)
