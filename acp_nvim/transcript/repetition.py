"""Finds texts of a tool call that repeat the output of its terminal, as agents send when a command was cancelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.terminal import Terminal
from acp_nvim.acp.tool_call import Item, Shown, TerminalShown
from acp_nvim.lazy import pattern

COMPARED_LINES: Final = 500
"""Lines of a terminal's output that are compared; longer output is shown in the terminal and as the agent sent it."""
COMPARED_CHARS: Final = 64 * 1024
"""Characters of a text that is compared."""

_EMPTY_FENCE = pattern(r"(?m)^(`{3,}|~{3,})[^\n`]*\n\s*\1[ \t]*$")


def without_repetition(items: Sequence[Item], terminals: Mapping[str, Terminal]) -> list[tuple[int, Item]]:
    """Return the items with their places, without what repeats the output of a terminal among them, or another text.

    Of a text that has more than the output, the rest remains. Output is compared by whole lines. A second terminal with
    the same output, which has no command, is dropped, too.
    """
    ids = [one.terminal_id for one in items if isinstance(one, TerminalShown)]
    outputs = {output for one in ids if one in terminals and (output := _output(terminals[one]))}
    seen: set[str] = set()
    kept: list[tuple[int, Item]] = []
    for place, one in enumerate(items):
        match one:
            case Shown(TextContent(text=text)) if text.strip() and len(text) <= COMPARED_CHARS:
                rest = _rest(text, outputs)
                if rest and rest not in seen:
                    kept.append((place, one if rest == text else Shown(TextContent(text=rest))))
                seen.add(rest)
            case TerminalShown(terminal_id) if terminal_id in terminals:
                output, is_named = _output(terminals[terminal_id]), bool(terminals[terminal_id].command)
                if is_named or not output or output not in seen:
                    kept.append((place, one))
                seen.add(output)
            case _:
                kept.append((place, one))
    return kept


def _output(terminal: Terminal) -> str:
    """Return the output as plain lines; "" if there is none, or too much."""
    if terminal.dropped:
        return ""
    output = terminal.tail(COMPARED_LINES + 1)
    return "" if output.count("\n") >= COMPARED_LINES else _lines(output)


def _rest(text: str, outputs: set[str]) -> str:
    """Return the text without the outputs; unchanged if it has none of them."""
    for output in outputs:
        lines = f"\n{_lines(text)}\n"
        before, found, after = lines.partition(f"\n{output}\n")
        if found:
            text = _EMPTY_FENCE.sub("", f"{before}\n{after}".strip("\n")).strip("\n")
        elif lines in f"\n{output}\n":
            return ""
    return text


def _lines(text: str) -> str:
    """Return the lines without blanks at their ends, and without empty lines at the beginning and end."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
