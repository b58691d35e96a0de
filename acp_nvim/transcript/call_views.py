"""Tool calls as an editor shows them, without what they show twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from acp_nvim.acp import schema_common as content
from acp_nvim.acp.diff import Diff, FileChange
from acp_nvim.acp.schema_common import TextContent
from acp_nvim.acp.terminal import Terminal
from acp_nvim.acp.tool_call import Item, Location, SessionShown, Shown, TerminalShown, UnknownItem
from acp_nvim.contract import views
from acp_nvim.lazy import pattern
from acp_nvim.limits import TERMINAL_LINES
from acp_nvim.terminals.screen import PRINTED_CHARS
from acp_nvim.transcript.blocks import Block, CallBlock
from acp_nvim.transcript.raw_results import NOTHING, raw_result
from acp_nvim.transcript.truncation import IN_CHAT, IN_REQUEST, WHOLE, CutHunk, TextLimits, cut, hunks, joined

CALL_ITEMS: Final = 50
"""Items shown from the beginning and from the end of a tool call's content; the others are counted."""
RAW: Final = -1
"""Stands for the raw output among the places of a call's items."""
NESTING: Final = 8
"""Maximum depth of nested tool calls: agents start subagents, but not many levels."""

Terminals = Mapping[str, Terminal]
Find = Callable[[str], CallBlock | None]
"""Finds the block of the tool call with that id."""

COMPARED_LINES: Final = 500
"""Lines of a terminal's output that are compared; longer output is shown in the terminal and as the agent sent it."""
COMPARED_CHARS: Final = 64 * 1024
"""Characters of a text that is compared."""
_EMPTY_FENCE = pattern(r"(?m)^(`{3,}|~{3,})[^\n`]*\n\s*\1[ \t]*$")


def call_view(block: CallBlock, find: Find, before: Block | None, limits: TextLimits = IN_CHAT) -> views.CallView:
    """Return the view of a tool call, cut to `limits`; `before` is the preceding block."""
    call = block.call
    depth, under = _depth(block, find), None
    if (parent := _above(block, find)) is not None:
        is_near = isinstance(before, CallBlock) and (before is parent or before.above is parent)
        under = None if is_near else title(parent)
    started, ended = block.times()
    return views.CallView(
        id=call.tool_call_id,
        title=title(block),
        kind=call.kind,
        status=call.status,
        content=_content(block, limits),
        locations=places(call.locations),
        parent=block.parent if depth else None,
        depth=depth,
        under=under,
        started=started,
        ended=ended,
        locations_left=call.locations_left,
    )


def title(block: CallBlock) -> str:
    """Return the title that the chat shows: the agent's title, else the name of the tool, else the call's id."""
    call = block.call
    return call.title or call.name or call.tool_call_id


def places(locations: Sequence[Location]) -> list[views.FileLine]:
    """Return the views of locations. Lines that are 0 or null are unknown: some agents send them."""
    return [views.FileLine(one.path, one.line if one.line else None) for one in locations]


def pretty(value: object) -> str | None:
    """Format a raw value as indented JSON; return None if there is none."""
    return None if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def _depth(block: CallBlock, find: Find) -> int:
    """Return the nesting depth of a call. Agents may report cycles."""
    depth, seen = 0, [block]
    while depth < NESTING and (above := _above(block, find)) is not None and above not in seen:
        seen.append(above)
        block, depth = above, depth + 1
    return depth


def _above(block: CallBlock, find: Find) -> CallBlock | None:
    """Return the parent of a call, if it has one that is known."""
    if block.above is None and block.parent:
        block.above = find(block.parent)
    return block.above


def _content(block: CallBlock, limits: TextLimits) -> list[views.Item]:
    """Return the items to show. The chat shows only the first and the last of many, as each update redraws them."""
    shown: list[views.Item] = []
    items = list(enumerate(block.items()))
    if block.terminals and limits is not WHOLE:
        items = without_repetition(block.items(), block.terminals)
    hidden = len(items) - 2 * CALL_ITEMS if limits is IN_CHAT else 0
    for number, (place, one) in enumerate(items):
        if hidden > 0 and number == CALL_ITEMS:
            shown.append(views.OtherItem(f"… {hidden} more items …"))
        if hidden <= 0 or not CALL_ITEMS <= number < CALL_ITEMS + hidden:
            shown += _items(block, place, one, limits)
    if block.call.content_left:
        shown.append(views.OtherItem(f"… and {block.call.content_left:,} more items"))
    result = NOTHING if limits is IN_REQUEST else raw_result(block.call, block.items(), block.terminals)
    if result != NOTHING:
        item = _text(result.text, block, RAW, limits)
        item.exit_code, item.signal = result.exit_code, result.signal
        shown.append(item)
    return shown


def _items(block: CallBlock, place: int, one: Item, limits: TextLimits) -> Sequence[views.Item]:
    """Return the views of one item of a tool call's content."""
    match one:
        case Shown(inner):
            return [_block(inner, block, place, limits)]
        case Diff():
            checked = block.as_checked(one)
            if not limits.cuts_diffs:
                return [item for change in checked.changes for item in _change(change, cuts=False)]
            return block.cut_diff(checked, _cut)
        case TerminalShown(terminal_id):
            return [_terminal(terminal_id, block, limits)]
        case SessionShown(session_id):
            return [views.SessionItem(session_id)]
        case UnknownItem(original):
            return [views.OtherItem(f"content of an unknown kind ({original.get('type')!r})")]


def _text(text: str, call: CallBlock, place: int, limits: TextLimits) -> views.TextItem:
    """Return the view of a text. In the chat, what a command has printed looks as on a terminal."""
    if limits is IN_CHAT and call.call.kind == "execute" and (ends := call.printed(place, text)):
        said, lines, tail = joined(ends)
        return views.TextItem(said, lines, tail=tail)
    return views.TextItem(*cut(text, limits))


def _block(block: content.ContentBlock, call: CallBlock, place: int, limits: TextLimits) -> views.Item:
    match block:
        case content.TextContent(text=text):
            return _text(text, call, place, limits)
        case content.ImageContent():
            return views.MediaItem("image", block.mime_type, decoded_size(block.data), place, block.uri or None)
        case content.AudioContent():
            return views.MediaItem("audio", block.mime_type, decoded_size(block.data), place)
        case content.ResourceLink():
            name, size = block.title or block.name, block.size if isinstance(block.size, int) else None
            return views.ResourceItem(block.uri, name, block.description or None, block.mime_type or None, size)
        case content.EmbeddedResource():
            return _resource(block.resource, limits)
        case content.UnknownContentBlock():
            return views.OtherItem(f"content of an unknown kind ({block.original.get('type')!r})")


def _resource(resource: content.EmbeddedResourceResource, limits: TextLimits) -> views.ResourceItem:
    mime_type = resource.mime_type or None
    if resource.text is UNSET:
        size = decoded_size(resource.blob) if resource.blob is not UNSET else None
        return views.ResourceItem(resource.uri, mime_type=mime_type, size=size)
    text, lines, chars, tail = cut(resource.text, limits)
    return views.ResourceItem(resource.uri, mime_type=mime_type, text=text, lines=lines, chars=chars, tail=tail)


def _cut(diff: Diff) -> list[views.DiffItem]:
    return [item for change in diff.changes for item in _change(change)]


def _change(change: FileChange, cuts: bool = True) -> Iterable[views.DiffItem]:
    old_path, note = change.old_path, change.note
    if not change.pieces:
        kind = None if change.file_type == "text" else change.file_type
        yield views.DiffItem(change.path, "", None, change.operation, old_path, None, note or kind)
    for piece in change.pieces:
        for hunk in hunks(piece) if cuts else [CutHunk(piece)]:
            old, new, line = hunk.piece.old_text, hunk.piece.new_text, hunk.piece.line
            yield views.DiffItem(change.path, new, old, change.operation, old_path, line, note, hunk.lines)


def _terminal(terminal_id: str, block: CallBlock, limits: TextLimits) -> views.TerminalItem:
    """Return the view of a terminal. Agents' own ones often have no command: then the title of the call names it."""
    terminal = block.terminals.get(terminal_id)
    title = block.call.title.strip("` \n") if block.call.kind == "execute" else ""
    if terminal is None:
        return views.TerminalItem(terminal_id, command=title or None)
    ended = terminal.exit
    output, lines, tail = _output(terminal, limits)
    return views.TerminalItem(
        terminal_id=terminal_id,
        number=terminal.number,
        command=terminal.command or title or None,
        cwd=terminal.cwd,
        output=output,
        lines=lines,
        tail=tail,
        exit_code=ended.exit_code if ended else None,
        signal=ended.signal if ended else None,
    )


def _output(terminal: Terminal, limits: TextLimits) -> tuple[str, int, str]:
    """Return the output as a terminal shows it: its beginning, the number of lines left out, and its end."""
    if limits is IN_CHAT:
        return joined(terminal.ends())
    if limits is IN_REQUEST:
        return terminal.tail(TERMINAL_LINES), 0, ""
    return terminal.tail(limits.lines) if terminal.size > PRINTED_CHARS else joined((terminal.rows(), 0, []))[0], 0, ""


def decoded_size(base64: str) -> int:
    """Return the size in bytes of the data that a base64 text encodes, without decoding it."""
    return len(base64) * 3 // 4 - base64.count("=", -2)


def without_repetition(items: Sequence[Item], terminals: Mapping[str, Terminal]) -> list[tuple[int, Item]]:
    """Return the items with their places, without what repeats the output of a terminal among them, or another text.

    Of a text that has more than the output, the rest remains. Output is compared by whole lines. A second terminal with
    the same output, which has no command, is dropped, too.
    """
    ids = [one.terminal_id for one in items if isinstance(one, TerminalShown)]
    outputs = {output for one in ids if one in terminals and (output := _compared_output(terminals[one]))}
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
                output, is_named = _compared_output(terminals[terminal_id]), bool(terminals[terminal_id].command)
                if is_named or not output or output not in seen:
                    kept.append((place, one))
                seen.add(output)
            case _:
                kept.append((place, one))
    return kept


def _compared_output(terminal: Terminal) -> str:
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
