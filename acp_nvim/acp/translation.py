"""Translates what both protocol versions have in common into the model, and decodes answers."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.acp import answers, updates
from acp_nvim.acp import schema_common as wire
from acp_nvim.acp.decoding import salvage
from acp_nvim.acp.field_limits import ID_CHARS, NAME_CHARS, TEXT_CHARS, URI_CHARS, WORD_CHARS, WORDS_CHARS
from acp_nvim.acp.fields import Unknown, Wire, given, lacks, lacks_inside, left, shortened
from acp_nvim.acp.suggestions import suggested
from acp_nvim.acp.tool_call import Item, Location, SessionShown, ToolCallPatch, UnknownItem
from acp_nvim.jsonrpc.messages import RpcError

log = logging.getLogger(__name__)

T = TypeVar("T")

# --- answers ---------------------------------------------------------------------------------------------------------


def read_most(kind: type[T], raw: msgspec.Raw) -> T:
    """Decode an answer, and log its malformed members. Raises `msgspec.DecodeError` if nothing is left."""
    decoded, complaints = salvage(raw, kind)
    for complaint in complaints:
        log.warning("an answer of an agent, left out of it: %s", complaint)
    return decoded


def read_nothing(_raw: msgspec.Raw) -> None:
    """Ignore the content of an answer that only confirms success."""


def read_opened(kind: type[T], translate: Callable[[T], answers.Opened], raw: msgspec.Raw) -> answers.Opened:
    """Decode the answer to a request that opens a session; its complaints name malformed members.

    Null is read as `{}`, as in the example of `session/load` in ACP v1 "Session Setup".
    """
    decoded, complaints = salvage(b"{}" if bytes(raw) == b"null" else raw, kind)
    return msgspec.structs.replace(translate(decoded), complaints=tuple(complaints))


def read_title(raw: msgspec.Raw) -> str:
    """Decode the answer to `session/set_title`: the title that the agent has stored."""
    return read_most(wire.SetSessionTitleResponse, raw).title


def read_providers(raw: msgspec.Raw) -> list[answers.Provider]:
    """Decode the answer to `providers/list`; malformed providers are left out."""
    return [
        answers.Provider(
            provider_id=one.provider_id,
            supported=one.supported,
            required=one.required,
            api_type=now.api_type if (now := given(one.current)) is not None else None,
            base_url=now.base_url if now is not None else None,
        )
        for one in read_most(wire.ListProvidersResponse, raw).providers
    ]


def read_page(raw: msgspec.Raw) -> answers.SessionPage:
    """Decode the answer to `session/list`; `next_cursor` is None for the last page."""
    page = read_most(wire.ListSessionsResponse, raw)
    sessions = [
        answers.SessionInfo(
            session_id=one.session_id,
            cwd=one.cwd,
            title=given(one.title),
            updated_at=given(one.updated_at),
            additional_directories=given(one.additional_directories) or [],
            archived=one.archived is True,
        )
        for one in page.sessions
    ]
    return answers.SessionPage(sessions, given(page.next_cursor))


def can_override(capabilities: wire.SessionSystemPromptCapabilities | None) -> bool:
    """Return whether a system prompt may replace the agent's own instructions."""
    mode = given(capabilities.mode) if capabilities is not None else None
    return mode is not None and given(mode.override) is not None


def system_prompt(text: str, mode: str) -> wire.SystemPrompt | UnsetType:
    """Return a system prompt as it is sent; absent if the text is empty."""
    return wire.SystemPrompt(mode=mode, content=[wire.TextContent(text=text)]) if text else UNSET


def turn_tokens(
    usage: wire.Usage | UnsetType | None, meta: dict[str, Any] | UnsetType | None
) -> answers.TurnTokens | None:
    """Translate the usage of a turn, or the counts of gemini-cli, `_meta.quota.token_count`; None: there are none."""
    if isinstance(usage, wire.Usage):
        return answers.TurnTokens(
            total=usage.total_tokens,
            input=usage.input_tokens,
            output=usage.output_tokens,
            thought=given(usage.thought_tokens),
            cached_read=given(usage.cached_read_tokens),
            cached_write=given(usage.cached_write_tokens),
        )
    quota = (given(meta) or {}).get("quota")
    counts = quota.get("token_count") if isinstance(quota, dict) else None
    if not isinstance(counts, dict):
        return None
    read, written = counts.get("input_tokens"), counts.get("output_tokens")
    if type(read) is not int or type(written) is not int:
        return None
    return answers.TurnTokens(total=read + written, input=read, output=written)


# --- session/update --------------------------------------------------------------------------------------------------


def compaction_message(compaction_id: str) -> str:
    """Return the message id for the summary of a compaction, which is shown as a thought."""
    return f"compaction {compaction_id}"


def common_update(update: Any) -> updates.Update:
    """Translate an update that both versions have in common, or one of an unknown kind."""
    match update:
        case wire.UsageUpdate():
            said = update.cost
            cost = updates.Cost(said.amount, said.currency) if isinstance(said, wire.Cost) else said
            return updates.UsageChanged(update.used, update.size, cost)
        case wire.SessionInfoUpdate():
            return updates.SessionInfoChanged(update.title, suggested(update.meta))
        case wire.Notice():
            return updates.NoticeGiven(update.severity, update.title, given(update.description))
        case wire.CompactionUpdate():
            return updates.Compaction(update.compaction_id, update.status, given(update.error), update.summary)
        case wire.CompactionSummaryChunk():
            return updates.MessageChunk("thought", update.content, compaction_message(update.compaction_id))
        case wire.SessionMessage() | wire.SessionMessageChunk():
            return _session_message(update)
        case wire.PlanUpdate():
            return _plan(update.plan)
        case wire.PlanRemoved():
            return updates.PlanRemoved(update.plan_id)
        case Unknown():
            return updates.UnknownUpdate(str(update.original.get("sessionUpdate")), update.original)
        case _:
            raise AssertionError(f"untranslated update {update!r}")


def _session_message(update: wire.SessionMessage | wire.SessionMessageChunk) -> updates.Update:
    if isinstance(update, wire.SessionMessageChunk):
        return updates.SessionMessageChunk(update.message_id, update.content)
    sender, recipient = update.sender_session_id, update.recipient_session_id
    return updates.SessionMessage(update.message_id, update.content, sender, recipient)


def state_changed(
    update: Any, background: frozenset[str] | None = None, tokens: answers.TurnTokens | None = None
) -> updates.StateChanged:
    """Translate a state (a wire type of either version); its error is described like one that answers a prompt."""
    error, reason = given(update.error), None
    if error is not None:
        reason = f"{RpcError(error.code, error.message, given(error.data)).describe()} (code {error.code})"
    return updates.StateChanged(update.state, given(update.stop_reason), reason, background, tokens)


def subagent_changed(update: Any) -> updates.Update:
    """Translate a `subagent_update` (a wire type of either version)."""
    can, state = update.capabilities, update.state
    return updates.SubagentChanged(
        session_id=update.session_id,
        title=update.title,
        description=update.description,
        can_cancel=UNSET if can is UNSET else can is not None and given(can.cancel) is not None,
        state=state_changed(state) if isinstance(state, Wire) else state,
        cwd=update.cwd,
        additional_directories=update.additional_directories,
    )


def other_item(said: dict[str, Any]) -> Item:
    """Translate an item of a tool call that the schema does not have: a link to a session, or an unknown one."""
    session_id = said.get("sessionId")
    if said.get("type") == "session" and isinstance(session_id, str):
        return SessionShown(shortened(session_id, ID_CHARS))
    return UnknownItem(said)


def _plan(plan: wire.PlanUpdateContent) -> updates.PlanReplaced:
    """Translate a plan with an id; one of an unknown kind is shown with its text or URI, if it has any."""
    match plan:
        case wire.PlanItems():
            return updates.PlanReplaced(plan_entries(plan.entries), plan.plan_id, left=left(plan, "entries"))
        case wire.PlanMarkdown():
            return updates.PlanReplaced([], plan.plan_id, plan.content)
        case wire.PlanFile():
            return updates.PlanReplaced([], plan.plan_id, None, plan.uri)
    plan_id, text, uri = (plan.original.get(name) for name in ("planId", "content", "uri"))
    known_id = shortened(plan_id, ID_CHARS) if isinstance(plan_id, str) else None
    if isinstance(text, str):
        return updates.PlanReplaced([], known_id, shortened(text, TEXT_CHARS))
    if isinstance(uri, str):
        return updates.PlanReplaced([], known_id, None, shortened(uri, URI_CHARS))
    kind = shortened(repr(plan.original.get("type")), WORD_CHARS)
    return updates.PlanReplaced([], known_id, f"a plan of an unknown kind ({kind})")


def plan_entries(entries: Iterable[wire.PlanEntry]) -> list[updates.PlanEntry]:
    """Translate the steps of a plan into the model."""
    return [updates.PlanEntry(one.content, one.status, one.priority) for one in entries]


def tool_call_patch(call: Any, item: Callable[[Any], Item]) -> ToolCallPatch:
    """Translate a tool call (a wire type of either version); `item` translates one item of its content."""
    patch = ToolCallPatch(
        tool_call_id=call.tool_call_id,
        name=call.name,
        kind=_word(call.kind),
        status=_word(call.status),
        raw_output=call.raw_output,
        meta=call.meta,
    )
    if call.content is not UNSET:
        patch.content = [item(one) for one in call.content] if isinstance(call.content, list) else call.content
        patch.content_left, patch.lacks_content = left(call, "content"), lacks_inside(call, "content")
    if call.title is not UNSET:
        patch.title, patch.lacks_title = call.title, lacks(call, "title")
    if call.locations is not UNSET:
        found = call.locations
        patch.locations = [Location(one.path, given(one.line)) for one in found] if isinstance(found, list) else found
        patch.locations_left = left(call, "locations")
    if call.raw_input is not UNSET:
        patch.raw_input, patch.lacks_input = call.raw_input, lacks(call, "rawInput")
    return patch


def _word(word: str | UnsetType | None) -> str | UnsetType | None:
    """Return one of a few words, which thousands of calls share in memory."""
    return sys.intern(word) if isinstance(word, str) else word


def cancellable(capabilities: Any) -> bool | UnsetType:
    """Return whether the capabilities of a tool call or a terminal allow to cancel it; `UNSET` if they are absent."""
    return UNSET if capabilities is UNSET else given(capabilities and capabilities.cancel) is not None


# --- configuration, permissions --------------------------------------------------------------------------------------


def config_options(options: Iterable[Any], id_member: str) -> list[answers.ConfigOption]:
    """Translate configuration options of either version; `id_member` is the name of their id on the wire."""
    return [_config_option(one, id_member) for one in options]


def _config_option(one: Any, id_member: str) -> answers.ConfigOption:
    if isinstance(one, Unknown):
        return _unknown_option(one.original, id_member)
    items = getattr(one, "options", None)
    return answers.ConfigOption(
        config_id=one.id if id_member == "id" else one.config_id,
        name=one.name,
        kind=str(one.__struct_config__.tag),
        current=one.current_value,
        choices=_choices(items or ()),
        category=given(one.category),
        description=given(one.description),
    )


def _unknown_option(said: dict[str, Any], id_member: str) -> answers.ConfigOption:
    """Translate a configuration option of an unknown kind, for display."""
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


def _choices(items: Iterable[Any]) -> list[answers.Choice]:
    """Translate the values of a configuration option; those of a group have its name."""
    found: list[answers.Choice] = []
    for item in items:
        if isinstance(item.options, list):
            found += [answers.Choice(one.value, one.name, given(one.description), item.name) for one in item.options]
        else:
            found.append(answers.Choice(given(item.value) or "", item.name, given(item.description)))
    return found


def options_left(update: Any) -> int:
    """Return how many configuration options, and values of the others, were dropped from an update."""
    said = [given(getattr(one, "options", None)) for one in update.config_options]
    groups = [item for items in said for item in items or ()]
    wires = [update, *update.config_options, *groups]
    return sum(left(one, "configOptions", "options") for one in wires if isinstance(one, Wire))


def permission_answer(option_id: str | None) -> wire.RequestPermissionResponse:
    """Return the answer to `session/request_permission`: the chosen option; None for a cancelled request."""
    if option_id is None:
        return wire.RequestPermissionResponse(outcome=wire.CancelledPermissionOutcome())
    return wire.RequestPermissionResponse(outcome=wire.SelectedPermissionOutcome(option_id=option_id))


def permission_options(options: Iterable[wire.PermissionOption]) -> list[answers.PermissionOption]:
    """Translate the options of a permission request."""
    return [answers.PermissionOption(one.option_id, one.name, one.kind) for one in options]
