"""Version 2 of the protocol, a draft: its requests, the decoding of its messages, and their translation."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from acp_nvim import decoders
from acp_nvim.acp import answers, diff, updates
from acp_nvim.acp import schema_v2 as wire
from acp_nvim.acp.answers import Opened
from acp_nvim.acp.auth_methods import other_method, with_meta
from acp_nvim.acp.decoding import decode
from acp_nvim.acp.dialect import Call, Dialect, Place, Way
from acp_nvim.acp.elicitation import elicitation_asked
from acp_nvim.acp.fields import given, lacks, left
from acp_nvim.acp.terminal import Exit, TerminalPatch
from acp_nvim.acp.tool_call import Item, Shown, TerminalShown, ToolCallPatch
from acp_nvim.acp.translation import (
    can_override,
    cancellable,
    common_update,
    config_options,
    options_left,
    other_item,
    permission_options,
    read_nothing,
    read_opened,
    state_changed,
    subagent_changed,
    system_prompt,
    tool_call_patch,
    turn_tokens,
)


class DialectV2(Dialect):
    """Version 2, in which modes and models are configuration options."""

    version = 2
    answer_ends_turn = False
    message_ids = True
    reopening = ("resume",)

    _login = "auth/login"
    _logout = "auth/logout"
    _options_answer = wire.SetSessionConfigOptionResponse
    _option_id = "configId"
    _value_type = "id"

    _update_params = wire.UpdateSessionNotification
    _initialize_answer = wire.InitializeResponse
    _request_params: ClassVar[dict[str, Any]] = {
        "session/request_permission": wire.RequestPermissionRequest,
        "elicitation/create": wire.CreateElicitationRequest,
    }
    requests = frozenset(_request_params)

    def _translate(self, update: wire.SessionUpdate) -> updates.Update:
        """Translate an update. Raises `msgspec.ValidationError` for malformed base64."""
        make = _TRANSLATIONS.get(type(update))
        return common_update(update) if make is None else make(update)

    def _translate_request(self, method: str, decoded: Any) -> answers.Asked:
        return elicitation_asked(decoded) if method == "elicitation/create" else _permission(decoded)

    def _translate_initialized(self, answer: wire.InitializeResponse) -> answers.Initialized:
        capabilities = given(answer.capabilities) or wire.AgentCapabilities()
        methods = tuple(_auth_method(one) for one in given(answer.auth_methods) or ())
        return answers.Initialized(
            name=answer.info.name,
            title=given(answer.info.title),
            version=answer.info.version,
            abilities=_abilities(capabilities, bool(methods)),
            auth_methods=methods,
        )

    def open_session(self, place: Place, way: Way | None = None, session_id: str = "") -> Call[Opened]:
        """See `Dialect.open_session`; `session/resume` also loads a session from the start."""
        wanted: dict[str, Any] = {
            "cwd": place.cwd,
            "mcp_servers": [decoders.convert({"type": "stdio", **one}, wire.McpServer) for one in place.mcp_servers],
            "additional_directories": place.more_directories,
            "system_prompt": system_prompt(place.system_prompt, place.system_prompt_mode),
        }
        if way is None:
            return Call(
                "session/new", wire.NewSessionRequest(**wanted), partial(read_opened, wire.NewSessionResponse, _opened)
            )
        replay_from = wire.ReplayFromStart() if way == "load" else UNSET
        params = wire.ResumeSessionRequest(session_id=session_id, replay_from=replay_from, **wanted)
        method = "session/fork" if way == "fork" else "session/resume"  # no agent offers a fork: it is not in version 2
        return Call(method, params, partial(read_opened, wire.ResumeSessionResponse, _opened), way)

    def _read_prompted(self, raw: msgspec.Raw) -> answers.PromptAnswer:
        """Decode the answer; in earlier drafts it has no message id."""
        try:
            return answers.PromptAnswer(message_id=decode(raw, wire.PromptResponse).message_id)
        except msgspec.ValidationError:
            return answers.PromptAnswer()

    def steer(self, session_id: str, blocks: Sequence[wire.ContentBlock]) -> Call[answers.Steered]:
        """Request `session/prompt`, which contributes to the running turn (ACP "Prompt Lifecycle")."""
        call = self.prompt(session_id, blocks)
        return Call(call.method, call.params, lambda raw: answers.Steered(message_id=call.read(raw).message_id))

    def cancel_tool_call(self, session_id: str, tool_call_id: str) -> Call[None]:
        """See `Dialect.cancel_tool_call`."""
        params = wire.CancelToolCallRequest(session_id=session_id, tool_call_id=tool_call_id)
        return Call("tool_call/cancel", params, read_nothing)

    def cancel_terminal(self, session_id: str, terminal_id: str) -> Call[None]:
        """See `Dialect.cancel_terminal`."""
        params = wire.CancelTerminalRequest(session_id=session_id, terminal_id=terminal_id)
        return Call("terminal/cancel", params, read_nothing)


# --- session/update --------------------------------------------------------------------------------------------------


def _item(one: wire.ToolCallContent) -> Item:
    match one:
        case wire.Content():
            return Shown(one.content)
        case wire.Diff():
            return _diff(one)
        case wire.Terminal():
            return TerminalShown(one.terminal_id)
        case wire.UnknownToolCallContent():
            return other_item(one.original)


def _diff(one: wire.Diff) -> diff.Diff:
    """Translate `changes` with their patch, or the two texts of version 1, which some agents send here, too."""
    if not isinstance(one.changes, list):
        if left(one, "oldText", "newText"):
            return diff.too_large(str(one.path), left(one, "oldText", "newText"))
        return diff.from_texts(str(one.path), given(one.old_text), str(one.new_text))
    changes = tuple(_change(change) for change in one.changes)
    if beyond := left(one, "changes"):
        changes = (*changes, diff.FileChange(path=f"… and {beyond:,} more files", operation="patch"))
    patch = given(one.patch)
    if patch is None:
        return diff.Diff(changes)
    if beyond := left(patch, "text"):
        return diff.Diff((*changes, diff.unread("", f"a patch of {beyond:,} characters is too large")))
    if patch.format != "git_patch":
        return diff.Diff((*changes, diff.unread(patch.text, f"a patch of the kind {patch.format!r}")))
    return diff.from_patch(changes, patch.text)


def _change(one: wire.DiffChange) -> diff.FileChange:
    if isinstance(one, wire.UnknownDiffChange):
        said = one.original
        return diff.FileChange(path=str(said.get("path", "a file")), operation=str(said.get("operation")))
    return diff.FileChange(
        path=one.path,
        operation=str(one.__struct_config__.tag),
        old_path=one.old_path if isinstance(one, wire.DiffPathPairChange) else None,
        file_type=given(one.file_type),
    )


def _state(update: wire.StateUpdate) -> updates.Update:
    work = given(update.background)
    calls = [one.tool_call_id for one in work or () if isinstance(one, wire.BackgroundToolCall)]
    tokens = turn_tokens(update.usage, update.meta)
    return state_changed(update, None if work is None else frozenset(calls), tokens)


def _terminal(update: wire.TerminalUpdate) -> updates.Update:
    output, ended = update.output, update.exit_status
    patch = TerminalPatch(terminal_id=update.terminal_id, command=update.command, cwd=update.cwd)
    patch.output = _bytes(output.data, "output.data") if isinstance(output, wire.TerminalOutput) else output
    if isinstance(ended, wire.TerminalExitStatus):
        patch.exit = Exit(given(ended.exit_code), given(ended.signal))
    else:
        patch.exit = ended
    patch.cancellable = cancellable(update.capabilities)
    return updates.TerminalChanged(patch)


def _patch(call: wire.ToolCallUpdate | wire.ToolCallUpdateFields) -> ToolCallPatch:
    patch = tool_call_patch(call, _item)
    patch.cancellable = cancellable(call.capabilities)
    return patch


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
    wire.SubagentUpdate: subagent_changed,
    wire.ToolCallUpdate: lambda one: updates.ToolCallChanged(_patch(one)),
    wire.ToolCallContentChunk: lambda one: updates.ToolCallContentAdded(
        one.tool_call_id, _item(one.content), is_cut=lacks(one, "content")
    ),
    wire.TerminalUpdate: _terminal,
    wire.TerminalOutputChunk: lambda one: updates.TerminalPrinted(one.terminal_id, _bytes(one.data, "data")),
    wire.AvailableCommandsUpdate: lambda one: updates.CommandsReplaced(
        list(map(_command, one.available_commands)), left(one, "availableCommands")
    ),
    wire.ConfigOptionUpdate: lambda one: updates.ConfigReplaced(
        config_options(one.config_options, "configId"), options_left(one)
    ),
}


def _command(one: wire.AvailableCommand) -> answers.Command:
    """Translate a slash command; one of an unknown kind has a name and a description, too."""
    if isinstance(one, wire.UnknownAvailableCommand):
        return answers.Command(str(one.original.get("name")), str(one.original.get("description", "")))
    entry = given(one.input)
    hint = entry.hint if isinstance(entry, wire.TextCommandInput) else None
    return answers.Command(one.name, one.description, hint)


# --- answers and requests --------------------------------------------------------------------------------------------


def _permission(asked: wire.RequestPermissionRequest) -> answers.PermissionAsked:
    common = answers.PermissionAsked(
        options=permission_options(asked.options),
        title=asked.title,
        description=given(asked.description),
        is_cut=lacks(asked, "title", "description"),
    )
    match given(asked.subject):
        case wire.ToolCallPermissionSubject(tool_call=call):
            return replace(common, patch=_patch(call), tool_call_id=call.tool_call_id)
        case wire.CommandPermissionSubject(command=command, cwd=cwd, tool_call_id=call_id):
            return replace(common, command=command, cwd=cwd, tool_call_id=given(call_id))
        case wire.UnknownRequestPermissionSubject(original=said):
            return replace(common, subject=said)
        case _:
            return common


def _abilities(said: wire.AgentCapabilities, sign_in: bool) -> answers.Abilities:
    """Translate capabilities: without `session` there are no sessions; with it, most operations are mandatory."""
    auth, session = given(said.auth) or wire.AgentAuthCapabilities(), given(said.session)
    auth_status, providers = given(auth.status) is not None, given(said.providers) is not None
    if session is None:
        return answers.Abilities(sign_in=sign_in, sign_out=sign_in, auth_status=auth_status, providers=providers)
    prompt = given(session.prompt) or wire.PromptCapabilities()
    mcp = given(session.mcp) or wire.McpCapabilities()
    return answers.Abilities(
        image=given(prompt.image) is not None,
        audio=given(prompt.audio) is not None,
        embedded_context=given(prompt.embedded_context) is not None,
        list_sessions=True,
        load=True,
        resume=True,
        close=True,
        delete=given(session.delete) is not None,
        rename=given(session.title) is not None,
        archive=given(session.archive) is not None,
        system_prompt=given(session.system_prompt) is not None,
        system_prompt_override=can_override(given(session.system_prompt)),
        additional_directories=given(session.additional_directories) is not None,
        sign_in=sign_in,
        sign_out=sign_in,
        auth_status=auth_status,
        providers=providers,
        steering=True,
        mcp_stdio=given(mcp.stdio) is not None,
        mcp_http=given(mcp.http) is not None,
        mcp_acp=given(mcp.acp) is not None,
    )


def _auth_method(method: wire.AuthMethod) -> answers.AuthMethod:
    if isinstance(method, wire.UnknownAuthMethod):
        return other_method(str(method.original.get("methodId")), method.original)
    known = answers.AuthMethod(method_id=method.method_id, name=method.name, description=given(method.description))
    if isinstance(method, wire.AuthMethodTerminal):
        env = {one.name: one.value for one in given(method.env) or ()}
        return replace(known, kind="terminal", args=given(method.args) or [], env=env)
    return with_meta(known, given(method.meta))


def _opened(answer: wire.NewSessionResponse | wire.ResumeSessionResponse) -> Opened:
    """Translate the answer to `session/new` or `session/resume`."""
    options, offered = given(answer.config_options), given(answer.available_commands)
    return Opened(
        session_id=answer.session_id if isinstance(answer, wire.NewSessionResponse) else None,
        options=None if options is None else config_options(options, "configId"),
        commands=None if offered is None else list(map(_command, offered)),
    )
