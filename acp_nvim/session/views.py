"""Protocol objects as an editor shows them."""

from __future__ import annotations

from collections.abc import Iterable

from acp_nvim import events
from acp_nvim.limits.calls import COMMAND_SHOWN_CHARS, REQUEST_TEXT_LINES
from acp_nvim.protocol import updates
from acp_nvim.protocol.answers import PermissionAsked
from acp_nvim.session.call_views import decoded_size
from acp_nvim.session.shortened import Room, beginning
from acp_nvim.wire import content


def request_view(
    request_id: int, asked: PermissionAsked, options: list[events.Option], call: events.CallView | None
) -> events.RequestView:
    """A permission request: what it says itself, and what is known of the tool call that it is about."""
    shown = list(call.content) if call else []
    command = asked.command
    if command is not None and len(command) > COMMAND_SHOWN_CHARS:
        shown.insert(0, events.TextItem(*beginning(command, Room(REQUEST_TEXT_LINES, COMMAND_SHOWN_CHARS))))
        command = None
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
        locations_left=call.locations_left if call else 0,
        description=asked.description,
        command=command,
        cwd=asked.cwd,
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
            return f"image ({block.mime_type}, {_size(decoded_size(block.data))})"
        case content.AudioContent():
            return f"audio ({block.mime_type}, {_size(decoded_size(block.data))})"
        case content.ResourceLink():
            size = f" ({_size(block.size)})" if isinstance(block.size, int) else ""
            return f"link {block.title or block.name} {block.uri}{size}"
        case content.EmbeddedResource():
            text = block.resource.text
            return f"resource {block.resource.uri}" + (f"\n{text}" if text else "")
        case content.UnknownContentBlock():
            return f"content of an unknown kind ({block.original.get('type')!r})"


def plan(session: int, block: int, replaced: updates.PlanReplaced) -> events.Plan:
    """A whole plan."""
    steps = [events.PlanStep(entry.content, entry.status, entry.priority) for entry in replaced.entries]
    return events.Plan(
        session=session,
        block=block,
        entries=steps,
        title=replaced.plan_id,
        text=replaced.text,
        uri=replaced.uri,
        left=replaced.left,
    )


def commands(replaced: updates.CommandsReplaced) -> list[events.CommandView]:
    """The slash commands of an agent."""
    return [events.CommandView(one.name, one.description, one.hint) for one in replaced.commands]


def _size(count: int) -> str:
    return f"{count} B" if count < 1000 else f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"
