"""Version 1 of the protocol: its requests, the decoding of its messages, and their translation into the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET

from acp_nvim import decoders
from acp_nvim.acp import answers, diff, updates
from acp_nvim.acp import schema_v1 as wire
from acp_nvim.acp.answers import Opened
from acp_nvim.acp.auth_methods import other_method, with_meta
from acp_nvim.acp.decoding import decode
from acp_nvim.acp.dialect import Call, Dialect, Place, Way
from acp_nvim.acp.elicitation import elicitation_asked
from acp_nvim.acp.fields import given, left
from acp_nvim.acp.terminal import Exit, TerminalPatch
from acp_nvim.acp.text_halves import encoded
from acp_nvim.acp.tool_call import Item, Shown, TerminalShown
from acp_nvim.acp.translation import (
    can_override,
    common_update,
    config_options,
    options_left,
    other_item,
    permission_options,
    plan_entries,
    read_most,
    read_opened,
    subagent_changed,
    system_prompt,
    tool_call_patch,
    turn_tokens,
)


class DialectV1(Dialect):
    """Version 1 of the protocol: `acp/schema_v1.py`, with the unstable methods that agents use."""

    version = 1
    answer_ends_turn = True
    message_ids = False
    reopening = ("resume", "load")

    _login = "authenticate"
    _logout = "logout"
    _options_answer = wire.SetSessionConfigOptionResponse
    _option_id = "id"
    _value_type = UNSET

    _update_params = wire.SessionNotification
    _initialize_answer = wire.InitializeResponse
    _request_params: ClassVar[dict[str, Any]] = {
        "session/request_permission": wire.RequestPermissionRequest,
        "fs/read_text_file": wire.ReadTextFileRequest,
        "fs/write_text_file": wire.WriteTextFileRequest,
        "terminal/create": wire.CreateTerminalRequest,
        "terminal/output": wire.TerminalOutputRequest,
        "terminal/wait_for_exit": wire.WaitForTerminalExitRequest,
        "terminal/kill": wire.KillTerminalRequest,
        "terminal/release": wire.ReleaseTerminalRequest,
        "elicitation/create": wire.CreateElicitationRequest,
    }
    requests = frozenset(_request_params)

    @staticmethod
    def prepare() -> None:
        """Build the decoder of `session/update`, which takes 7 ms."""
        decoders.json_decoder(wire.SessionNotification)

    @staticmethod
    def prepare_question() -> None:
        """Build the decoder of `session/request_permission`, which takes 2 ms, and those of its unknown members."""
        for kind in (wire.RequestPermissionRequest, dict[str, msgspec.Raw], list[msgspec.Raw]):
            decoders.json_decoder(kind)

    def update(self, params: msgspec.Raw) -> tuple[str, updates.Update]:
        """See `Dialect.update`."""
        try:
            decoded = decoders.json_decoder(wire.SessionNotification).decode(params)
            if decoded.left_out is not UNSET:
                decoded = decode(params, wire.SessionNotification)
        except (msgspec.ValidationError, RecursionError):
            decoded = decode(params, wire.SessionNotification)
        update = decoded.update
        if type(update) is wire.AgentMessageChunk:  # a shortcut for the most frequent update
            message_id = update.message_id
            message = updates.MessageChunk("agent", update.content, None if message_id is UNSET else message_id)
            return decoded.session_id, message
        return decoded.session_id, self._translate(update)

    def _translate(self, update: wire.SessionUpdate) -> updates.Update:
        make = _TRANSLATIONS.get(type(update))
        return common_update(update) if make is None else make(update)

    def _translate_request(self, method: str, decoded: Any) -> answers.Asked:
        match method:
            case "fs/read_text_file":
                return answers.FileToRead(decoded.path, given(decoded.line), given(decoded.limit))
            case "fs/write_text_file":
                return answers.FileToWrite(decoded.path, decoded.content)
            case "terminal/create":
                return answers.CommandToRun(
                    command=decoded.command,
                    args=given(decoded.args) or [],
                    env={one.name: one.value for one in given(decoded.env) or []},
                    cwd=given(decoded.cwd),
                    output_byte_limit=given(decoded.output_byte_limit),
                )
            case "terminal/output" | "terminal/wait_for_exit" | "terminal/kill" | "terminal/release":
                return answers.TerminalAsked(method, decoded.terminal_id)
            case "elicitation/create":
                return elicitation_asked(decoded)
            case _:
                return answers.PermissionAsked(
                    options=permission_options(decoded.options),
                    patch=tool_call_patch(decoded.tool_call, _item),
                    tool_call_id=decoded.tool_call.tool_call_id,
                )

    def _translate_initialized(self, answer: wire.InitializeResponse) -> answers.Initialized:
        info = given(answer.agent_info)
        methods = tuple(_auth_method(one) for one in given(answer.auth_methods) or ())
        return answers.Initialized(
            name=info.name if info else None,
            title=given(info.title) if info else None,
            version=info.version if info else None,
            abilities=_abilities(answer, bool(methods)),
            auth_methods=methods,
        )

    def open_session(self, place: Place, way: Way | None = None, session_id: str = "") -> Call[Opened]:
        """See `Dialect.open_session`."""
        kind, answer = _OPENING[way]
        params = kind(
            cwd=place.cwd,
            mcp_servers=[_server(one) for one in place.mcp_servers],
            additional_directories=place.more_directories,
            system_prompt=system_prompt(place.system_prompt, place.system_prompt_mode),
            **({"session_id": session_id} if way else {}),
        )
        return Call(f"session/{way or 'new'}", params, partial(read_opened, answer, _opened), way or "")

    def _read_prompted(self, raw: msgspec.Raw) -> answers.PromptAnswer:
        answer = read_most(wire.PromptResponse, raw)
        return answers.PromptAnswer(answer.stop_reason, tokens=turn_tokens(answer.usage, answer.meta))

    def steer(self, session_id: str, blocks: Sequence[wire.ContentBlock]) -> Call[answers.Steered]:
        """Request `_session/steering`, an extension of the adapters of Claude and Codex (`_meta.steering`)."""
        params = wire.PromptRequest(session_id=session_id, prompt=list(blocks), meta=_STEERING)
        return Call("_session/steering", params, _steered)


# --- session/update --------------------------------------------------------------------------------------------------


def _tool_call(call: wire.ToolCall | wire.ToolCallUpdate, announced: bool) -> updates.Update:
    patch = tool_call_patch(call, _item)
    return updates.ToolCallChanged(patch, announced, terminal_news(call.tool_call_id, call.meta) if call.meta else ())


def _item(one: wire.ToolCallContent) -> Item:
    match one:
        case wire.Content():
            return Shown(one.content)
        case wire.Diff():
            if left(one, "oldText", "newText"):
                return diff.too_large(one.path, left(one, "oldText", "newText"))
            return diff.from_texts(one.path, given(one.old_text), one.new_text)
        case wire.Terminal():
            return TerminalShown(one.terminal_id)
        case wire.UnknownToolCallContent():
            return other_item(one.original)


def _commands(update: wire.AvailableCommandsUpdate) -> updates.Update:
    commands = [
        answers.Command(one.name, one.description, entry.hint if (entry := given(one.input)) else None)
        for one in update.available_commands
    ]
    return updates.CommandsReplaced(commands, left(update, "availableCommands"))


_TRANSLATIONS: dict[type, Callable[[Any], updates.Update]] = {
    wire.AgentMessageChunk: lambda one: updates.MessageChunk("agent", one.content, given(one.message_id)),
    wire.AgentThoughtChunk: lambda one: updates.MessageChunk("thought", one.content, given(one.message_id)),
    wire.UserMessageChunk: lambda one: updates.MessageChunk("user", one.content, given(one.message_id)),
    wire.ToolCall: partial(_tool_call, announced=True),
    wire.ToolCallUpdate: partial(_tool_call, announced=False),
    wire.Plan: lambda one: updates.PlanReplaced(plan_entries(one.entries), left=left(one, "entries")),
    wire.AvailableCommandsUpdate: _commands,
    wire.SubagentUpdate: subagent_changed,
    wire.CurrentModeUpdate: lambda one: updates.ModeChanged(one.current_mode_id),
    wire.ConfigOptionUpdate: lambda one: updates.ConfigReplaced(
        config_options(one.config_options, "id"), options_left(one)
    ),
}

# --- terminals in metadata -------------------------------------------------------------------------------------------

TERMINAL_OUTPUT = {"terminal_output": True}
"""In the `_meta` of the client's capabilities: adapters then report their commands, which version 1 does not define.

In the `_meta` of a tool call: `terminal_info`, `terminal_output` or `terminal_output_delta` (both are more output), and
`terminal_exit`. The terminal's id is usually that of the tool call.
"""


def terminal_news(tool_call_id: str, meta: Any) -> tuple[updates.TerminalNews, ...]:
    """Return the updates of terminals in `meta`, in order; ignore malformed ones."""
    return tuple(_terminal_news(tool_call_id, meta)) if isinstance(meta, dict) else ()


def _terminal_news(tool_call_id: str, meta: dict[str, Any]) -> Iterator[updates.TerminalNews]:
    info, ended = meta.get("terminal_info"), meta.get("terminal_exit")
    if isinstance(info, dict):
        cwd, terminal_id = info.get("cwd"), _terminal_id(info, tool_call_id)
        yield updates.TerminalChanged(
            TerminalPatch(terminal_id=terminal_id, cwd=cwd if isinstance(cwd, str) else UNSET)
        )
    for name in ("terminal_output", "terminal_output_delta"):
        more = meta.get(name)
        if isinstance(more, dict) and isinstance(data := more.get("data"), str):
            yield updates.TerminalPrinted(_terminal_id(more, tool_call_id), encoded(data))
    if isinstance(ended, dict):
        code, signal = ended.get("exit_code"), ended.get("signal")
        how = Exit(code if isinstance(code, int) else None, signal if isinstance(signal, str) else None)
        yield updates.TerminalChanged(TerminalPatch(terminal_id=_terminal_id(ended, tool_call_id), exit=how))


def _terminal_id(said: dict[str, Any], tool_call_id: str) -> str:
    named = said.get("terminal_id")
    return named if isinstance(named, str) else tool_call_id


# --- answers and requests --------------------------------------------------------------------------------------------


def _opened(answer: Any) -> Opened:
    """Translate the answer to `session/new`, `load`, `resume` or `fork`."""
    options, modes, models = given(answer.config_options), given(answer.modes), given(answer.models)
    return Opened(
        session_id=getattr(answer, "session_id", None),
        modes=modes
        and answers.Selection(modes.current_mode_id, [_choice(one.id, one) for one in modes.available_modes]),
        models=models
        and answers.Selection(models.current_model_id, [_choice(one.model_id, one) for one in models.available_models]),
        options=None if options is None else config_options(options, "id"),
    )


def _choice(value: str, one: wire.SessionMode | wire.ModelInfo) -> answers.Choice:
    return answers.Choice(value, one.name, given(one.description))


def _abilities(answer: wire.InitializeResponse, sign_in: bool) -> answers.Abilities:
    said = given(answer.agent_capabilities) or wire.AgentCapabilities()
    prompt = given(said.prompt_capabilities) or wire.PromptCapabilities()
    mcp = given(said.mcp_capabilities) or wire.McpCapabilities()
    session = given(said.session_capabilities) or wire.SessionCapabilities()
    auth = given(said.auth) or wire.AgentAuthCapabilities()
    steering = (given(answer.meta) or {}).get("steering")
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
        rename=given(session.title) is not None,
        archive=given(session.archive) is not None,
        system_prompt=given(session.system_prompt) is not None,
        system_prompt_override=can_override(given(session.system_prompt)),
        additional_directories=given(session.additional_directories) is not None,
        mode_methods=True,
        steering=isinstance(steering, dict) and steering.get("supported") is True,
        sign_in=sign_in,
        sign_out=given(auth.logout) is not None,
        auth_status=given(auth.status) is not None,
        providers=given(said.providers) is not None,
        mcp_stdio=True,
        mcp_http=mcp.http is True,
        mcp_sse=mcp.sse is True,
        mcp_acp=mcp.acp is True,
    )


def _auth_method(method: wire.AuthMethod) -> answers.AuthMethod:
    if isinstance(method, wire.UnknownAuthMethod):
        return other_method(str(method.original.get("id")), method.original)
    known = answers.AuthMethod(method_id=method.id, name=method.name, description=given(method.description))
    if isinstance(method, wire.AuthMethodTerminal):
        args, env = given(method.args) or [], given(method.env) or {}
        known = msgspec.structs.replace(known, kind="terminal", args=args, env=env)
    return with_meta(known, given(method.meta))


_STEERING = {"steering": {"idleBehavior": "promptRequired"}}
"""The prompt must not start a new turn if none is running any more."""


class _SteeringAnswer(msgspec.Struct):
    outcome: str = "injected"


def _steered(raw: msgspec.Raw) -> answers.Steered:
    """Decode the outcome: after `promptRequired` the client must send the prompt again."""
    return answers.Steered(injected=decoders.decode(raw, _SteeringAnswer).outcome != "promptRequired")


_OPENING: dict[Way | None, tuple[Any, Any]] = {
    None: (wire.NewSessionRequest, wire.NewSessionResponse),
    "load": (wire.LoadSessionRequest, wire.LoadSessionResponse),
    "resume": (wire.ResumeSessionRequest, wire.ResumeSessionResponse),
    "fork": (wire.ForkSessionRequest, wire.ForkSessionResponse),
}
"""The parameters that open a session, and their answer."""


def _server(written: dict[str, Any]) -> wire.McpServer:
    """Convert a server as configured, and add the lists that version 1 requires."""
    kinds: dict[Any, Any] = {"http": wire.McpServerHttp, "sse": wire.McpServerSse, "acp": wire.McpServerAcp}
    kind = kinds.get(written.get("type"))
    if kind is None:
        written = {name: value for name, value in written.items() if name != "type"}
        kind = wire.McpServerStdio
    server: wire.McpServer = decoders.convert({"args": [], "env": [], "headers": [], **written}, kind)
    return server
