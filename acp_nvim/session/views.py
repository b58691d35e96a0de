"""Protocol objects as an editor shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from acp_nvim import events
from acp_nvim.limits.calls import COMMAND_SHOWN_CHARS, PLAN_CHARS, REQUEST_TEXT_LINES
from acp_nvim.limits.fair_shares import OPTION_CHARS, OPTIONS
from acp_nvim.protocol import updates
from acp_nvim.protocol.answers import PermissionAsked, PermissionOption
from acp_nvim.session.call_views import decoded_size
from acp_nvim.session.left_out import command_chars
from acp_nvim.session.shortened import Room, beginning
from acp_nvim.wire import content
from acp_nvim.wire.bounds import shortened

KEY_KINDS: Final = frozenset({"allow_once", "allow_always", "reject_once", "reject_always"})
"""Kinds of options that the user has keys for."""

REJECTS: Final = frozenset({"reject_once", "reject_always"})
"""Kinds of options that allow nothing. What a kind means that nobody here knows is not known."""


def options(asked: PermissionAsked, left_out: str | None) -> list[events.Option]:
    """The options that are offered: the first ones, and in any case the first of each kind that has a key.

    Those that may allow something only when all of it and their whole name can be shown (nothing is `left_out`), and
    when their id does not mean a rejection, too.
    """
    rejecting = {one.option_id for one in asked.options if one.kind in REJECTS}

    def may_be_chosen(one: PermissionOption) -> bool:
        is_clear = one.option_id not in rejecting and len(one.name) <= OPTION_CHARS
        return one.kind in REJECTS or (left_out is None and is_clear)

    fit = list(filter(may_be_chosen, asked.options))
    offered = fit[:OPTIONS]
    kinds = {one.kind for one in offered}
    for one in fit[OPTIONS:]:
        if one.kind in KEY_KINDS and one.kind not in kinds:
            kinds.add(one.kind)
            offered.append(one)
    return [events.Option(one.option_id, _short(one.name, OPTION_CHARS), one.kind) for one in offered]


def request_view(
    request_id: int,
    asked: PermissionAsked,
    options: list[events.Option],
    call: events.CallView | None,
    left_out: str | None,
) -> events.RequestView:
    """A permission request: what it says itself, and what is known of the tool call that it is about."""
    shown = list(call.content) if call else []
    command, env = asked.command, asked.env
    if command is not None and command_chars(command, env) > COMMAND_SHOWN_CHARS:
        shown.insert(0, events.TextItem(*beginning(command, Room(REQUEST_TEXT_LINES, COMMAND_SHOWN_CHARS))))
        command, env = None, []
    if asked.subject is not None:
        shown.insert(
            0, events.OtherItem(f"about something that acp_nvim does not know ({asked.subject.get('type')!r})")
        )
    more = len(asked.options) - sum(not one.ours for one in options)
    if more > 0:
        shown.append(events.OtherItem(f"… and {more:,} more options, which are not offered"))
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
        env=env,
        left_out=left_out,
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
