"""What both versions say in the same words, in the words of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UNSET

from acp_nvim.limits.messages import LEFT_OUT
from acp_nvim.limits.wire import ID_CHARS, NAME_CHARS, TEXT_CHARS, URI_CHARS, WORD_CHARS, WORDS_CHARS
from acp_nvim.protocol import answers, updates
from acp_nvim.protocol.given import given, lacks, lacks_inside, left
from acp_nvim.protocol.tool_call import Item, Location, ToolCallPatch
from acp_nvim.wire import facts, open_unions
from acp_nvim.wire.base import Unknown, Wire
from acp_nvim.wire.bounds import shortened
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
    known_id = shortened(plan_id, ID_CHARS) if isinstance(plan_id, str) else None
    if said.get("type") == "items":
        steps = open_unions.convert({"entries": said.get("entries"), LEFT_OUT: said.get(LEFT_OUT)}, facts.PlanSteps)
        return updates.PlanReplaced(plan_entries(steps.entries), known_id, left=left(steps, "entries"))
    if isinstance(text, str):
        return updates.PlanReplaced([], known_id, shortened(text, TEXT_CHARS))
    if isinstance(uri, str):
        return updates.PlanReplaced([], known_id, None, shortened(uri, URI_CHARS))
    return updates.PlanReplaced(
        [], known_id, f"a plan of an unknown kind ({shortened(repr(said.get('type')), WORD_CHARS)})"
    )


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
        content_left=left(call, "content") if content is not UNSET else UNSET,
        locations_left=left(call, "locations") if locations is not UNSET else UNSET,
        lacks_title=lacks(call, "title") if call.title is not UNSET else UNSET,
        lacks_content=lacks_inside(call, "content") if content is not UNSET else UNSET,
        lacks_input=lacks(call, "rawInput") if call.raw_input is not UNSET else UNSET,
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


def options_left(update: Any) -> int:
    """How many configuration options, and values of those that are there, were left out of an update."""
    said = [given(getattr(one, "options", None)) for one in update.config_options]
    groups = [item for items in said for item in items or ()]
    wires = [update, *update.config_options, *groups]
    return sum(left(one, "configOptions", "options") for one in wires if isinstance(one, Wire))


def unknown_option(said: dict[str, Any], id_member: str) -> answers.ConfigOption:
    """A configuration option of a kind that we do not know: what there is to show of it."""
    config_id, current = shortened(str(said.get(id_member)), ID_CHARS), said.get("currentValue")
    category, description = said.get("category"), said.get("description")
    return answers.ConfigOption(
        config_id=config_id,
        name=shortened(str(said.get("name") or config_id), NAME_CHARS),
        kind=shortened(str(said.get("type")), WORD_CHARS),
        current=current if current is None or isinstance(current, bool) else shortened(str(current), ID_CHARS),
        category=shortened(category, WORD_CHARS) if isinstance(category, str) else None,
        description=shortened(description, WORDS_CHARS) if isinstance(description, str) else None,
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
