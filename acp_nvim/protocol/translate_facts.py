"""What both versions say in the same words, in the words of the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, UnsetType

from acp_nvim.protocol import answers, updates
from acp_nvim.protocol.given import given
from acp_nvim.protocol.tool_call import Location
from acp_nvim.wire import facts
from acp_nvim.wire.base import Unknown


def compaction_message(compaction_id: str) -> str:
    """The id under which the summary of a compaction stands among the thoughts."""
    return f"compaction {compaction_id}"


def translate_fact(update: Any) -> updates.Update:
    """An update that is written alike in both versions, or one of an unknown kind."""
    match update:
        case facts.UsageUpdate():
            cost = given(update.cost)
            amount, currency = (cost.amount, cost.currency) if cost else (None, None)
            return updates.UsageChanged(update.used, update.size, amount, currency)
        case facts.SessionInfoUpdate():
            return updates.SessionInfoChanged(update.title)
        case facts.Notice():
            return updates.NoticeGiven(update.severity, update.title, given(update.description))
        case facts.CompactionUpdate():
            return updates.Compaction(update.compaction_id, update.status, given(update.error), update.summary)
        case facts.CompactionSummaryChunk():
            return updates.MessageChunk("thought", update.content, compaction_message(update.compaction_id))
        case Unknown():
            kind = update.original.get("sessionUpdate")
            return updates.UnknownUpdate(str(kind), update.original)
        case _:
            raise AssertionError(f"untranslated update {update!r}")


def locations(
    given_ones: list[facts.ToolCallLocation] | UnsetType | None,
) -> list[Location] | UnsetType | None:
    """The locations of a tool call."""
    if given_ones is UNSET or given_ones is None:
        return given_ones
    return [Location(one.path, given(one.line)) for one in given_ones]


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
