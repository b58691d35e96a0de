"""Tools that read what the editor shows and holds, and that show the user a place."""

from __future__ import annotations

from typing import Annotated, Final

import anyio.to_thread
from msgspec import Meta

from acp_nvim.contract.editor import ToolAnswer
from acp_nvim.mcp.tools.tool import Arguments, Lines, Tool, ToolError, Workplace
from acp_nvim.workspace import disk
from acp_nvim.workspace.open_files import OpenText
from acp_nvim.workspace.refusals import FileRefusedError

NOTE_CHARS: Final = 300
"""Longest note for the user: two lines of the chat."""

Number = Annotated[int, Meta(ge=1, le=2**31)]
Path = Annotated[str, Meta(description="A file, relative to the working directory or absolute.")]
Line = Annotated[int, Meta(description="Line number, from 1.", ge=1, le=2**31)]
Cursor = Annotated[str | None, Meta(description="Where an earlier, incomplete answer says that it goes on.")]


class Page(Arguments):
    """The arguments of a tool that only lists."""

    cursor: Cursor = None


class ReadBuffer(Arguments):
    """The arguments of `read_buffer`: the lines from `first` to `last`, counted from 1."""

    path: Path
    first: Annotated[int, Meta(description="First line, from 1.", ge=1, le=2**31)] = 1
    last: Annotated[Number | None, Meta(description="Last line; the end without it.")] = None
    cursor: Cursor = None


class OnePath(Arguments):
    """The arguments of a tool about one file, or all."""

    path: Annotated[str | None, Meta(description="Only this file.")] = None
    cursor: Cursor = None


class Show(Arguments):
    """The arguments of `show`: a line, counted from 1, and a note for the user."""

    path: Path
    line: Line
    note: Annotated[
        Annotated[str, Meta(max_length=NOTE_CHARS)] | None, Meta(description="One sentence for the user.")
    ] = None


class TerminalOutput(Arguments):
    """The arguments of `terminal_output`: the last `lines` of each terminal."""

    name: Annotated[str | None, Meta(description="A part of the terminal's name. Without it: all of them.")] = None
    lines: Annotated[int, Meta(description="How many of the last lines.", ge=1, le=1000)] = 100
    cursor: Cursor = None


def lines_of(answer: ToolAnswer) -> Lines:
    """Return the lines of an answer of the editor."""
    return Lines(answer.lines, answer.note)


async def editor_state(place: Workplace, arguments: Page) -> Lines:
    """Return what the user sees: files, cursor, selection, unsaved changes."""
    return lines_of(await place.ask("editor_state", {}))


async def read_buffer(place: Workplace, arguments: ReadBuffer) -> Lines:
    """Return the text of a file as the editor has it, else as the disk has it."""
    path = await place.readable(arguments.path)
    buffer, lines = await _lines(place, path)
    last = min(arguments.last or len(lines), len(lines))
    name = place.roots.name(path)
    if lines and arguments.first > last:
        raise ToolError(f"{name} has {len(lines)} lines: there are none from {arguments.first} to {last}.")
    if buffer is None:
        state = "on disk, not open in the editor"
    else:
        state = f"{'unsaved changes' if buffer.modified else 'saved'}, revision {buffer.state}"
    note = f"{name}: lines {min(arguments.first, last)} to {last} of {len(lines)}, {state}"
    shown = lines[arguments.first - 1 : last]
    return Lines([f"{number}\t{line}" for number, line in enumerate(shown, arguments.first)], note)


async def _lines(place: Workplace, path: str) -> tuple[OpenText | None, list[str]]:
    """Return the buffer of a file, if there is one, and the lines of its text. Raises `ToolError`."""
    await place.until_ready()
    try:
        async with place.files.alone(path):
            buffer = await place.files.read(path)
        text = buffer.text if buffer is not None else (await disk.read(path)).text
    except FileRefusedError as error:
        raise ToolError(str(error)) from error
    return buffer, await anyio.to_thread.run_sync(_split, text)


def _split(text: str) -> list[str]:
    """Return the lines of a text as Neovim shows them, without their ends."""
    lines = text.removeprefix("\ufeff").split("\n" if "\n" in text else "\r")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


async def unsaved_diff(place: Workplace, arguments: OnePath) -> Lines:
    """Return what unsaved buffers have that their files have not."""
    path = None if arguments.path is None else await place.readable(arguments.path)
    return lines_of(await place.ask("unsaved_diff", {"path": path}))


async def show(place: Workplace, arguments: Show) -> Lines:
    """Show the user a line; the cursor of the user stays where it is."""
    path = await place.readable(arguments.path)
    _, lines = await _lines(place, path)
    if arguments.line > max(len(lines), 1):
        raise ToolError(f"{place.roots.name(path)} has only {len(lines)} lines.")
    place.show(path, arguments.line, arguments.note or None)
    return Lines([f"{place.roots.name(path)}:{arguments.line} is shown."])


async def terminal_output(place: Workplace, arguments: TerminalOutput) -> Lines:
    """Return the last lines of the terminals that the user has shared."""
    return lines_of(await place.ask("terminal_output", {"name": arguments.name, "lines": arguments.lines}))


async def debug_state(place: Workplace, arguments: Page) -> Lines:
    """Return where the debugger is, and the variables there."""
    return lines_of(await place.ask("debug_state", {}))


async def review_comments(place: Workplace, arguments: Page) -> Lines:
    """Return the comments that the user has written on lines of files, and not sent yet."""
    return lines_of(await place.ask("review_comments", {}))


TOOLS: Final = (
    Tool(
        "editor_state",
        "What the user looks at",
        "The current file, cursor and selection of the user, the visible files, and the files with unsaved changes.",
        Page,
        editor_state,
        is_central=True,
    ),
    Tool(
        "read_buffer",
        "Read a file as the editor has it",
        "Text of a file with line numbers, as the user sees it: with changes that are not saved yet.",
        ReadBuffer,
        read_buffer,
        is_central=True,
    ),
    Tool(
        "unsaved_diff",
        "Unsaved changes",
        "Unified diff from the files on disk to the unsaved text in the editor.",
        OnePath,
        unsaved_diff,
    ),
    Tool(
        "show",
        "Show the user a place",
        "Marks a line in the user's editor, with a note. Does not move the user's cursor.",
        Show,
        show,
    ),
    Tool(
        "terminal_output",
        "Output of the user's terminals",
        "The last lines of terminals that the user has shared with you.",
        TerminalOutput,
        terminal_output,
    ),
    Tool(
        "review_comments",
        "Review comments of the user",
        "The comments that the user has written on lines of files and has not sent yet. "
        "Use it when the user mentions their comments.",
        Page,
        review_comments,
    ),
    Tool(
        "debug_state",
        "State of the debugger",
        "Where the user's debugger has stopped: stack and variables.",
        Page,
        debug_state,
        is_offered=lambda has_debugger: has_debugger,
    ),
)
