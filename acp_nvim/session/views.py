"""Protocol objects as an editor shows them."""

from __future__ import annotations

from collections.abc import Sequence

from acp_nvim import events
from acp_nvim.protocol import content, updates
from acp_nvim.protocol.tool_call import Location, ToolCall


def call_view(call: ToolCall) -> events.CallView:
    """A tool call, all of its content included."""
    return events.CallView(
        id=call.tool_call_id,
        title=call.title or call.tool_call_id,
        kind=call.kind,
        status=call.status,
        content=[item(one) for one in call.content],
        locations=places(call.locations),
    )


def item(one: content.ToolCallContent) -> events.Item:
    """One item of a tool call's content."""
    match one:
        case content.ContentItem(content=content.Text(text)):
            return events.TextItem(text)
        case content.ContentItem(content=block):
            return events.OtherItem(content.describe(block))
        case content.DiffItem():
            return events.DiffItem(one.path, one.new_text, one.old_text)
        case content.TerminalItem():
            return events.TerminalItem(one.terminal_id)
        case content.UnknownBlock():
            return events.OtherItem(content.describe(one))


def places(locations: Sequence[Location]) -> list[events.Place]:
    """Locations; some agents count lines from 0, some say null."""
    return [events.Place(one.path, one.line if one.line else None) for one in locations]


def steps(plan: updates.PlanReplaced) -> list[events.PlanStep]:
    """The entries of a plan."""
    return [events.PlanStep(entry.content, entry.status, entry.priority) for entry in plan.entries]


def commands(replaced: updates.CommandsReplaced) -> list[events.CommandView]:
    """The slash commands of an agent."""
    return [events.CommandView(one.name, one.description, one.hint) for one in replaced.commands]
