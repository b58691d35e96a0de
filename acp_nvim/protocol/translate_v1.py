"""Version 1's words in those of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from acp_nvim.protocol import answers, diff, updates
from acp_nvim.protocol.auth_methods import other_method, with_meta
from acp_nvim.protocol.elicitation import ElicitationAsked, form_asked, unknown_mode, url_asked
from acp_nvim.protocol.given import given, left
from acp_nvim.protocol.terminal_meta import terminal_news
from acp_nvim.protocol.tool_call import Item, Shown, TerminalShown, ToolCallPatch, UnknownItem
from acp_nvim.protocol.translate_facts import (
    choices,
    options_left,
    permission_options,
    plan_entries,
    tool_call_patch,
    translate_fact,
    unknown_option,
)
from acp_nvim.wire.config_options import UnknownConfigOption
from acp_nvim.wire.facts import Content, Terminal
from acp_nvim.wire.v1 import answers as wire_answers
from acp_nvim.wire.v1 import config, unstable
from acp_nvim.wire.v1 import updates as wire
from acp_nvim.wire.v1.requests import (
    CreateElicitationRequest,
    CreateTerminalRequest,
    ElicitationFormMode,
    ElicitationUrlMode,
    RequestPermissionRequest,
)


def translate(update: wire.SessionUpdate) -> updates.Update:
    """An update of a session."""
    make = _TRANSLATIONS.get(type(update))
    return translate_fact(update) if make is None else make(update)


def patch(call: wire.ToolCall | wire.ToolCallUpdateFields) -> ToolCallPatch:
    """What is said of a tool call."""
    return tool_call_patch(call, _item)


def _tool_call(call: wire.ToolCall | wire.ToolCallUpdate, announced: bool) -> updates.Update:
    return updates.ToolCallChanged(patch(call), announced, terminal_news(call.tool_call_id, call.meta))


def _item(one: wire.ToolCallContent) -> Item:
    match one:
        case Content():
            return Shown(one.content)
        case wire.Diff():
            if left(one, "oldText", "newText"):
                return diff.too_large(one.path, left(one, "oldText", "newText"))
            return diff.from_texts(one.path, given(one.old_text), one.new_text)
        case Terminal():
            return TerminalShown(one.terminal_id)
        case wire.UnknownToolCallContent():
            return UnknownItem(one.original)


def _commands(update: wire.AvailableCommandsUpdate) -> updates.Update:
    return updates.CommandsReplaced(
        [
            answers.Command(one.name, one.description, entry.hint if (entry := given(one.input)) else None)
            for one in update.available_commands
        ],
        left(update, "availableCommands"),
    )


_TRANSLATIONS: dict[type, Callable[[Any], updates.Update]] = {
    wire.AgentMessageChunk: lambda one: updates.MessageChunk("agent", one.content, given(one.message_id)),
    wire.AgentThoughtChunk: lambda one: updates.MessageChunk("thought", one.content, given(one.message_id)),
    wire.UserMessageChunk: lambda one: updates.MessageChunk("user", one.content, given(one.message_id)),
    wire.ToolCall: lambda one: _tool_call(one, announced=True),
    wire.ToolCallUpdate: lambda one: _tool_call(one, announced=False),
    wire.Plan: lambda one: updates.PlanReplaced(plan_entries(one.entries), left=left(one, "entries")),
    wire.AvailableCommandsUpdate: _commands,
    wire.CurrentModeUpdate: lambda one: updates.ModeChanged(one.current_mode_id),
    wire.ConfigOptionUpdate: lambda one: updates.ConfigReplaced(options(one.config_options), options_left(one)),
}


def options(given_ones: list[config.SessionConfigOption]) -> list[answers.ConfigOption]:
    """Configuration options, in the agent's order."""
    return [_option(one) for one in given_ones]


def _option(one: config.SessionConfigOption) -> answers.ConfigOption:
    if isinstance(one, UnknownConfigOption):
        return unknown_option(one.original, "id")
    select = isinstance(one, config.SessionConfigSelect)
    return answers.ConfigOption(
        config_id=one.id,
        name=one.name,
        kind="select" if select else "boolean",
        current=one.current_value,
        choices=choices(one.options) if isinstance(one, config.SessionConfigSelect) else [],
        category=given(one.category),
        description=given(one.description),
    )


def opened(answer: Any) -> answers.Opened:
    """The answer to `session/new`, `load`, `resume` or `fork`."""
    chosen = given(answer.config_options)
    return answers.Opened(
        session_id=getattr(answer, "session_id", None),
        modes=_modes(given(answer.modes)),
        models=_models(given(answer.models)),
        options=None if chosen is None else options(chosen),
    )


def _modes(state: config.SessionModeState | None) -> answers.Selection | None:
    if state is None:
        return None
    choices = [answers.Choice(one.id, one.name, given(one.description)) for one in state.available_modes]
    return answers.Selection(state.current_mode_id, choices)


def _models(state: unstable.SessionModelState | None) -> answers.Selection | None:
    if state is None:
        return None
    choices = [answers.Choice(one.model_id, one.name, given(one.description)) for one in state.available_models]
    return answers.Selection(state.current_model_id, choices)


def initialized(answer: wire_answers.InitializeResponse) -> answers.Initialized:
    """The answer to `initialize`."""
    info = given(answer.agent_info)
    methods = tuple(_auth_method(one) for one in given(answer.auth_methods) or ())
    return answers.Initialized(
        name=info.name if info else None,
        title=given(info.title) if info else None,
        version=info.version if info else None,
        abilities=msgspec.structs.replace(
            _abilities(given(answer.agent_capabilities) or wire_answers.AgentCapabilities(), bool(methods)),
            steering=_steering(given(answer.meta)),
        ),
        auth_methods=methods,
    )


def _steering(meta: dict[str, Any] | None) -> bool:
    """`_meta.steering.supported`: the agent has `_session/steering`."""
    said = (meta or {}).get("steering")
    return isinstance(said, dict) and said.get("supported") is True


def _abilities(said: wire_answers.AgentCapabilities, sign_in: bool) -> answers.Abilities:
    prompt = given(said.prompt_capabilities) or wire_answers.PromptCapabilities()
    mcp = given(said.mcp_capabilities) or wire_answers.McpCapabilities()
    session = given(said.session_capabilities) or wire_answers.SessionCapabilities()
    auth = given(said.auth) or wire_answers.AgentAuthCapabilities()
    return answers.Abilities(
        image=prompt.image is True,
        audio=prompt.audio is True,
        embedded_context=prompt.embedded_context is True,
        list_sessions=given(session.list) is not None,
        load=said.load_session is True,
        resume=given(session.resume) is not None,
        close=given(session.close) is not None,
        delete=given(session.delete) is not None,
        fork=given(session.fork) is not None,
        additional_directories=given(session.additional_directories) is not None,
        mode_methods=True,
        sign_in=sign_in,
        sign_out=given(auth.logout) is not None,
        mcp_stdio=True,
        mcp_http=mcp.http is True,
        mcp_sse=mcp.sse is True,
    )


def _auth_method(method: wire_answers.AuthMethod) -> answers.AuthMethod:
    match method:
        case wire_answers.AuthMethodTerminal():
            typed = answers.AuthMethod(
                method_id=method.id,
                name=method.name,
                kind="terminal",
                description=given(method.description),
                args=given(method.args) or [],
                env=given(method.env) or {},
            )
            return with_meta(typed, given(method.meta))
        case wire_answers.AuthMethodAgent():
            plain = answers.AuthMethod(method_id=method.id, name=method.name, description=given(method.description))
            return with_meta(plain, given(method.meta))
        case wire_answers.UnknownAuthMethod(original=said):
            return other_method(str(said.get("id")), said)


def permission(asked: RequestPermissionRequest) -> answers.PermissionAsked:
    """`session/request_permission`."""
    return answers.PermissionAsked(
        options=permission_options(asked.options),
        patch=patch(asked.tool_call),
        tool_call_id=asked.tool_call.tool_call_id,
    )


def command_to_run(asked: CreateTerminalRequest) -> answers.CommandToRun:
    """`terminal/create`."""
    return answers.CommandToRun(
        command=asked.command,
        args=given(asked.args) or [],
        env={one.name: one.value for one in given(asked.env) or []},
        cwd=given(asked.cwd),
        output_byte_limit=given(asked.output_byte_limit),
    )


def elicitation(request: CreateElicitationRequest) -> ElicitationAsked:
    """`elicitation/create`. Raises `msgspec.ValidationError` for what can be neither shown nor answered."""
    match request:
        case ElicitationFormMode():
            return form_asked(request, request.requested_schema)
        case ElicitationUrlMode():
            return url_asked(request, request.url, request.elicitation_id)
        case unknown:
            raise unknown_mode(unknown)
