"""What both versions say in the same words, in the words of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from acp_nvim.protocol import answers, updates
from acp_nvim.protocol.given import given
from acp_nvim.protocol.tool_call import Item, Location, ToolCallPatch
from acp_nvim.wire import facts
from acp_nvim.wire.base import Unknown
from acp_nvim.wire.config_options import SelectItem


def compaction_message(compaction_id: str) -> str:
    """The id under which the summary of a compaction stands among the thoughts."""
    return f"compaction {compaction_id}"


def translate_fact(update: Any) -> updates.Update:
    """An update that is written alike in both versions, or one of an unknown kind."""
    match update:
        case facts.UsageUpdate():
            said = update.cost
            cost = updates.Cost(said.amount, said.currency) if isinstance(said, facts.Cost) else said
            return updates.UsageChanged(update.used, update.size, cost)
        case facts.SessionInfoUpdate():
            return updates.SessionInfoChanged(update.title)
        case facts.Notice():
            return updates.NoticeGiven(update.severity, update.title, given(update.description))
        case facts.CompactionUpdate():
            return updates.Compaction(update.compaction_id, update.status, given(update.error), update.summary)
        case facts.CompactionSummaryChunk():
            return updates.MessageChunk("thought", update.content, compaction_message(update.compaction_id))
        case Unknown():
            return _unstable(update.original)
        case _:
            raise AssertionError(f"untranslated update {update!r}")


def _unstable(said: dict[str, Any]) -> updates.Update:
    """What only the unstable schemas know, as far as we do (RFD "Plan Operations"); or what nobody knows."""
    kind, plan, plan_id = said.get("sessionUpdate"), said.get("plan"), said.get("planId")
    if kind == "plan_removed" and isinstance(plan_id, str):
        return updates.PlanRemoved(plan_id)
    if kind == "plan_update" and isinstance(plan, dict):
        return plan_of_another_kind(plan)
    return updates.UnknownUpdate(str(kind), said)


def plan_of_another_kind(said: dict[str, Any]) -> updates.Update:
    """A plan that is no list of steps, or one whose steps came to version 1: it shows what it has."""
    plan_id, text, uri = said.get("planId"), said.get("content"), said.get("uri")
    known_id = plan_id if isinstance(plan_id, str) else None
    if said.get("type") == "items":
        steps = msgspec.convert(said.get("entries"), list[facts.PlanEntry])
        return updates.PlanReplaced(plan_entries(steps), known_id)
    if isinstance(text, str):
        return updates.PlanReplaced([], known_id, text)
    if isinstance(uri, str):
        return updates.PlanReplaced([], known_id, None, uri)
    return updates.PlanReplaced([], known_id, f"a plan of an unknown kind ({said.get('type')!r})")


def tool_call_patch(call: Any, item: Callable[[Any], Item]) -> ToolCallPatch:
    """What is said of a tool call (a wire type of either version); `item` translates one item of its content."""
    content, locations = call.content, call.locations
    return ToolCallPatch(
        tool_call_id=call.tool_call_id,
        name=call.name,
        title=call.title,
        kind=call.kind,
        status=call.status,
        content=[item(one) for one in content] if isinstance(content, list) else content,
        locations=[_location(one) for one in locations] if isinstance(locations, list) else locations,
        raw_input=call.raw_input,
        raw_output=call.raw_output,
        meta=call.meta,
    )


def _location(one: facts.ToolCallLocation) -> Location:
    return Location(one.path, given(one.line))


def choices(items: Iterable[SelectItem]) -> list[answers.Choice]:
    """The values of a configuration option; those of a group have its name."""
    found: list[answers.Choice] = []
    for item in items:
        if isinstance(item.options, list):
            found += [answers.Choice(one.value, one.name, given(one.description), item.name) for one in item.options]
        else:
            found.append(answers.Choice(given(item.value) or "", item.name, given(item.description)))
    return found


def unknown_option(said: dict[str, Any], id_member: str) -> answers.ConfigOption:
    """A configuration option of a kind that we do not know: what there is to show of it."""
    config_id, current = str(said.get(id_member)), said.get("currentValue")
    category, description = said.get("category"), said.get("description")
    return answers.ConfigOption(
        config_id=config_id,
        name=str(said.get("name") or config_id),
        kind=str(said.get("type")),
        current=current if current is None or isinstance(current, bool) else str(current),
        category=category if isinstance(category, str) else None,
        description=description if isinstance(description, str) else None,
    )


def plan_entries(entries: Iterable[facts.PlanEntry]) -> list[updates.PlanEntry]:
    """The steps of a plan."""
    return [updates.PlanEntry(one.content, one.status, one.priority) for one in entries]


def permission_options(options: Iterable[facts.PermissionOption]) -> list[answers.PermissionOption]:
    """The ways to answer a permission request."""
    return [answers.PermissionOption(one.option_id, one.name, one.kind) for one in options]


def session_page(page: facts.ListSessionsResponse) -> answers.SessionPage:
    """The answer to `session/list`."""
    return answers.SessionPage([_session_info(one) for one in page.sessions], given(page.next_cursor))


def _session_info(one: facts.SessionInfo) -> answers.SessionInfo:
    return answers.SessionInfo(
        session_id=one.session_id,
        cwd=one.cwd,
        title=given(one.title),
        updated_at=given(one.updated_at),
        additional_directories=given(one.additional_directories) or [],
    )
