"""Version 2's `session/update` and permission requests in the words of the model."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.protocol import answers, diff, updates
from acp_nvim.protocol.elicitation import ElicitationAsked, form_asked, unknown_mode, url_asked
from acp_nvim.protocol.given import given, lacks, left
from acp_nvim.protocol.terminal import Exit, TerminalPatch
from acp_nvim.protocol.tool_call import Item, Shown, TerminalShown, ToolCallPatch, UnknownItem
from acp_nvim.protocol.translate_facts import (
    options_left,
    permission_options,
    plan_entries,
    plan_of_another_kind,
    tool_call_patch,
    translate_fact,
)
from acp_nvim.protocol.translate_v2_answers import commands, options
from acp_nvim.wire import facts
from acp_nvim.wire.facts import Content, Terminal
from acp_nvim.wire.v2 import requests, tool_calls
from acp_nvim.wire.v2 import updates as wire


def translate(update: wire.SessionUpdate) -> updates.Update:
    """An update of a session. Raises `msgspec.ValidationError` for data that is not base64."""
    make = _TRANSLATIONS.get(type(update))
    return translate_fact(update) if make is None else make(update)


def patch(call: tool_calls.ToolCallUpdateFields) -> ToolCallPatch:
    """What is said of a tool call."""
    return tool_call_patch(call, _item)


def _item(one: tool_calls.ToolCallContent) -> Item:
    match one:
        case Content():
            return Shown(one.content)
        case tool_calls.Diff():
            return _diff(one)
        case Terminal():
            return TerminalShown(one.terminal_id)
        case tool_calls.UnknownToolCallContent():
            return UnknownItem(one.original)


def _diff(one: tool_calls.Diff) -> diff.Diff:
    """`changes` with their patch; or version 1's two texts, which some agents send here, too."""
    if not isinstance(one.changes, list):
        if left(one, "oldText", "newText"):
            return diff.too_large(str(one.path), left(one, "oldText", "newText"))
        return diff.from_texts(str(one.path), given(one.old_text), str(one.new_text))
    changes = tuple(_change(change) for change in one.changes)
    if beyond := left(one, "changes"):
        changes = (*changes, diff.FileChange(path=f"… and {beyond:,} more files", operation="patch"))
    given_patch = given(one.patch)
    if given_patch is None:
        return diff.Diff(changes)
    if beyond := left(given_patch, "text"):
        return diff.Diff((*changes, diff.unread("", f"a patch of {beyond:,} characters is too large")))
    if given_patch.format != "git_patch":
        return diff.Diff((*changes, diff.unread(given_patch.text, f"a patch of the kind {given_patch.format!r}")))
    return diff.from_patch(changes, given_patch.text)


def _change(one: tool_calls.DiffChange) -> diff.FileChange:
    if isinstance(one, tool_calls.UnknownDiffChange):
        said = one.original
        return diff.FileChange(path=str(said.get("path", "a file")), operation=str(said.get("operation")))
    return diff.FileChange(
        path=one.path,
        operation=str(one.__struct_config__.tag),
        old_path=one.old_path if isinstance(one, tool_calls.DiffPathPairChange) else None,
        file_type=given(one.file_type),
    )


def _state(update: wire.StateUpdate) -> updates.Update:
    return updates.StateChanged(
        update.state, given(update.stop_reason), _reason(given(update.error)), _background(update.background)
    )


def _background(work: list[wire.BackgroundWork] | UnsetType | None) -> frozenset[str] | None:
    if work is UNSET or work is None:
        return None
    return frozenset(one.tool_call_id for one in work if isinstance(one, wire.BackgroundToolCall))


def _reason(error: facts.Error | None) -> str | None:
    """Why the turn failed, in the words that an error answer to a prompt would have."""
    if error is None:
        return None
    return f"{RpcError(error.code, error.message, given(error.data)).describe()} (code {error.code})"


def _plan(update: wire.PlanUpdate) -> updates.Update:
    """A plan: a list of steps, or whatever else."""
    if isinstance(update.plan, wire.PlanItems):
        plan = update.plan
        return updates.PlanReplaced(plan_entries(plan.entries), plan.plan_id, left=left(plan, "entries"))
    return plan_of_another_kind(update.plan.original)


def _terminal(update: tool_calls.TerminalUpdate) -> updates.Update:
    output, ended = update.output, update.exit_status
    return updates.TerminalChanged(
        TerminalPatch(
            terminal_id=update.terminal_id,
            command=update.command,
            cwd=update.cwd,
            output=_bytes(output.data, "output.data") if isinstance(output, tool_calls.TerminalOutput) else output,
            exit=_exit(ended),
        )
    )


def _exit(status: tool_calls.TerminalExitStatus | UnsetType | None) -> Exit | UnsetType | None:
    if status is UNSET or status is None:
        return status
    return Exit(given(status.exit_code), given(status.signal))


def _printed(update: tool_calls.TerminalOutputChunk) -> updates.Update:
    return updates.TerminalPrinted(update.terminal_id, _bytes(update.data, "data"))


def _bytes(data: str, member: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise msgspec.ValidationError(f"Invalid base64 ({error}) - at `$.update.{member}`") from error


_TRANSLATIONS: dict[type, Callable[[Any], updates.Update]] = {
    wire.AgentMessageChunk: lambda one: updates.MessageChunk("agent", one.content, one.message_id),
    wire.AgentThoughtChunk: lambda one: updates.MessageChunk("thought", one.content, one.message_id),
    wire.UserMessageChunk: lambda one: updates.MessageChunk("user", one.content, one.message_id),
    wire.AgentMessage: lambda one: updates.MessageReplaced("agent", one.message_id, one.content),
    wire.AgentThought: lambda one: updates.MessageReplaced("thought", one.message_id, one.content),
    wire.UserMessage: lambda one: updates.MessageReplaced("user", one.message_id, one.content),
    wire.StateUpdate: _state,
    tool_calls.ToolCallUpdate: lambda one: updates.ToolCallChanged(patch(one)),
    tool_calls.ToolCallContentChunk: lambda one: updates.ToolCallContentAdded(
        one.tool_call_id, _item(one.content), is_cut=lacks(one, "content")
    ),
    tool_calls.TerminalUpdate: _terminal,
    tool_calls.TerminalOutputChunk: _printed,
    wire.PlanUpdate: _plan,
    wire.AvailableCommandsUpdate: lambda one: updates.CommandsReplaced(
        commands(one.available_commands), left(one, "availableCommands")
    ),
    wire.ConfigOptionUpdate: lambda one: updates.ConfigReplaced(options(one.config_options), options_left(one)),
}


def permission(asked: requests.RequestPermissionRequest) -> answers.PermissionAsked:
    """`session/request_permission`."""
    common = answers.PermissionAsked(
        options=permission_options(asked.options),
        title=asked.title,
        description=given(asked.description),
        is_cut=lacks(asked, "title", "description"),
    )
    subject = given(asked.subject)
    match subject:
        case requests.ToolCallPermissionSubject(tool_call=call):
            return msgspec.structs.replace(common, patch=patch(call), tool_call_id=call.tool_call_id)
        case requests.CommandPermissionSubject():
            return msgspec.structs.replace(
                common, command=subject.command, cwd=subject.cwd, tool_call_id=given(subject.tool_call_id)
            )
        case requests.UnknownPermissionSubject(original=said):
            return msgspec.structs.replace(common, subject=said)
        case _:
            return common


def elicitation(request: requests.CreateElicitationRequest) -> ElicitationAsked:
    """`elicitation/create`. Raises `msgspec.ValidationError` for what can be neither shown nor answered."""
    match request:
        case requests.ElicitationFormMode():
            return form_asked(request, request.requested_schema)
        case requests.ElicitationUrlMode():
            return url_asked(request, request.url, request.elicitation_id)
        case unknown:
            raise unknown_mode(unknown)
