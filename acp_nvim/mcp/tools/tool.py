"""A tool of the MCP server: its name, its arguments, and the function that carries it out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

import msgspec

from acp_nvim import decoders
from acp_nvim.contract.editor import ToolAnswer, WorkspaceEdit
from acp_nvim.workspace.open_files import OpenFiles
from acp_nvim.workspace.roots import Roots

PAGE_CHARS: Final = 20_000
"""Characters of one result: 6,000 tokens. More is available with a cursor."""
NOTE_CHARS: Final = 2000
"""Characters of the note before each page."""
LINE_CHARS: Final = 2000
"""Characters of one line of a result: a minified file must not fill it."""


class ToolError(Exception):
    """A tool cannot do what was asked; the text tells the agent what to try."""


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    """The base of all arguments of tools: a tool without any."""


class Workplace(Protocol):
    """What the tools need of a session and of the editor."""

    roots: Roots
    files: OpenFiles
    has_debugger: bool

    async def ask(self, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        """Let the editor carry out a tool. Raises `ToolError`, also if the editor cannot answer now."""

    async def until_ready(self) -> None:
        """Wait until the editor answers, before its buffers are read. Raises `ToolError` if it does not in time."""

    async def readable(self, path: str) -> str:
        """Return the real path of a file that the agent may read; `path` may be relative. Raises `ToolError`."""

    async def changed_files(self) -> list[str]:
        """Return the real paths of the files that the agent has changed in this turn."""

    def show(self, path: str, line: int, note: str | None) -> None:
        """Show the user a line of a file, and a note."""

    async def apply(self, title: str, edit: WorkspaceEdit, renamed: tuple[str, str] | None = None) -> str:
        """Ask the user to allow an edit, carry it out, and return what was done. Raises `ToolError`.

        `renamed` are the old and the new name of a symbol that is renamed.
        """


class Lines(msgspec.Struct, frozen=True):
    """The result of a tool: lines, and `note`, which stands before them on each page."""

    lines: Sequence[str]
    note: str | None = None


class Tool(msgspec.Struct, frozen=True):
    """A tool; `run` returns its result, or raises `ToolError`.

    `writes`: it may change files. `is_central`: models should know it from the beginning; Claude only names the others,
    so that the model has to search for them.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Workplace, Any], Awaitable[Lines]]
    writes: bool = False
    is_central: bool = False
    is_offered: Callable[[bool], bool] = lambda has_debugger: True

    def described(self) -> dict[str, Any]:
        """Return the tool as `tools/list` describes it."""
        meta = {"_meta": {"anthropic/alwaysLoad": True}} if self.is_central else {}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": schema(self.arguments),
            "annotations": {
                "title": self.title,
                "readOnlyHint": not self.writes,
                "destructiveHint": False,
                "openWorldHint": False,
            },
            **meta,
        }

    def read(self, arguments: dict[str, Any] | None) -> Arguments:
        """Decode arguments. Raises `ToolError`.

        Numbers as texts, and null for what is left out, are accepted: models write them.
        """
        given = {name: value for name, value in (arguments or {}).items() if value is not None}
        try:
            return decoders.convert(given, self.arguments, strict=False)
        except msgspec.ValidationError as error:
            known = ", ".join(self.arguments.__struct_fields__)
            raise ToolError(f"Wrong arguments for {self.name}: {error}. It takes: {known or 'none'}.") from error


def schema(arguments: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of arguments, in the subset that models' providers take: no references, no null."""
    found = msgspec.json.schema(arguments)
    own: dict[str, Any] = found["$defs"][arguments.__name__]
    return {
        "type": "object",
        "properties": {name: _typed(_without_null(one)) for name, one in own["properties"].items()},
        "required": own["required"],
        "additionalProperties": False,
    }


def _without_null(property_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a property that may be left out, which is the meaning of null here."""
    types = [one for one in property_schema.get("anyOf", ()) if one != {"type": "null"}]
    if not types:
        return property_schema
    rest = {name: value for name, value in property_schema.items() if name != "anyOf" and value is not None}
    return {**types[0], **rest}


def _typed(property_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a property with its type, also if it lists its values: Gemini CLI drops tools without it."""
    return property_schema if "type" in property_schema else {"type": "string", **property_schema}


def bounded(text: str, most: int = PAGE_CHARS) -> str:
    """Return a text of no more than `most` characters, and how many it had."""
    return text if len(text) <= most else f"{text[:most]} ... ({len(text)} characters)"


def page(result: Lines, cursor: str | None) -> str:
    """Return the part of a result that begins at `cursor`, and how to get the next part.

    Raises `ToolError` for a cursor that no page has named.
    """
    first = 0
    if cursor is not None:
        if not cursor.isdecimal() or len(cursor) > 9:
            raise ToolError(f"There is no cursor {cursor[:20]!r}: use the one that the last part has named.")
        first = int(cursor)
    shown, size = [bounded(result.note, NOTE_CHARS)] if result.note else [], 0
    for number, line in enumerate(result.lines[first:], first):
        size += min(len(line), LINE_CHARS) + 1
        if size > PAGE_CHARS and number > first:
            left = len(result.lines) - number
            shown.append(f'... {left} more lines: call again with cursor "{number}"')
            break
        shown.append(bounded(line, LINE_CHARS))
    if first and first >= len(result.lines):
        shown.append("That was all.")
    return "\n".join(shown)
