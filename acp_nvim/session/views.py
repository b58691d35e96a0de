"""Protocol objects as an editor shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from acp_nvim import events
from acp_nvim.limits.calls import COMMAND_SHOWN_CHARS, PLAN_CHARS, REQUEST_TEXT_LINES
from acp_nvim.limits.fair_shares import OPTION_CHARS, OPTIONS
from acp_nvim.protocol import updates
from acp_nvim.protocol.answers import PermissionAsked
from acp_nvim.session.call_views import decoded_size
from acp_nvim.session.shortened import Room, beginning
from acp_nvim.wire import content
from acp_nvim.wire.bounds import shortened

KEY_KINDS: Final = frozenset({"allow_once", "allow_always", "reject_once", "reject_always"})
"""Kinds of options that the user has keys for."""


def options(asked: PermissionAsked) -> list[events.Option]:
    """The options that are offered: the first ones, and in any case the first of each kind that has a key."""
    offered = asked.options[:OPTIONS]
    kinds = {one.kind for one in offered}
    for one in asked.options[OPTIONS:]:
        if one.kind in KEY_KINDS and one.kind not in kinds:
            kinds.add(one.kind)
            offered.append(one)
    return [events.Option(one.option_id, _short(one.name, OPTION_CHARS), one.kind) for one in offered]


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
    left_out = len(asked.options) - sum(not one.ours for one in options)
    if left_out > 0:
        shown.append(events.OtherItem(f"… and {left_out:,} more options, which are not offered"))
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
    """The event for a plan of the agent that replaces the one before."""
    total, count = sum(len(entry.content) for entry in replaced.entries), len(replaced.entries)
    most = PLAN_CHARS // count if total > PLAN_CHARS else total
    steps = [
        events.PlanStep(shortened(entry.content, most), entry.status, entry.priority) for entry in replaced.entries
    ]
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


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} … and {len(text) - most:,} more characters"


def _size(count: int) -> str:
    return f"{count} B" if count < 1000 else f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"
