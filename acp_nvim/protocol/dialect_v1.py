"""Version 1 of the protocol: what we send, and how its answers are read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from acp_nvim.protocol import translate_v1
from acp_nvim.protocol.answers import (
    Asked,
    ConfigOption,
    FileToRead,
    FileToWrite,
    Initialized,
    Opened,
    PermissionAsked,
    PromptAnswer,
    Steered,
    TerminalAsked,
)
from acp_nvim.protocol.dialect import Call, Place
from acp_nvim.protocol.elicitation import decode
from acp_nvim.protocol.given import given
from acp_nvim.protocol.same_words import SameWords, directories, read, read_most, read_nothing, read_opened
from acp_nvim.protocol.updates import MessageChunk, Update
from acp_nvim.wire import facts, open_unions
from acp_nvim.wire.content import ContentBlock
from acp_nvim.wire.salvage import salvage
from acp_nvim.wire.v1 import answers, calls, mcp, unstable
from acp_nvim.wire.v1.requests import (
    CreateElicitationRequest,
    CreateTerminalRequest,
    ReadTextFileRequest,
    RequestPermissionRequest,
    TerminalRequest,
    WriteTextFileRequest,
)
from acp_nvim.wire.v1.updates import AgentMessageChunk, SessionNotification

T = TypeVar("T", calls.LoadSessionRequest, calls.ResumeSessionRequest, unstable.ForkSessionRequest)


@cache
def notifications() -> msgspec.json.Decoder[SessionNotification]:
    """Understands `session/update`; the first time takes 7 ms, which is better spent while an agent starts."""
    return msgspec.json.Decoder(SessionNotification)


@cache
def _elicitation() -> msgspec.json.Decoder[CreateElicitationRequest]:
    """Understands `elicitation/create`, which few agents send."""
    return msgspec.json.Decoder(CreateElicitationRequest)


class DialectV1(SameWords):
    """Implements `acp_nvim.protocol.dialect.Dialect`."""

    version = 1
    answer_ends_turn = True
    message_ids = False
    requests = frozenset(
        {
            "session/request_permission",
            "fs/read_text_file",
            "fs/write_text_file",
            "terminal/create",
            "terminal/output",
            "terminal/wait_for_exit",
            "terminal/kill",
            "terminal/release",
            "elicitation/create",
        }
    )

    def update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """Session id and update of a `session/update`."""
        try:
            said = notifications().decode(params)
            if said.left_out is not UNSET:
                said = open_unions.decode(params, notifications())
        except (msgspec.ValidationError, RecursionError):
            said = open_unions.decode(params, notifications())
        update = said.update
        if type(update) is AgentMessageChunk:  # the flood: no call more than needed
            message_id = update.message_id
            return said.session_id, MessageChunk("agent", update.content, None if message_id is UNSET else message_id)
        return said.session_id, translate_v1.translate(update)

    def rest_of_update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """What is right of a `session/update` that is malformed."""
        said, _ = salvage(params, notifications())
        return said.session_id, translate_v1.translate(said.update)

    def asked(self, method: str, params: msgspec.Raw) -> Asked:
        """A request of the agent."""
        match method:
            case "fs/read_text_file":
                wanted = read(ReadTextFileRequest, params)
                return FileToRead(wanted.path, given(wanted.line), given(wanted.limit))
            case "fs/write_text_file":
                written = read(WriteTextFileRequest, params)
                return FileToWrite(written.path, written.content)
            case "terminal/create":
                return translate_v1.command_to_run(read(CreateTerminalRequest, params))
            case "terminal/output" | "terminal/wait_for_exit" | "terminal/kill" | "terminal/release":
                return TerminalAsked(method, read(TerminalRequest, params).terminal_id)
            case "elicitation/create":
                return translate_v1.elicitation(decode(params, _elicitation()))
            case _:
                return self.permission(params)

    def permission(self, params: msgspec.Raw) -> PermissionAsked:
        """The parameters of `session/request_permission`."""
        return translate_v1.permission(read(RequestPermissionRequest, params))

    def initialized(self, answer: msgspec.Raw) -> Initialized:
        """The answer to `initialize`."""
        said, complaints = salvage(answer, msgspec.json.Decoder(answers.InitializeResponse))
        return msgspec.structs.replace(translate_v1.initialized(said), complaints=tuple(complaints))

    def authenticate(self, method_id: str, meta: dict[str, Any] | None = None) -> Call[None]:
        """`authenticate`."""
        return Call("authenticate", calls.AuthenticateRequest(method_id=method_id, meta=meta or UNSET), read_nothing)

    def logout(self) -> Call[None]:
        """`logout`."""
        return Call("logout", calls.LogoutRequest(), read_nothing)

    def new_session(self, place: Place) -> Call[Opened]:
        """`session/new`."""
        params = calls.NewSessionRequest(
            cwd=place.cwd,
            mcp_servers=_servers(place),
            additional_directories=directories(place),
        )
        return Call("session/new", params, partial(read_opened, answers.NewSessionResponse, translate_v1.opened))

    def load_session(self, session_id: str, place: Place) -> Call[Opened]:
        """`session/load`."""
        params = _of_session(calls.LoadSessionRequest, session_id, place)
        return Call("session/load", params, partial(read_opened, answers.LoadSessionResponse, translate_v1.opened))

    def resume_session(self, session_id: str, place: Place) -> Call[Opened]:
        """`session/resume`."""
        params = _of_session(calls.ResumeSessionRequest, session_id, place)
        return Call("session/resume", params, partial(read_opened, answers.ResumeSessionResponse, translate_v1.opened))

    def fork_session(self, session_id: str, place: Place) -> Call[Opened]:
        """`session/fork`."""
        params = _of_session(unstable.ForkSessionRequest, session_id, place)
        return Call("session/fork", params, partial(read_opened, unstable.ForkSessionResponse, translate_v1.opened))

    def prompt(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[PromptAnswer]:
        """`session/prompt`."""
        params = facts.PromptRequest(session_id=session_id, prompt=list(blocks))
        return Call("session/prompt", params, _prompt_answer)

    def steer(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[Steered]:
        """`_session/steering`, an extension of the adapters of Claude and Codex (`_meta.steering` in `initialize`)."""
        params = facts.PromptRequest(session_id=session_id, prompt=list(blocks), meta=_STEERING)
        return Call("_session/steering", params, _steered)

    def cancel(self, session_id: str) -> tuple[str, Any]:
        """The notification `session/cancel`."""
        return "session/cancel", calls.CancelNotification(session_id=session_id)

    def set_mode(self, session_id: str, mode_id: str) -> Call[None]:
        """`session/set_mode`."""
        params = calls.SetSessionModeRequest(session_id=session_id, mode_id=mode_id)
        return Call("session/set_mode", params, read_nothing)

    def set_model(self, session_id: str, model_id: str) -> Call[None]:
        """`session/set_model`."""
        params = unstable.SetSessionModelRequest(session_id=session_id, model_id=model_id)
        return Call("session/set_model", params, read_nothing)

    def set_config_option(self, session_id: str, config_id: str, value: str | bool) -> Call[list[ConfigOption]]:
        """`session/set_config_option`."""
        params = calls.SetSessionConfigOptionRequest(
            session_id=session_id,
            config_id=config_id,
            value=value,
            type="boolean" if isinstance(value, bool) else UNSET,
        )
        return Call("session/set_config_option", params, _options)


def _options(raw: msgspec.Raw) -> list[ConfigOption]:
    return translate_v1.options(read_most(answers.SetSessionConfigOptionResponse, raw).config_options)


def _prompt_answer(raw: msgspec.Raw) -> PromptAnswer:
    return PromptAnswer(stop_reason=read(answers.PromptResponse, raw).stop_reason)


_STEERING = {"steering": {"idleBehavior": "promptRequired"}}
"""When no turn runs any more, the prompt is not to begin one."""


class _SteeringAnswer(msgspec.Struct):
    outcome: str = "injected"


def _steered(raw: msgspec.Raw) -> Steered:
    """Of all outcomes, `promptRequired` alone leaves the prompt to us."""
    return Steered(injected=msgspec.json.decode(raw, type=_SteeringAnswer).outcome != "promptRequired")


def _of_session(kind: type[T], session_id: str, place: Place) -> T:
    """The parameters of what opens a session that the agent has."""
    return kind(
        session_id=session_id,
        cwd=place.cwd,
        mcp_servers=_servers(place),
        additional_directories=directories(place),
    )


def _servers(place: Place) -> list[mcp.McpServer]:
    """As the user wrote them, with the lists that version 1 wants in any case."""
    return [_server(one) for one in place.mcp_servers]


def _server(written: dict[str, Any]) -> mcp.McpServer:
    kinds: dict[Any, Any] = {"http": mcp.McpServerHttp, "sse": mcp.McpServerSse}
    kind = kinds.get(written.get("type"))
    if kind is None:
        written = {name: value for name, value in written.items() if name != "type"}
        kind = mcp.McpServerStdio
    server: mcp.McpServer = msgspec.convert({"args": [], "env": [], "headers": [], **written}, kind)
    return server
