"""Version 1's `session/update` in the words of `updates`; strict about what is known, patient with the rest."""

from __future__ import annotations

from typing import Any

import msgspec

from acp_nvim.protocol import updates, v1
from acp_nvim.protocol.content import KNOWN_BLOCKS, KNOWN_ITEMS
from acp_nvim.protocol.updates import Update

_decoder = msgspec.json.Decoder(v1.SessionNotification)
_loose = msgspec.json.Decoder()


def decode_update(params: msgspec.Raw) -> tuple[str, Update]:
    """Session id and update of a `session/update`.

    Kinds that we do not know become `UnknownUpdate` or `UnknownBlock`. Raises `msgspec.ValidationError`, which names
    the field, when something of a known kind is malformed.
    """
    try:
        notification = _decoder.decode(params)
    except msgspec.ValidationError:
        return _decode_patiently(_loose.decode(params))
    return notification.session_id, translate(notification.update)


def decode_tool_call(params: msgspec.Raw) -> v1.RequestPermissionRequest:
    """The parameters of `session/request_permission`, with the same patience. Raises `msgspec.ValidationError`."""
    try:
        return msgspec.json.decode(params, type=v1.RequestPermissionRequest)
    except msgspec.ValidationError:
        return msgspec.convert(_mask_unknown(_loose.decode(params)), v1.RequestPermissionRequest)


def translate(update: v1.SessionUpdate) -> Update:
    """The same update in version-free words."""
    match update:
        case v1.AgentMessageChunk():
            return updates.MessageChunk("agent", update.content, update.message_id)
        case v1.AgentThoughtChunk():
            return updates.MessageChunk("thought", update.content, update.message_id)
        case v1.UserMessageChunk():
            return updates.MessageChunk("user", update.content, update.message_id)
        case v1.ToolCallAnnounced() | v1.ToolCallUpdate():
            return updates.ToolCallChanged(update, isinstance(update, v1.ToolCallAnnounced))
        case v1.Plan():
            return updates.PlanReplaced(update.entries)
        case v1.CompactionSummaryChunk():
            return updates.MessageChunk("thought", update.content, f"compaction {update.compaction_id}")
        case _:
            return _translate_session_state(update)


def _translate_session_state(update: v1.SessionUpdate) -> Update:
    match update:
        case v1.AvailableCommandsUpdate():
            return updates.CommandsReplaced([_command(command) for command in update.available_commands])
        case v1.CurrentModeUpdate():
            return updates.ModeChanged(update.current_mode_id)
        case v1.ConfigOptionUpdate():
            return updates.ConfigReplaced(update.config_options)
        case v1.SessionInfoUpdate():
            return updates.SessionInfoChanged(update.title)
        case v1.UsageUpdate():
            cost = update.cost
            return updates.UsageChanged(
                update.used, update.size, cost.amount if cost else None, cost.currency if cost else None
            )
        case v1.Notice():
            return updates.NoticeGiven(update.severity, update.title, update.description)
        case v1.CompactionUpdate():
            return updates.Compaction(update.compaction_id, update.status, update.error)
        case _:
            raise AssertionError(f"untranslated update {update!r}")


def _command(command: v1.AvailableCommand) -> updates.Command:
    return updates.Command(command.name, command.description, command.input.hint if command.input else None)


def _decode_patiently(params: Any) -> tuple[str, Update]:
    session_id, update = _split(params)
    kind = update.get("sessionUpdate")
    if isinstance(kind, str) and kind not in v1.KNOWN_UPDATES:
        return session_id, updates.UnknownUpdate(kind, update)
    masked = {**params, "update": _mask_unknown(update)}
    return session_id, translate(msgspec.convert(masked, v1.SessionNotification).update)


def _split(params: Any) -> tuple[str, dict[str, Any]]:
    loose = msgspec.convert(params, dict[str, Any])
    session_id = msgspec.convert(loose.get("sessionId"), str)
    return session_id, msgspec.convert(loose.get("update"), dict[str, Any])


def _mask_unknown(value: Any) -> Any:
    """`value` with every content block and content item of an unknown kind wrapped, so that the rest can be decoded."""
    if isinstance(value, list):
        return [_mask_unknown(item) for item in value]
    if not isinstance(value, dict):
        return value
    masked: dict[str, Any] = {}
    for name, member in value.items():
        if name == "content" and isinstance(member, dict):
            masked[name] = _mask_kind(member, KNOWN_BLOCKS)
        elif name == "content" and isinstance(member, list):
            masked[name] = [_mask_kind(item, KNOWN_ITEMS) for item in member]
        elif name == "toolCall":
            masked[name] = _mask_unknown(member)
        else:
            masked[name] = member
    return masked


def _mask_kind(value: Any, known: frozenset[str]) -> Any:
    if isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] not in known:
        return {"type": "acp_nvim/unknown", "original": value}
    return _mask_unknown(value)
