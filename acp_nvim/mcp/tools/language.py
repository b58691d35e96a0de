"""Tools that ask the language servers of the editor, and its diagnostics. They change nothing."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from acp_nvim.mcp.tools.reading import Cursor, Line, Path, lines_of
from acp_nvim.mcp.tools.tool import Arguments, Lines, Tool, ToolError, Workplace

MOST_WAIT_MS: Final = 30_000

Symbol = Annotated[
    str,
    Meta(
        description="The name as it stands in that line. If it stands there more than once, with some text before it, "
        "as in `self.name`: the last word counts.",
        min_length=1,
        max_length=500,
    ),
]


class Diagnostics(Arguments):
    """The arguments of `diagnostics`; `wait_ms` is in milliseconds."""

    path: Annotated[str | None, Meta(description="Only this file. Without it: all open files.")] = None
    severity: Annotated[
        Literal["error", "warn", "info", "hint"], Meta(description="The least severe ones to be listed.")
    ] = "hint"
    wait_ms: Annotated[
        int, Meta(description="How long to wait for the language servers, in ms.", ge=0, le=MOST_WAIT_MS)
    ] = 3000
    since_turn: Annotated[
        bool, Meta(description="Only those that are new since the user's prompt, in the files that you changed.")
    ] = False
    cursor: Cursor = None


class AtSymbol(Arguments):
    """The arguments of a tool about a symbol."""

    path: Path
    line: Line
    symbol: Symbol
    cursor: Cursor = None


class Symbols(Arguments):
    """The arguments of `symbols`: one of `query` and `path` is needed."""

    query: Annotated[str | None, Meta(description="Symbols of the project with such a name.")] = None
    path: Annotated[str | None, Meta(description="The symbols of this file.")] = None
    cursor: Cursor = None


async def current(place: Workplace, path: str) -> str:
    """Return the real path of a file, after its buffer has what the disk has. Raises `ToolError`."""
    real = await place.readable(path)
    await place.until_ready()
    async with place.files.alone(real):
        await place.files.read(real)
    return real


async def diagnostics(place: Workplace, arguments: Diagnostics) -> Lines:
    """Return diagnostics, when the language servers have had time to look at the present text."""
    paths = None
    if arguments.path is not None:
        paths = [await current(place, arguments.path)]
    elif arguments.since_turn:
        await place.until_ready()
        paths = [await current(place, path) for path in await place.changed_files()]
        if not paths:
            return Lines(["You have changed no files in this turn."])
    wanted = {
        "paths": paths,
        "severity": arguments.severity,
        "wait_ms": arguments.wait_ms,
        "since_turn": arguments.since_turn,
    }
    return lines_of(await place.ask("diagnostics", wanted))


async def at_symbol(tool: str, place: Workplace, arguments: AtSymbol) -> Lines:
    """Ask the language servers about a symbol."""
    path = await current(place, arguments.path)
    return lines_of(await place.ask(tool, {"path": path, "line": arguments.line, "symbol": arguments.symbol}))


async def definition(place: Workplace, arguments: AtSymbol) -> Lines:
    """Return where a symbol is defined, as `path:line:col: text`."""
    return await at_symbol("definition", place, arguments)


async def references(place: Workplace, arguments: AtSymbol) -> Lines:
    """Return where a symbol is used, as `path:line:col: text`."""
    return await at_symbol("references", place, arguments)


async def implementations(place: Workplace, arguments: AtSymbol) -> Lines:
    """Return where an interface or a method is implemented."""
    return await at_symbol("implementations", place, arguments)


async def hover(place: Workplace, arguments: AtSymbol) -> Lines:
    """Return what the language servers say of a symbol: its type, and its documentation."""
    return await at_symbol("hover", place, arguments)


async def symbols(place: Workplace, arguments: Symbols) -> Lines:
    """Return the symbols of a file, or of the project."""
    if (arguments.path is None) is (arguments.query is None):
        raise ToolError("symbols takes either a path, or a query.")
    wanted: dict[str, Any] = {"query": arguments.query}
    if arguments.path is not None:
        wanted["path"] = await current(place, arguments.path)
    return lines_of(await place.ask("symbols", wanted))


TOOLS: Final = (
    Tool(
        "diagnostics",
        "Errors and warnings",
        "Errors and warnings of compilers, linters and language servers, for the present text, saved or not. Says "
        "which are new in this turn, and whether a server has not answered yet.",
        Diagnostics,
        diagnostics,
        is_central=True,
    ),
    Tool(
        "definition",
        "Where a symbol is defined",
        "Where the symbol in that line is defined, by the language servers.",
        AtSymbol,
        definition,
    ),
    Tool(
        "references",
        "Where a symbol is used",
        "All uses of the symbol in that line, by the language servers: exact, unlike a search for text.",
        AtSymbol,
        references,
        is_central=True,
    ),
    Tool(
        "implementations",
        "Where a symbol is implemented",
        "The implementations of the interface or method in that line, by the language servers.",
        AtSymbol,
        implementations,
    ),
    Tool(
        "hover",
        "Type and documentation of a symbol",
        "The type, the signature and the documentation of the symbol in that line.",
        AtSymbol,
        hover,
    ),
    Tool(
        "symbols",
        "Symbols of a file or the project",
        "The functions, classes and so on of a file, or those of the project whose names match a query.",
        Symbols,
        symbols,
    ),
)
