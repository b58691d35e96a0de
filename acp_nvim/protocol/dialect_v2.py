"""Version 2 of the protocol, a draft: what we send, and how its answers are read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import msgspec
from msgspec import UNSET

from acp_nvim.protocol import translate_v2, translate_v2_answers
from acp_nvim.protocol.answers import Asked, ConfigOption, Initialized, Opened, PermissionAsked, PromptAnswer, Steered
from acp_nvim.protocol.dialect import Call, Place
from acp_nvim.protocol.elicitation import decode
from acp_nvim.protocol.same_words import SameWords, directories, read, read_most, read_nothing, read_opened
from acp_nvim.protocol.updates import Update
from acp_nvim.wire import facts, open_unions
from acp_nvim.wire.content import ContentBlock
from acp_nvim.wire.salvage import salvage
from acp_nvim.wire.v2 import answers, calls
from acp_nvim.wire.v2.requests import CreateElicitationRequest, RequestPermissionRequest
from acp_nvim.wire.v2.updates import UpdateSessionNotification

_notification = msgspec.json.Decoder(UpdateSessionNotification)


@cache
def _elicitation() -> msgspec.json.Decoder[CreateElicitationRequest]:
    """Understands `elicitation/create`, which few agents send."""
    return msgspec.json.Decoder(CreateElicitationRequest)


class DialectV2(SameWords):
    """Implements `acp_nvim.protocol.dialect.Dialect`. Modes and models are configuration options here."""

    version = 2
    answer_ends_turn = False
    message_ids = True
    requests = frozenset({"session/request_permission", "elicitation/create"})

    def update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """Session id and update of a `session/update`."""
        said = open_unions.decode(params, _notification)
        return said.session_id, translate_v2.translate(said.update)

    def rest_of_update(self, params: msgspec.Raw) -> tuple[str, Update]:
        """What is right of a `session/update` that is malformed."""
        said, _ = salvage(params, _notification)
        return said.session_id, translate_v2.translate(said.update)

    def asked(self, method: str, params: msgspec.Raw) -> Asked:
        """A request of the agent."""
        if method == "elicitation/create":
            return translate_v2.elicitation(decode(params, _elicitation()))
        return self.permission(params)

    def permission(self, params: msgspec.Raw) -> PermissionAsked:
        """The parameters of `session/request_permission`."""
        return translate_v2.permission(read(RequestPermissionRequest, params))

    def initialized(self, answer: msgspec.Raw) -> Initialized:
        """The answer to `initialize`."""
        said, complaints = salvage(answer, msgspec.json.Decoder(answers.InitializeResponse))
        return msgspec.structs.replace(translate_v2_answers.initialized(said), complaints=tuple(complaints))

    def authenticate(self, method_id: str, meta: dict[str, Any] | None = None) -> Call[None]:
        """`auth/login`."""
        return Call("auth/login", calls.LoginAuthRequest(method_id=method_id, meta=meta or UNSET), read_nothing)

    def logout(self) -> Call[None]:
        """`auth/logout`."""
        return Call("auth/logout", calls.LogoutAuthRequest(), read_nothing)

    def new_session(self, place: Place) -> Call[Opened]:
        """`session/new`."""
        params = calls.NewSessionRequest(
            cwd=place.cwd, mcp_servers=_servers(place), additional_directories=directories(place)
        )
        return Call(
            "session/new", params, partial(read_opened, answers.NewSessionResponse, translate_v2_answers.opened)
        )

    def load_session(self, session_id: str, place: Place) -> Call[Opened]:
        """`session/resume` from the start."""
        return self._resume(session_id, place, calls.ReplayFromStart())

    def resume_session(self, session_id: str, place: Place) -> Call[Opened]:
        """`session/resume`."""
        return self._resume(session_id, place, None)

    def fork_session(self, session_id: str, place: Place) -> Call[Opened]:
        """Not in version 2: no agent offers it, so it is never sent."""
        return Call("session/fork", {"sessionId": session_id, "cwd": place.cwd}, _never)

    def prompt(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[PromptAnswer]:
        """`session/prompt`."""
        params = facts.PromptRequest(session_id=session_id, prompt=list(blocks))
        return Call("session/prompt", params, _prompt_answer)

    def steer(self, session_id: str, blocks: Sequence[ContentBlock]) -> Call[Steered]:
        """`session/prompt`: it contributes to the work that goes on (ACP "Prompt Lifecycle")."""
        call = self.prompt(session_id, blocks)
        return Call(call.method, call.params, lambda raw: Steered(message_id=call.read(raw).message_id))

    def cancel(self, session_id: str) -> tuple[str, Any]:
        """The notification `session/cancel`."""
        return "session/cancel", calls.CancelSessionNotification(session_id=session_id)

    def set_mode(self, session_id: str, mode_id: str) -> Call[None]:
        """Not in version 2: never sent."""
        return Call("session/set_mode", {"sessionId": session_id, "modeId": mode_id}, read_nothing)

    def set_model(self, session_id: str, model_id: str) -> Call[None]:
        """Not in version 2: never sent."""
        return Call("session/set_model", {"sessionId": session_id, "modelId": model_id}, read_nothing)

    def set_config_option(self, session_id: str, config_id: str, value: str | bool) -> Call[list[ConfigOption]]:
        """`session/set_config_option`."""
        kind = "boolean" if isinstance(value, bool) else "id"
        params = calls.SetSessionConfigOptionRequest(session_id=session_id, config_id=config_id, type=kind, value=value)
        return Call("session/set_config_option", params, _options)

    @staticmethod
    def _resume(session_id: str, place: Place, replay_from: calls.ReplayFrom | None) -> Call[Opened]:
        params = calls.ResumeSessionRequest(
            session_id=session_id,
            cwd=place.cwd,
            mcp_servers=_servers(place),
            additional_directories=directories(place),
            replay_from=replay_from or UNSET,
        )
        return Call(
            "session/resume", params, partial(read_opened, answers.ResumeSessionResponse, translate_v2_answers.opened)
        )


def _never(_raw: msgspec.Raw) -> Opened:
    raise msgspec.ValidationError("an answer to what was not asked")


def _options(raw: msgspec.Raw) -> list[ConfigOption]:
    return translate_v2_answers.options(read_most(answers.SetSessionConfigOptionResponse, raw).config_options)


def _prompt_answer(raw: msgspec.Raw) -> PromptAnswer:
    """Earlier drafts answer without the id of the message."""
    try:
        return PromptAnswer(message_id=read(answers.PromptResponse, raw).message_id)
    except msgspec.ValidationError:
        return PromptAnswer()


def _servers(place: Place) -> list[calls.McpServer]:
    """As the user wrote them; who names no type means a program."""
    return [msgspec.convert({"type": "stdio", **one}, calls.McpServer) for one in place.mcp_servers]
