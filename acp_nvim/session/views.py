"""Protocol objects as an editor shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from acp_nvim import events
from acp_nvim.limits import CALL_ITEMS, TERMINAL_LINES
from acp_nvim.protocol import updates
from acp_nvim.protocol.answers import PermissionAsked
from acp_nvim.protocol.diff import Diff, FileChange
from acp_nvim.protocol.terminal import Terminal
from acp_nvim.protocol.tool_call import Item, Location, Shown, TerminalShown, ToolCall, UnknownItem
from acp_nvim.wire import content

Terminals = Mapping[str, Terminal]


def call_view(call: ToolCall, shown: Sequence[Item], terminals: Terminals) -> events.CallView:
    """A tool call, and all that it shows."""
    return events.CallView(
        id=call.tool_call_id,
        title=call.title or call.name or call.tool_call_id,
        kind=call.kind,
        status=call.status,
        content=list(_content(shown, terminals)),
        locations=places(call.locations),
    )


def _content(shown: Sequence[Item], terminals: Terminals) -> Iterable[events.Item]:
    """Of many items the first and the last: drawing all of them with each that comes would take ever longer."""
    hidden = len(shown) - 2 * CALL_ITEMS
    for one in shown if hidden <= 0 else shown[:CALL_ITEMS]:
        yield from items(one, terminals)
    if hidden > 0:
        yield events.OtherItem(f"… {hidden} more items …")
        for one in shown[-CALL_ITEMS:]:
            yield from items(one, terminals)


def items(one: Item, terminals: Terminals) -> Iterable[events.Item]:
    """What an item of a tool call's content shows."""
    match one:
        case Shown(content.TextContent(text=text)):
            yield events.TextItem(text)
        case Shown(block):
            yield events.OtherItem(describe(block))
        case Diff(changes):
            for change in changes:
                yield from _change(change)
        case TerminalShown(terminal_id):
            yield _terminal(terminal_id, terminals.get(terminal_id))
        case UnknownItem(original):
            yield events.OtherItem(f"content of an unknown kind ({original.get('type')!r})")


def _change(change: FileChange) -> Iterable[events.DiffItem]:
    old_path, note = change.old_path, change.note
    if not change.pieces:
        kind = None if change.file_type == "text" else change.file_type
        yield events.DiffItem(change.path, "", None, change.operation, old_path, None, note or kind)
    for piece in change.pieces:
        yield events.DiffItem(change.path, piece.new_text, piece.old_text, change.operation, old_path, piece.line, note)


def _terminal(terminal_id: str, terminal: Terminal | None) -> events.TerminalItem:
    if terminal is None:
        return events.TerminalItem(terminal_id)
    ended = terminal.exit
    return events.TerminalItem(
        terminal_id=terminal_id,
        number=terminal.number,
        command=terminal.command,
        cwd=terminal.cwd,
        output=terminal.tail(TERMINAL_LINES),
        exit_code=ended.exit_code if ended else None,
        signal=ended.signal if ended else None,
    )


def request_view(
    request_id: int, asked: PermissionAsked, options: list[events.Option], call: events.CallView | None
) -> events.RequestView:
    """A permission request: what it says itself, and what is known of the tool call that it is about."""
    shown = list(call.content) if call else []
    if asked.command is not None:
        shown.insert(0, events.TextItem(f"$ {asked.command}" + (f"\nin {asked.cwd}" if asked.cwd else "")))
    if asked.subject is not None:
        shown.insert(
            0, events.OtherItem(f"about something that acp_nvim does not know ({asked.subject.get('type')!r})")
        )
    return events.RequestView(
        id=request_id,
        tool_call_id=asked.tool_call_id or "",
        title=asked.title or (call.title if call else "The agent asks for your permission"),
        kind=call.kind if call else "execute" if asked.command is not None else "other",
        options=options,
        content=shown,
        locations=call.locations if call else [],
        description=asked.description,
    )


def text_of(blocks: Iterable[content.ContentBlock]) -> str:
    """A message's content as text."""
    return "".join(describe(block) for block in blocks)


def describe(block: content.ContentBlock) -> str:
    """A text as it is; another block in a few words."""
    match block:
        case content.TextContent():
            return block.text
        case content.ImageContent():
            return f"image ({block.mime_type}, {_size(len(block.data) * 3 // 4)})"
        case content.AudioContent():
            return f"audio ({block.mime_type}, {_size(len(block.data) * 3 // 4)})"
        case content.ResourceLink():
            size = f" ({_size(block.size)})" if isinstance(block.size, int) else ""
            return f"link {block.title or block.name} {block.uri}{size}"
        case content.EmbeddedResource():
            text = block.resource.text
            return f"resource {block.resource.uri}" + (f"\n{text}" if text else "")
        case content.UnknownContentBlock():
            return f"content of an unknown kind ({block.original.get('type')!r})"


def places(locations: Sequence[Location]) -> list[events.Place]:
    """Locations; some agents count lines from 0, some say null."""
    return [events.Place(one.path, one.line if one.line else None) for one in locations]


def steps(plan: updates.PlanReplaced) -> list[events.PlanStep]:
    """The entries of a plan."""
    return [events.PlanStep(entry.content, entry.status, entry.priority) for entry in plan.entries]


def commands(replaced: updates.CommandsReplaced) -> list[events.CommandView]:
    """The slash commands of an agent."""
    return [events.CommandView(one.name, one.description, one.hint) for one in replaced.commands]


def _size(count: int) -> str:
    return f"{count} B" if count < 1000 else f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"
